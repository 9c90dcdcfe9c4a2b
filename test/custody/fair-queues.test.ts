import { expect, it } from 'vitest';
import { AsryStore } from '../../src/custody/asry/asry-store.ts';
import { payoutId } from '../../src/custody/asry/payout.ts';
import { planWork } from '../../src/custody/kernel/agenda.ts';
import { type OperationKind, settlesByLanding } from '../../src/custody/kernel/operation.ts';
import type { Storage } from '../../src/custody/kernel/ports.ts';
import { type RefundDue, RequestStore } from '../../src/custody/payments/request-store.ts';
import { cases } from '../cases.ts';
import { type CustodianWorld, createCustodianWorld } from '../kit/custodian.ts';
import { CREATION, NOW, planned } from '../kit/sample-operations.ts';
import { openClaimed, storeCopies } from './asry/stored-claims.ts';
import { createPaymentWorld, fee } from './payments/payment-world.ts';

const DAY_MS = 86_400_000;

const refusing: OperationKind = {
  rules: CREATION,
  prepare: () => Promise.reject(new Error('the reserve is short of SOL')),
  settle: settlesByLanding,
};

/** Token creations are planned; each is prepared by `kind`. */
function waiting(rows: number, kind: OperationKind) {
  const payments = { ...createPaymentWorld().ports, creation: kind };
  const w = createCustodianWorld({ payments });
  w.storage.transaction(() => {
    for (let at = 0; at < rows; at++)
      w.journal.insert(planned({ id: `token:${at}`, kind: 'token', dueAt: NOW, createdAt: NOW }));
  });
  return w;
}

/** A cron and then every alarm of a time; returns the number of alarms. */
async function pass(w: CustodianWorld, ms: number): Promise<number> {
  await w.custody.wake();
  return w.pass(ms);
}

it('every due operation is tried in turn, even if many operations before it are refused', async () => {
  const tried = new Set<string>();
  const w = waiting(60, {
    ...refusing,
    async prepare({ id }) {
      tried.add(id);
      if (id !== 'token:59') throw new Error('short of SOL');
      return { ok: false, found: {} };
    },
  });
  await pass(w, 10_000);
  expect(tried.size).toBe(60);
  expect(w.journal.get('token:59')?.state).toBe('done');
});

it.each([[12, cases(DAY_MS, DAY_MS / 8)] as const, [100, DAY_MS / 8] as const].slice(0, cases(2, 1)))(
  'due operations wake the Durable Object less than once in 5 s while %i of them wait',
  { tags: ['scaled'] },
  async (rows, time) => {
    const fired = await pass(waiting(rows, refusing), time);
    expect(fired).toBeGreaterThan(24);
    expect(fired).toBeLessThan(time / 5_000);
  },
);

it('owed payouts whose next operation id is already used do not block the check of a later payout', async () => {
  const claimed = await openClaimed();
  const { w, store } = claimed;
  storeCopies(claimed, (signature, at) => {
    if (at <= 40) w.journal.insert(planned({ id: payoutId(signature, 1), kind: 'asry', dueAt: null }));
    return { state: 'owed', operationId: null };
  });
  for (let runs = 0; runs < 3; runs++) await w.run();
  expect(store.payouts('deposit-41')[0]?.state).toBe('begun');
  expect(store.payouts('deposit-1')[0]).toMatchObject({ state: 'owed', reason: 'unread' });
});

/** A completed request that was paid 0.007 SOL too much. */
async function overpaid() {
  const world = createPaymentWorld();
  const { request } = world.openPaid();
  await world.payments.run();
  world.pay(7_000_000n, [request.reference]);
  await world.payments.run();
  const store = new RequestStore(world.storage);
  const [due] = store.refundsOf(request.id, 1);
  if (!due) throw new Error('nothing is owed');
  return { world, request, store, due };
}

