import { expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { OpenRequest } from '../../src/custody/api.ts';
import { freeze } from '../../src/custody/kernel/journal-integrity.ts';
import { createCustodianWorld } from '../kit/custodian.ts';
import { done, SOL } from '../kit/sample-operations.ts';
import { createPaymentWorld } from './payments/payment-world.ts';

const COST = SOL / 10n;
const { limits } = createCustodianWorld().deps;

/** Requests are on sale; the reserve holds `balance` lamports, its floor is 0.1 SOL. */
function selling(balance: bigint, change: Partial<typeof limits> = {}, cost = COST) {
  let made = 0;
  const w = createCustodianWorld({
    limits: { ...limits, operatingFloat: lamports(SOL), ...change },
    payments: { ...createPaymentWorld().ports, creationCost: async () => cost },
  });
  w.chain.nextBalance = async () => ({ lamports: lamports(balance), slot: 100n });
  const open = (kind: OpenRequest['kind'] = 'token') =>
    w.custody.openRequest({
      kind,
      subject: { mint: 'm', costLamports: COST.toString() },
      baseFeeLamports: SOL / 5n,
      client: `c${++made}`,
    });
  return { ...w, open };
}

it('opens an invoice only while the balance covers its cost and the floor', async () => {
  expect(await selling(limits.floor + COST).open()).toMatchObject({ type: 'opened' });
  expect(await selling(limits.floor + COST - 1n).open()).toMatchObject({
    refusal: { code: 'SPENDING_LIMIT_REACHED', details: { limit: 'operating_float' } },
  });
});

it('refuses an invoice if open invoices already need the remaining balance', async () => {
  const w = selling(limits.floor + 2n * COST);
  expect([(await w.open()).type, (await w.open()).type, (await w.open()).type]).toEqual([
    'opened',
    'opened',
    'refused',
  ]);
});

it('the custodian sells only as many of three concurrent invoices as the balance covers', async () => {
  const w = selling(limits.floor + 2n * COST);
  const opened = await Promise.all([w.open(), w.open(), w.open()]);
  expect(opened.map(({ type }) => type).sort()).toEqual(['opened', 'opened', 'refused']);
});

it('refuses an invoice while the balance cannot be read', async () => {
  const w = selling(10n * SOL);
  w.chain.nextBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'down'));
  const details = { upstream: 'solana-rpc', reason: 'upstream_down' };
  expect(await w.open()).toMatchObject({ refusal: { code: 'UPSTREAM_FAILED', details } });
});

it('opens an invoice although an operation ended while the balance was read, and reads the balance again', async () => {
  const w = selling(10n * SOL);
  let reads = 0;
  w.chain.nextBalance = async () => {
    reads += 1;
    if (reads === 1) w.add(done({ releasedSlot: 101n }));
    return { lamports: lamports(10n * SOL), slot: reads === 1 ? 100n : 101n };
  };
  expect(await w.open()).toMatchObject({ type: 'opened' });
  expect(reads).toBe(2);
});

it('refuses an invoice while the balance may have been read before an earlier operation ended', async () => {
  const w = selling(10n * SOL);
  w.add(done({ releasedSlot: 101n }));
  const refusal = { code: 'UPSTREAM_FAILED', details: { reason: 'upstream_balance_outdated' } };
  expect(await w.open()).toMatchObject({ refusal });
  w.chain.nextBalance = async () => ({ lamports: lamports(10n * SOL), slot: 101n });
  w.clock.now += 1_000;
  expect(await w.open()).toMatchObject({ type: 'opened' });
});

it('refuses an invoice whose cost differs by a lamport from the cost that the custodian reads', async () => {
  const refusal = { code: 'UPSTREAM_FAILED', details: { reason: 'upstream_rent_differs' } };
  for (const cost of [COST - 1n, COST + 1n])
    expect(await selling(10n * SOL, {}, cost).open()).toMatchObject({ refusal });
});

it('a listing is sold at any balance of the reserve, because it costs the reserve nothing', async () => {
  expect(await selling(0n).open('listing')).toMatchObject({ type: 'opened' });
});

it.each(['token', 'listing'] as const)('sells no %s while signing is stopped', async (kind) => {
  const w = selling(10n * SOL);
  await w.custody.ops({ name: 'pause' });
  const stopped = (reason: string) => ({ refusal: { code: 'SALES_PAUSED', details: { reason } } });
  expect(await w.open(kind)).toMatchObject(stopped('operator'));
  freeze(w.journal, 'unexplained_spend', () => undefined);
  expect(await w.open(kind)).toMatchObject(stopped('unexplained_spend'));
  expect(w.storage.exec('SELECT id FROM requests')).toEqual([]);
});
