import { describe, expect, it } from 'vitest';
import { type LimitName, OPERATION_LIMITS } from '../../src/core/operation-limits.ts';
import type { OperationKind } from '../../src/custody/kernel/operation.ts';
import { createCustodianWorld, request } from '../kit/custodian.ts';
import { CREATION, planned, SIGNED_AT, SOL } from '../kit/sample-operations.ts';
import { eachScene } from '../kit/scenes.ts';
import { copyOf, playCustody } from './custody-scenes.ts';
import { createPaymentWorld } from './payments/payment-world.ts';

/** A creation that costs only its fee. */
const creation: OperationKind = {
  rules: CREATION,
  prepare: async () => ({
    ok: true,
    message: Uint8Array.of(1),
    signedAt: SIGNED_AT,
    plan: {},
    cost: 0n,
    once: [],
  }),
  settle: async () => ({ settlement: { state: 'pending', detail: '' }, once: [] }),
};

eachScene(`
  an operation that could not be signed for six hours awaits the operator
    | add planned kind=asry; wait 6h1ms; held = 1; awaiting = swap:one
  an operation that waits for its signature for a shorter time does not await the operator
    | add planned kind=asry; wait 6h; held = 0; awaiting = none
  an operation that failed and for which something is outstanding awaits the operator
    | add outstanding; wait 1ms; held = 1; awaiting = swap:one
  an operation that failed and for which nothing is outstanding does not await the operator
    | add closed; wait 1ms; held = 0; awaiting = none
  an operation that is held awaits the operator
    | add planned reason=held_unproven; wait 1ms; held = 1; awaiting = swap:one
  an operation whose module is not configured is kept, and waits for the operator
    | add planned id=token:one kind=token; fire; row token:one = planned held_unknown_state; held = 1
  finds a swap by its signature, but no operation of another kind
    | swap a; add signed id=asry:one kind=asry signing=2; found signature-1 = waiting; found signature-2 = undefined; found signature-9 = undefined
  the operator can list the newest operations and those that are open, and can retry only open ones
    | add planned id=asry:one kind=asry reason=held_unproven due=50m; add signed id=swap:open; list = swap:open, asry:one; awaiting = asry:one; ops retry asry:one = ok; row asry:one = planned none, due; ops retry nobody = refused; end swap:open; ops retry swap:open = refused; logged operator_command = 4
  write-off ends the wait for a refunded swap only once, and records its SOL as a cost
    | add outstanding detail=refunded reason=refunded; ops write-off swap:one = ok; row = failed refunded; sums = 0 unsettled, 1010000000 cost, 1000000000 written off; held = 0; ops write-off swap:one = refused; sums = 0 unsettled, 1010000000 cost, 1000000000 written off
  write-off ends the wait for a swap that the bridge failed only once, and records its SOL as a cost
    | add outstanding; ops write-off swap:one = ok; row = failed bridge_failed; sums = 0 unsettled, 1010000000 cost, 1000000000 written off; held = 0; ops write-off swap:one = refused; sums = 0 unsettled, 1010000000 cost, 1000000000 written off
  write-off ends the wait for a held swap only once, and records its SOL as a cost
    | add settling detail=held reason=held_unsettled; ops write-off swap:one = ok; row = failed written_off; sums = 0 unsettled, 1010000000 cost, 1000000000 written off; held = 0; ops write-off swap:one = refused; sums = 0 unsettled, 1010000000 cost, 1000000000 written off
  a write-off frees the unsettled limit, but uses up the cost limit for a day after the swap was signed
    | add outstanding signedAt=now; ops write-off swap:one; used unsettled = 0; used cost_day = 1010000000; swap a = SWAP_LIMIT_REACHED limit:cost_day; wait 1d; swap b = created
  write-off refuses a swap that is signed
    | add signed; ops write-off swap:one = refused; changed = false
  write-off refuses a swap that is settling
    | add settling; ops write-off swap:one = refused; changed = false
  write-off refuses a swap that is done
    | add done; ops write-off swap:one = refused; changed = false
  write-off refuses a swap that was refused before it was signed
    | add closed; ops write-off swap:one = refused; changed = false
  write-off refuses an id that no operation has
    | ops write-off = refused
  restore-storage stores a higher revision in D1 before it restores, so that the restored journal is frozen
    | restores work; restore -1d = ok; restored-to = -86400000 ms, mark +1
  a swap is refused between a restore of the storage and the restart
    | restores work; restore -1ms = ok; swap a plain = SWAPS_PAUSED reason:journal_behind_mirror
  signing continues after a restore of the storage that fails
    | restores fail; restore -1ms = refused; swap a plain = created; frozen = null
  an earlier freeze continues after a restore of the storage that fails
    | freeze unexplained_spend; restores fail; restore -1ms = refused; swap a plain = SWAPS_PAUSED reason:unexplained_spend
  restore-storage refuses the future, a time that the platform no longer keeps, and a text that is not a time
    | restores work; restore 1m = refused; restore -31d = refused; ops restore-storage yesterday = refused; restored-to = none
  restore-storage has no effect on a platform without history, or while D1 does not respond
    | restore -1ms = refused; restores work; d1 down; restore -1ms = refused; restored-to = none
  ops unfreeze ends a freeze, and ops resume ends the pause that follows
    | freeze unexplained_spend; ops unfreeze; frozen = unexplained_spend; confirm unfreeze = ok; swap a plain = SWAPS_PAUSED; ops resume; swap a plain = created
`)('%s', (_title, steps = '') => playCustody(steps));

