import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/core/durations.ts';
import { type LimitName, OPERATION_LIMITS } from '../../src/core/operation-limits.ts';
import type { CustodyDeps } from '../../src/custody/dependencies.ts';
import { freeze, frozenReason } from '../../src/custody/kernel/journal-integrity.ts';
import type { Operation, OperationKind } from '../../src/custody/kernel/operation.ts';
import { code, held } from '../../src/custody/kernel/reason.ts';
import { type CustodianWorld, createCustodianWorld, keyed, request } from '../kit/custodian.ts';
import { shownCode } from '../kit/operator.ts';
import {
  CREATION,
  closed,
  done,
  NOW,
  outstanding,
  planned,
  SIGNED_AT,
  SOL,
  settling,
  signed,
  signingOf,
} from '../kit/sample-operations.ts';
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
const HOURS = 6 * 3_600_000;

it.each([
  ['one that could not be signed for six hours', planned({ kind: 'asry' }), HOURS + 1, 1],
  ['none that waits for a shorter time', planned({ kind: 'asry' }), HOURS, 0],
  ['one that failed and for which something is outstanding', outstanding(), 1, 1],
  ['none that failed and for which nothing is outstanding', closed(), 1, 0],
  ['one that is held', planned({ reason: held('unproven') }), 1, 1],
])('operations that await the operator include %s', async (_name, operation, later, count) => {
  const w = createCustodianWorld();
  w.add(operation);
  w.clock.now += later;
  expect((await w.custody.report()).heldOperations).toBe(count);
  const { open } = await w.custody.operatorView();
  expect(open.filter(({ awaitsOperator }) => awaitsOperator)).toHaveLength(count);
});

it('an operation whose module is not configured is kept, and waits for the operator', async () => {
  const w = createCustodianWorld();
  w.add(planned({ id: 'token:one', kind: 'token' }));
  await w.custody.alarm();
  expect(w.journal.get('token:one')).toMatchObject({ state: 'planned', reason: held('unknown_state') });
  expect((await w.custody.report()).heldOperations).toBe(1);
});

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

it('finds a swap by its signature, but no operation of another kind', async () => {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  w.add(signed({ id: 'asry:one', kind: 'asry', signing: { ...signingOf('two'), signature: 'signature-2' } }));
  expect(await w.custody.findSwap('signature-1')).toMatchObject({ signature: 'signature-1' });
  expect(await w.custody.findSwap('signature-2')).toBeNull();
  expect(await w.custody.findSwap('signature-9')).toBeNull();
});

describe('reading a payment request', () => {
  /** A paid listing whose payment has not been searched for yet. */
  async function paid(change: Partial<CustodyDeps> = {}) {
    const payers = createPaymentWorld();
    const { ports } = payers;
    const w = createCustodianWorld({
      payments: {
        ...ports,
        balanceOf: async () => 1n,
        leastBalance: async () => 1n,
      },
      ...change,
    });
    w.clock.now = payers.state.now;
    const opened = await w.custody.openRequest({
      kind: 'listing',
      subject: { name: 'Moon', symbol: 'MOON', decimals: 9, supply: '1', program: 'token', mint: 'foreign' },
      baseFeeLamports: 20_000_000n,
      client: 'ip',
    });
    if (opened.type !== 'opened') throw new Error('not opened');
    payers.pay(BigInt(opened.request.feeLamports), [opened.request.reference]);
    w.clock.now += 2_000;
    const find = () => w.custody.findRequest(opened.request.id);
    const inMirror = () => [...w.mirror.rows.values()].find(({ entity }) => entity === 'listings');
    return { w, find, inMirror };
  }

  it.each([
    ['books no payment between a restore and the restart', true, 'open'],
    ['books payments after a restore that fails', false, 'completed'],
  ])('%s', async (_title, works, state) => {
    const { w } = await paid();
    w.storage.restore = () => (works ? Promise.resolve() : Promise.reject(new Error('no history')));
    const id = new Date(w.clock.now - 1).toISOString();
    expect(await w.custody.ops({ name: 'restore-storage', id })).toMatchObject({ ok: works });
    await w.custody.wake();
    expect(w.storage.exec('SELECT state FROM requests')).toEqual([{ state }]);
  });

  it('an ended payment request is delivered to D1 before the caller reads it there', async () => {
    const { w, find, inMirror } = await paid();
    w.mirror.state = 'down';
    await w.custody.wake();
    expect(inMirror()).not.toMatchObject({ columns: { status: 'confirmed' } });
    w.mirror.state = 'up';
    expect(await find()).toMatchObject({ status: 'completed' });
    expect(inMirror()).toMatchObject({ columns: { status: 'confirmed' } });
    expect(w.journal.queue.undeliveredSince()).toBeUndefined();
  });

  it('an ended payment request is returned even if D1 refuses rows or never responds', async () => {
    const { w, find } = await paid({ within: async (work, ms) => (ms === 2_000 ? undefined : work) });
    w.mirror.state = 'down';
    await w.custody.wake();
    expect(await find()).toMatchObject({ status: 'completed' });
    w.mirror.apply = () => new Promise(() => undefined);
    expect(await find()).toMatchObject({ status: 'completed' });
  });

  it('reading a payment request makes no D1 call while it is open, nor after all its rows are delivered', async () => {
    const { w, find } = await paid();
    const { applied } = w.mirror;
    expect(await find()).toMatchObject({ status: 'pending' });
    await w.custody.alarm();
    const delivered = w.mirror.applied;
    expect(await find()).toMatchObject({ status: 'completed' });
    expect([delivered - applied, w.mirror.applied]).toEqual([1, delivered]);
  });
});

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

  it('if swaps are disabled and the operator has paused signing, the report names the pause', async () => {
    const w = createCustodianWorld({ swapsDisabled: true });
    expect((await w.custody.report()).paused).toBe('disabled');
    await w.custody.ops({ name: 'pause' });
    expect((await w.custody.report()).paused).toBe('operator');
    await w.custody.ops({ name: 'resume' });
    expect((await w.custody.report()).paused).toBe('disabled');
  });

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