it('one command pays a refund that follows 150 paid refunds of the same request', async () => {
  const { world, request, store, due } = await overpaid();
  world.storage.exec('DELETE FROM refunds');
  for (let at = 0; at < 150; at++) {
    const paid: RefundDue = { ...due, id: `paid-${at}`, signature: `paid-${at}`, state: 'paid' };
    store.putRefund(paid);
  }
  store.putRefund(due);
  await world.payments.commands.refund(request.id);
  expect(store.refund(due.id)?.state).toBe('paid');
});

it('a payment is recorded while 1,000 unreadable transactions wait', async () => {
  const world = createPaymentWorld();
  const request = world.open();
  for (let at = 0; at < 1_000; at++)
    world.storage.exec(
      "INSERT INTO unread_transactions (signature, source, state, final_at, first_at) VALUES (?, 'node', 'waiting', ?, ?)",
      `unreadable-${at}`,
      world.state.now,
      world.state.now,
    );
  world.pay(fee(request), [request.reference]);
  await world.payments.run();
  expect(world.payments.find(request.id)?.status).toBe('completed');
});

it('a payment is read a second time on schedule while 1,000 transactions that one node invents are overdue', async () => {
  const w = createCustodianWorld({ payments: createPaymentWorld().ports });
  const { storage, clock } = w;
  const put = (signature: string, source: string, dueAt: number) => {
    storage.exec(
      "INSERT INTO unread_transactions (signature, source, state, final_at, first_at) VALUES (?, ?, 'absent', 1, ?)",
      signature,
      source,
      clock.now,
    );
    planWork(storage.exec, { name: 'unread', id: signature, dueAt, looks: 3 }, clock.now - 10_000);
  };
  for (let at = 0; at < 1_000; at++) put(`invented-${at}`, 'liar', clock.now - 5_000);
  put('payment', 'node', clock.now - 1);
  await w.custody.alarm();
  const [entry] = storage.exec("SELECT looks FROM agenda WHERE name = 'unread' AND id = 'payment'");
  expect(entry).toEqual({ looks: 4 });
});

it('the sum of 300 debts of each kind is computed without reading each row', async () => {
  const { world, request, store, due } = await overpaid();
  for (let at = 1; at < 300; at++) store.putRefund({ ...due, id: `due-${at}`, requestId: `request-${at}` });
  const claimed = await openClaimed();
  for (let at = 1; at <= 300; at++)
    claimed.store.save(claimed.claim, {
      ...claimed.payout,
      part: at,
      atoms: 9n * 10n ** 18n,
      state: 'owed',
      reason: at <= 2 ? 'mint_unexpected' : 'daily_limit',
      operationId: null,
    });
  let rows = 0;
  const counted = (storage: Storage): Storage => ({
    ...storage,
    exec(query, ...params) {
      const found = storage.exec(query, ...params);
      rows += found.length;
      return found;
    },
  });
  new RequestStore(counted(world.storage)).refundDebt();
  new AsryStore({ ...claimed.w, storage: counted(claimed.w.storage) }).payoutDebt([], 0);
  expect(rows).toBeLessThan(10);
  expect(world.payments.debts()[0]).toMatchObject({
    name: 'refund_due',
    count: 300,
    awaitOperator: 300,
    atoms: 300n * 7_000_000n,
    oldestMs: due.createdAt,
    examples: [request.id, ...[1, 2, 3, 4].map((at) => `request-${at}`)].map((id) => ({
      id,
      reason: 'double',
    })),
  });
  const { signature, createdAt: oldestMs } = claimed.payout;
  const owed = { name: 'payout_owed', count: 300, atoms: 2_700n * 10n ** 18n, oldestMs };
  const examples = [1, 2].map((part) => ({ id: `${signature}:${part}`, reason: 'mint_unexpected' }));
  expect(claimed.w.claims.debts()).toEqual([{ ...owed, awaitOperator: 2, examples }]);
  claimed.w.state.now += DAY_MS + 1;
  expect(claimed.w.claims.debts()).toMatchObject([{ ...owed, awaitOperator: 300 }]);
});
