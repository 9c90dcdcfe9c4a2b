/**
 * Upgrades and rollbacks of a running service, each on the storage that the other release left. The earlier release is the
 * last tag, or the committed source before the first one. `PREVIOUS_RELEASE=FOLDER` takes the checkout in that folder.
 * @module-tag deep
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_splitSqlQuery } from 'wrangler';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { checkOutLastTag } from '../kit/last-tag.ts';
import { useFolder } from '../kit/use-folder.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { bundleWorker } from '../world/worker-bundle.ts';
import type { Release } from '../world/worker-process.ts';
import { tourService } from './service-tour.ts';
import { type Body, createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const DAILY = '5 0 * * *';
const KINDS = ['swap', 'token', 'asry', 'refund', 'absr'];
/** Filled by expired or unusual rows only, or by a write probe that deletes its row. */
const MAY_BE_EMPTY = ['alarms', 'mirror_marks'];

const statementsOf = (file: string): string[] => unstable_splitSqlQuery(readFileSync(file, 'utf8'));

const folder = useFolder('sluice-upgrade-');
/** The earlier release with its tables, and this one with its migrations. */
let earlier: Release;
let current: Release;

async function readEarlier(): Promise<Release> {
  const checkout = process.env.PREVIOUS_RELEASE ?? checkOutLastTag(join(folder, 'checkout'));
  return {
    bundlePath: await bundleWorker(checkout, join(folder, 'earlier'), folder),
    schema: statementsOf(join(checkout, 'schema.sql')),
  };
}

const world = useWorld(
  async () => {
    earlier = await readEarlier();
    // A block hash lives for 30 s, longer than a restart takes on all but the busiest machine.
    return { cron: false, slotMs: 200, blockMs: 1_000, settleDelayMs: 500, release: earlier };
  },
  ({ worker }) => {
    // Every migration tolerates what a database already has.
    const migrations = readdirSync('migrations').sort();
    const schema = migrations.flatMap((file) => statementsOf(join('migrations', file)));
    current = { bundlePath: worker.bundlePath, schema };
  },
);
const swaps = lazy(() => createSwapCaller(world));
const tokens = lazy(() => createTokenCaller(world));

const query = async (sql: string): Promise<Body[]> => (await world.worker.query(sql)) as Body[];

/** Every row, by table. */
async function readTables(): Promise<Record<string, Body[]>> {
  const found = await query(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB 'tokens_*' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'",
  );
  const rows: Record<string, Body[]> = {};
  for (const { name } of found) rows[String(name)] = await query(`SELECT * FROM ${name}`);
  return rows;
}

const openOperations = (): Promise<Body[]> =>
  query("SELECT id, kind, detail, signature FROM operations WHERE status = 'waiting' ORDER BY seq");

/** Each row of before still exists. */
async function expectNothingLost(before: Record<string, Body[]>): Promise<void> {
  const now = await readTables();
  for (const [table, rows] of Object.entries(before)) {
    // The row of an alarm ends with the alarm.
    if (table === 'alarms') continue;
    const kept = new Set(now[table]?.map((row) => Object.values(row)[0]));
    const lost = rows.filter((row) => !kept.has(Object.values(row)[0]));
    expect(lost, table).toEqual([]);
  }
  const { state } = (await tokens.ops('state')) as { state: { status: { custody: Body } } };
  expect(state.status.custody.heldOperations).toBe(0);
}

/** Successful transactions that the reserve signed. */
const signedByReserve = (): string[] =>
  world.solana.ledger
    .transactionsOf(world.reserve.solana)
    .filter(({ accounts, err }) => accounts[0] === world.reserve.solana && err === null)
    .map(({ signature }) => signature);

/** The chain has one transaction of each finished operation, and no other of the reserve. */
async function expectPaidOnce(): Promise<void> {
  await tokens.finality();
  const operations = await query('SELECT kind, status, signature, reason, landed_slot FROM operations');
  const finished = operations.filter(({ status }) => status === 'finished');
  expect(signedByReserve().toSorted()).toEqual(finished.map(({ signature }) => String(signature)).toSorted());
  const failed = operations.filter(({ status }) => status === 'failed');
  // An operation that was signed and never sent may expire during a restart on a busy machine; it has then
  // paid nothing.
  expect(failed.filter(({ reason }) => reason !== 'expired')).toEqual([]);
}

/** Customers have received their purchases. */
async function expectPaid({ invoice, unsettled, deposit, refunded }: Owed): Promise<void> {
  expect((await swaps.status(unsettled)).body).toMatchObject({ status: 'finished' });
  expect((await tokens.read(invoice.invoice_id)).body).toMatchObject({ status: 'completed' });
  // A payout that expired is owed until the claim is repeated.
  const sent = await until('the payout', async () => {
    await tokens.call('/api/asry/claim-from-deposit', { asset: 'USDC', depositTxSignature: deposit });
    const payouts = (await tokens.call(`/api/asry/claims/${deposit}`)).body.payouts as Body[] | undefined;
    const paid = payouts?.filter(({ status }) => status === 'sent') ?? [];
    return paid.length > 0 ? paid : undefined;
  });
  expect(sent).toHaveLength(1);
  expect(await query('SELECT id, status FROM refunds')).toContainEqual({ id: refunded, status: 'paid' });
}

