/** @module-tag deep */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { type Answer, type Body, createSwapCaller, until } from './swap-caller.ts';

const AMOUNT = 0.3;
const AMOUNT_LAMPORTS = 300_000_000n;
const RPCS: readonly UpstreamName[] = ['rpc1', 'rpc2'];

/** The state of both chains and the mirror. */
let before: { lamports: bigint; sats: bigint; payments: number; rows: number };
let tests = 0;

// No cron, so that only the custodian's alarm or a caller resumes a swap after a kill. No mint in between.
const world = useWorld({
  cron: false,
  // A blockhash lives for 15 seconds; a Worker restarts faster on all but the busiest machine.
  slotMs: 100,
  blockMs: 300,
  settleDelayMs: 1_000,
  vars: { ABSR_MINT_ADDRESS: undefined },
});
const caller = lazy(() => createSwapCaller(world));
beforeEach(async () => {
  tests += 1;
  before = {
    lamports: await caller.lamports(),
    sats: caller.sats(),
    payments: caller.payments().length,
    rows: (await caller.rows()).length,
  };
  world.resetStats();
});

/** From an address that no other test uses: each has few swaps an hour. */
const create = (key?: string): Promise<Answer> =>
  caller.create(AMOUNT, { ip: `10.${tests}.0.1`, ...(key === undefined ? {} : { key }) });

const asked = (upstream: UpstreamName, label: string): number => world.stats()[upstream]?.byLabel[label] ?? 0;

/** SIGKILL during a create call: its caller gets no response, or a 502. */
async function killDuring(creating: Promise<Answer>, isThere: () => boolean): Promise<void> {
  const answer = creating.catch(() => undefined);
  await until('the moment to kill', () => isThere() || undefined);
  await world.worker.kill();
  expect((await answer)?.status).not.toBe(200);
  // Before the start: the alarm of the new object may ask for the quote at once.
  world.faults.clear();
  await world.worker.start();
}

/** One payment on each chain, and the service shows both. */
async function expectPaidOnce(id: string): Promise<Body> {
  const end = await caller.settled(id);
  expect(end).toMatchObject({ status: 'finished', amountSol: AMOUNT });
  const paid = { signature: id, lamports: AMOUNT_LAMPORTS, fee: TRANSFER_FEE };
  expect(caller.payments().slice(before.payments)).toMatchObject([paid]);
  expect(before.lamports - (await caller.lamports())).toBe(AMOUNT_LAMPORTS + TRANSFER_FEE);
  expect(caller.bitcoinPayment(String(end.txId))).toEqual({
    sats: BigInt(String(end.btcSatoshis)),
    confirmed: true,
  });
  expect(caller.sats() - before.sats).toBe(BigInt(String(end.btcSatoshis)));
  const rows = (await caller.rows()).slice(before.rows);
  expect(rows).toMatchObject([{ signature: id, status: 'finished', btc_sats: end.btcSatoshis }]);
  return end;
}

test('a Worker killed right after the create response finishes that swap after its restart', async () => {
  const key = randomUUID();
  const { status, body } = await create(key);
  await world.worker.kill();
  expect(status).toBe(200);
  await world.worker.start();
  await expectPaidOnce(String(body.id));
  const again = await create(key);
  expect(again.body).toEqual(body);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(caller.payments()).toHaveLength(before.payments + 1);
});

/**
 * Bytes that were not sent before their expiry never land: the swap has then failed, and nothing has left the
 * reserve.
 */
async function expectPaidOnceOrExpired(id: string): Promise<void> {
  const end = await caller.settled(id);
  if (end.status === 'finished') return void (await expectPaidOnce(id));
  expect(end).toMatchObject({ status: 'failed', reason: 'expired', btcSats: null });
  expect(caller.payments()).toHaveLength(before.payments);
  expect(await caller.lamports()).toBe(before.lamports);
}

test.each([
  ['hangs at every node', ['hang'], expectPaidOnceOrExpired],
  ['was accepted and dropped', ['dropSends', 'hold'], expectPaidOnceOrExpired],
  ['has landed and its answer is lost', ['hold'], expectPaidOnce],
])('a Worker killed during a send that %s never pays twice', async (_what, kinds, expectEnd) => {
  const key = randomUUID();
  for (const rpc of RPCS) for (const kind of kinds) world.faults.set(rpc, { kind, match: 'sendTransaction' });
  const isSending = () => RPCS.every((rpc) => asked(rpc, 'sendTransaction') >= 1);
  await killDuring(create(key), isSending);
  const repeated = await create(key);
  expect(repeated.status).toBe(200);
  expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  await expectEnd(String(repeated.body.id));
});