const limits = createCustodianWorld().deps.limits;
it.each([
  ...Object.keys(limits).map((name) => [name, { limits: { ...limits, [name]: undefined } }] as const),
  ['the kill switch', { swapsDisabled: undefined }] as const,
])('a misspelled or missing limit stops all signing: %s', async (_name, change) => {
  const w = createCustodianWorld({
    payments: { ...createPaymentWorld().ports, creation },
    ...(change as object),
  });
  expect(await w.custody.createSwap(request())).toMatchObject({
    refusal: { code: 'SWAPS_PAUSED', details: { reason: 'misconfigured' } },
  });
  w.add(planned({ id: 'token:one', kind: 'token' }));
  await w.custody.alarm();
  expect(w.journal.get('token:one')?.reason).toEqual({ type: 'stopped', by: 'misconfigured' });
  expect(w.signatures()).toBe(0);
});

/** A custodian with a paid listing whose payment has not been searched for yet. D1 may hang for the reader. */
async function paidListing() {
  const payers = createPaymentWorld();
  const w = createCustodianWorld({
    payments: { ...payers.ports, balanceOf: async () => 1n, leastBalance: async () => 1n },
    within: async (work, ms) => (d1.hangs && ms === 2_000 ? undefined : work),
  });
  const d1 = { hangs: false };
  w.clock.now = payers.state.now;
  const opened = await w.custody.openRequest({
    kind: 'listing',
    subject: { name: 'Moon', symbol: 'MOON', decimals: 9, supply: '1', program: 'token', mint: 'foreign' },
    baseFeeLamports: 20_000_000n,
    client: 'ip',
  });
  if (opened.type !== 'opened') throw new Error('not opened');
  const { id, feeLamports, reference } = opened.request;
  payers.pay(BigInt(feeLamports), [reference]);
  w.clock.now += 2_000;
  let { applied } = w.mirror;
  let reader = w.custody;
  const verbs = {
    find: async () => (await reader.findRequest(id))?.status,
    'find-fails': () => reader.findRequest(id).catch(({ message }) => message),
    state: () => w.storage.exec('SELECT state FROM requests')[0]?.state,
    /** Another instance reads the journal as it is now, after the payment was booked. */
    async 'book-and-lose'() {
      const old = copyOf(w.storage);
      await w.custody.wake();
      reader = w.start(old);
      await reader.alarm();
      return (await w.custody.findRequest(id))?.status;
    },
    'hang-d1'() {
      d1.hangs = true;
      w.mirror.apply = () => new Promise(() => undefined);
    },
    'in-d1': () => w.mirror.rows.get(`listings ${id}`)?.columns.status,
    delivered: () => w.journal.queue.undeliveredSince() === undefined,
    /** Calls of D1 since the last look. */
    'd1-calls'() {
      const calls = w.mirror.applied - applied;
      ({ applied } = w.mirror);
      return calls;
    },
  };
  return [w, verbs] as const;
}

eachScene(`
  records no payment between a restore and the restart
    | restores work; restore -1ms = ok; wake; state = open
  records payments after a restore that fails
    | restores fail; restore -1ms = refused; wake; state = completed
  a request that the journal has lost is read from D1, so that a paid one is not shown as unpaid
    | book-and-lose = completed; find-fails = the journal has lost rows
  an ended payment request is delivered to D1 before the caller reads it there
    | d1 down; wake; in-d1 = pending; d1 up; find = completed; in-d1 = confirmed; delivered = true
  an ended payment request is returned even if D1 refuses rows or never responds
    | d1 down; wake; find = completed; hang-d1; find = completed
  reading a payment request makes no D1 call while it is open, nor after all its rows are delivered
    | d1 down; swap a; d1 up; find = pending; d1-calls = 0; fire; d1-calls = 1; find = completed; d1-calls = 0
`)('%s', async (_title, steps = '') => playCustody(steps, ...(await paidListing())));

describe('the report', () => {
  it('the report shows the use of every cap, and operations that are open, await the operator or are not yet in D1', async () => {
    const w = createCustodianWorld();
    await w.custody.createSwap(request());
    const report = await w.custody.report();
    expect(report).toMatchObject({
      frozen: null,
      paused: null,
      openOperations: 1,
      heldOperations: 0,
      undeliveredSinceMs: null,
      refusedRows: 0,
      mirrorRestored: false,
    });
    const used: Readonly<Record<string, bigint>> = {
      hour: SOL,
      day: SOL,
      unsettled: SOL,
      cost_day: SOL / 100n,
    };
    expect(report.limits).toMatchObject(
      Object.keys(OPERATION_LIMITS).map((name) => ({
        name,
        used: used[name] ?? 0n,
        maximum: w.deps.limits[name as LimitName],
      })),
    );
    w.mirror.state = 'down';
    await w.custody.createSwap(request({ client: 'other' }));
    expect((await w.custody.report()).undeliveredSinceMs).toBe(w.clock.now);
  });

  it('if swaps are disabled and the operator has paused signing, the report names the pause', () =>
    playCustody(
      'paused = disabled; ops pause; paused = operator; ops resume; paused = disabled',
      createCustodianWorld({ swapsDisabled: true }),
    ));

  it('the report makes no upstream call and no read of D1', async () => {
    const w = createCustodianWorld();
    await w.custody.report();
    expect([w.chain.reads, w.mirror.reads, w.bridge.quotes.length]).toEqual([
      { balance: 0, views: 0, landing: 0 },
      0,
      0,
    ]);
  });
});