describe("the operator's commands", () => {
  it('the operator can list the newest operations and those that are open, and can retry only open ones', async () => {
    const w = createCustodianWorld();
    w.add(
      planned({ id: 'asry:held', kind: 'asry', reason: held('unproven'), dueAt: w.clock.now + 3_000_000 }),
    );
    w.add(signed({ id: 'swap:open' }));
    const listed = await w.custody.ops({ name: 'operations' });
    expect(listed.rows?.map(({ id }) => id)).toEqual(['swap:open', 'asry:held']);
    const { open } = await w.custody.operatorView();
    expect(open.map(({ id, awaitsOperator }) => [id, awaitsOperator])).toEqual([
      ['asry:held', true],
      ['swap:open', false],
    ]);
    expect(await w.custody.ops({ name: 'retry', id: 'asry:held' })).toMatchObject({ ok: true });
    expect(w.journal.get('asry:held')).toMatchObject({ reason: null, dueAt: w.clock.now });
    expect(await w.custody.ops({ name: 'retry', id: 'nobody' })).toMatchObject({ ok: false });
    const over = w.journal.get('swap:open');
    if (over) w.journal.update(over, { ...over, state: 'done' }, w.clock.now);
    expect(await w.custody.ops({ name: 'retry', id: 'swap:open' })).toMatchObject({ ok: false });
    expect(w.logged.filter((event) => event === 'operator_command')).toHaveLength(4);
  });

  describe('write-off', () => {
    const add = (row: Operation) => {
      const w = createCustodianWorld();
      w.add(row);
      return w;
    };
    const writeOff = (w: CustodianWorld) => w.custody.ops({ name: 'write-off', id: 'swap:one' });

    it.each([
      ['refunded', outstanding({ detail: 'refunded', reason: code('refunded') }), 'refunded'],
      ['bridge_failed', outstanding(), 'bridge_failed'],
      ['held_unsettled', settling({ detail: 'held', reason: held('unsettled') }), 'written_off'],
    ])(
      'write-off ends the wait for a swap only once, and records its SOL as a cost: %s',
      async (_name, row, detail) => {
        const w = add(row);
        expect(await writeOff(w)).toMatchObject({ ok: true });
        expect(w.journal.get('swap:one')).toMatchObject({
          state: 'failed',
          detail,
          reason: code(detail),
          unsettled: 0n,
          cost: row.cost + SOL,
          dueAt: null,
          outcome: { writtenOffLamports: String(SOL) },
        });
        expect((await w.custody.report()).heldOperations).toBe(0);
        expect(await writeOff(w)).toMatchObject({ ok: false });
        expect(w.journal.get('swap:one')?.cost).toBe(row.cost + SOL);
      },
    );

    it('a write-off frees the unsettled limit, but uses up the cost limit for a day after the signature', async () => {
      const w = add(outstanding({ signedAt: NOW }));
      await writeOff(w);
      const limits = (await w.custody.report()).limits.filter(({ name }) => /unsettled|cost_day/.test(name));
      expect(limits).toMatchObject([
        { name: 'unsettled', used: 0n },
        { name: 'cost_day', used: SOL + 10_000_000n },
      ]);
      expect(await w.custody.createSwap(keyed('a'))).toMatchObject({
        refusal: { code: 'SWAP_LIMIT_REACHED', details: { limit: 'cost_day' } },
      });
      w.clock.now += 24 * 3_600_000;
      expect((await w.custody.createSwap(keyed('b'))).type).toBe('created');
    });

    it.each([
      ['signed', signed()],
      ['settling', settling()],
      ['done', done()],
      ['refused before the signature', closed()],
    ])('write-off refuses a swap that is %s', async (_name, row) => {
      const w = add(row);
      const before = w.journal.get('swap:one');
      expect(await writeOff(w)).toMatchObject({ ok: false });
      expect(w.journal.get('swap:one')).toEqual(before);
    });

    it('write-off refuses an id that no operation has', async () => {
      const w = createCustodianWorld();
      expect(await w.custody.ops({ name: 'write-off' })).toMatchObject({ ok: false });
    });
  });

  describe('restore-storage', () => {
    const at = (w: CustodianWorld, ms: number) => new Date(w.clock.now + ms).toISOString();
    const restore = (w: CustodianWorld, id: string) => w.custody.ops({ name: 'restore-storage', id });

    it('restore-storage stores a higher revision in D1 before it restores, so that the restored journal is frozen', async () => {
      const w = createCustodianWorld();
      const restored: [at: number, mark: number][] = [];
      w.storage.restore = async (time) => void restored.push([time, await w.mirror.mark()]);
      const before = w.journal.queue.revision();
      expect(await restore(w, at(w, -DAY_MS))).toMatchObject({ ok: true });
      expect(restored).toEqual([[w.clock.now - DAY_MS, before + 1]]);
    });

    it.each([
      [
        'nothing begins between a restore and the restart',
        true,
        null,
        'SWAPS_PAUSED',
        'journal_behind_mirror',
      ],
      ['signing continues after a restore that fails', false, null, 'created', undefined],
      [
        'an earlier freeze continues after a restore that fails',
        false,
        'unexplained_spend',
        'SWAPS_PAUSED',
        'unexplained_spend',
      ],
    ] as const)('%s', async (_title, works, earlier, swap, reason) => {
      const w = createCustodianWorld();
      if (earlier) freeze(w.journal, earlier, () => {});
      w.storage.restore = () => (works ? Promise.resolve() : Promise.reject(new Error('no history')));
      expect(await restore(w, at(w, -1))).toMatchObject({ ok: works });
      const made = await w.custody.createSwap(request());
      expect(made.type === 'refused' ? made.refusal.code : made.type).toBe(swap);
      expect(frozenReason(w.journal)).toBe(reason);
    });

    it.each([
      ['the future', 60_000],
      ['a time that the platform no longer keeps', -31 * DAY_MS],
    ])('restore-storage refuses %s', async (_name, ms) => {
      const w = createCustodianWorld();
      w.storage.restore = () => Promise.reject(new Error('called'));
      expect(await restore(w, at(w, ms))).toMatchObject({ ok: false });
      expect(await restore(w, 'yesterday')).toMatchObject({ ok: false });
    });

    it('restore-storage has no effect while D1 does not respond, or on a platform without history', async () => {
      const w = createCustodianWorld();
      expect(await restore(w, at(w, -1))).toMatchObject({ ok: false });
      let calls = 0;
      w.storage.restore = async () => void calls++;
      w.mirror.state = 'down';
      expect(await restore(w, at(w, -1))).toMatchObject({ ok: false });
      expect(calls).toBe(0);
    });
  });

  it('ops unfreeze ends a freeze, and ops resume ends the pause that follows', async () => {
    const w = createCustodianWorld();
    freeze(w.journal, 'unexplained_spend', () => {});
    const { message } = await w.custody.ops({ name: 'unfreeze' });
    expect((await w.custody.report()).frozen).toBe('unexplained_spend');
    expect(await w.custody.ops({ name: 'unfreeze', id: shownCode(message) })).toMatchObject({ ok: true });
    expect(await w.custody.createSwap(request())).toMatchObject({ type: 'refused' });
    await w.custody.ops({ name: 'resume' });
    expect((await w.custody.createSwap(request())).type).toBe('created');
  });
});