const allEnded = () =>
  until('the end of every operation', async () => (await openOperations()).length === 0 || undefined).catch(
    async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await openOperations())}`);
    },
  );

/** A finished swap, and the same answer to its repeated request. */
async function swapTwice(ip: string): Promise<string> {
  const key = randomUUID();
  const { status, body } = await swaps.create(0.3, { ip, key });
  expect([status, body.error_code]).toEqual([200, undefined]);
  expect((await swaps.create(0.3, { ip, key })).body.id).toBe(body.id);
  return String(body.id);
}

/** The amounts that the open operations of `openOneOfEach` owe to customers. */
type Owed = {
  readonly invoice: Body;
  readonly unsettled: string;
  readonly deposit: string;
  readonly refunded: string;
};

/** Leaves one operation of each kind open: a swap that is paid and not settled, the others signed and not landed. */
async function openOneOfEach(kinds: readonly string[]): Promise<Owed> {
  // Without a readable status the swap stays unsettled after its payment.
  world.faults.set('oneclick', { kind: '500', match: '/v0/status' });
  const unsettled = String((await swaps.create(0.3, { ip: '10.1.0.1' })).body.id);
  await until('a swap that settles', async () =>
    (await openOperations()).find(({ detail }) => detail === 'settling'),
  );
  const invoice = await tokens.invoice();
  const overpaid = await tokens.invoice({ symbol: 'OVER' });
  const { lamports } = tokens.payRequest(overpaid.solana_pay_url);
  const refunded = await tokens.pay(overpaid, { lamports: lamports + 50_000_000n });
  await tokens.confirm(overpaid, refunded);
  const deposit = await world.control.transfer({
    from: tokens.user(),
    to: world.treasury,
    asset: 'usdc',
    amount: 30_000_000n,
  });
  await tokens.pay(invoice);
  await tokens.finality();
  for (const rpc of ['rpc1', 'rpc2'] as const) world.faults.set(rpc, { kind: 'dropSends' });
  await world.control.sendBitcoin(world.reserve.bitcoin, 50_000n);
  await world.control.mine(6);
  await swaps.create(0.3, { ip: '10.2.0.1' });
  await world.control.cron();
  await until('an open operation of each kind', async () => {
    const open = await openOperations();
    const missing = kinds.filter((kind) => !open.some((row) => row.kind === kind && row.signature !== null));
    // Repeated, because an operation that is never sent eventually expires.
    if (missing.includes('token')) await tokens.read(invoice.invoice_id);
    if (missing.includes('refund')) await tokens.ops('refund', refunded);
    if (missing.includes('absr')) await world.control.cron(DAILY);
    if (missing.includes('asry'))
      await tokens.call('/api/asry/claim-from-deposit', { asset: 'USDC', depositTxSignature: deposit });
    return missing.length === 0 || undefined;
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await openOperations())}`);
  });
  return { invoice, unsettled, deposit, refunded };
}

test('an upgrade, a rollback and a second upgrade neither lose a row nor pay twice', async () => {
  await tourService(world, (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument);
  await allEnded();
  const owed = await openOneOfEach(KINDS);
  const rows = await readTables();
  const empty = Object.keys(rows).filter((table) => rows[table]?.length === 0);
  expect(empty.filter((table) => !MAY_BE_EMPTY.includes(table))).toEqual([]);

  await world.worker.deploy(current);
  await expectNothingLost(rows);
  const later = await swapTwice('10.3.0.1');
  const viewed = await world.fetch('/api/analytics/pageview', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"path":"/upgraded"}',
  });
  expect(viewed.status).toBe(204);
  await until('the row of the new swap', async () =>
    (await openOperations()).find(({ signature }) => signature === later),
  );
  const upgraded = await readTables();

  await world.worker.deploy(earlier);
  await expectNothingLost(upgraded);
  world.faults.clear();
  const rolledBack = await swapTwice('10.4.0.1');
  await swaps.settled(rolledBack);
  await world.control.cron();

  await world.worker.deploy(current);
  await expectNothingLost(upgraded);
  expect((await tokens.call('/api/analytics/stats')).body).toMatchObject({
    by_path: expect.arrayContaining([{ path: '/upgraded', count: 1 }]),
  });
  await world.control.cron();
  await allEnded();
  await expectPaid(owed);
  await expectPaidOnce();
  expect((await swaps.status(rolledBack)).body).toMatchObject({ status: 'finished' });
});
