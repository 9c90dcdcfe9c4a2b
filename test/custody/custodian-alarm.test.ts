import { describe, expect, it, vi } from 'vitest';
import { upstreamFailed } from '../../src/core/errors.ts';
import { type CustodianWorld, createCustodianWorld, keyed, request } from '../kit/custodian.ts';
import { endingSoon } from '../kit/ending-soon.ts';
import { land } from '../kit/fake-chain.ts';
import { NOW, SOL } from '../kit/sample-operations.ts';
import { scenes } from '../kit/scenes.ts';
import { deliver, playCustody } from './custody-scenes.ts';

const TXID = 'a'.repeat(64);

const stateOf = (w: CustodianWorld, id = 'swap:key-a') => w.journal.get(id)?.state;
describe('one swap from request to end', () => {
  it('a create call signs a swap, and the timer alone finishes it', async () => {
    const w = createCustodianWorld();
    const answer = await w.custody.createSwap(keyed('a'));
    expect(answer).toMatchObject({
      type: 'created',
      replayed: false,
      swap: {
        signature: 'signature-1',
        status: 'waiting',
        detail: 'sent',
        amountLamports: SOL,
        btcSats: null,
      },
    });
    land(w.chain);
    await w.passUntil(() => stateOf(w) === 'settling');
    deliver(w);
    await w.passUntil(() => stateOf(w) === 'done');
    expect(w.storage.alarm).toBeNull();
    expect(w.signatures()).toBe(1);
    expect(await w.custody.findSwap('signature-1')).toMatchObject({
      status: 'finished',
      btcSats: 124_375n,
      btcTxid: TXID,
    });
    expect(w.mirror.operation('swap:key-a')).toEqual(w.journal.get('swap:key-a'));
  });

  it('after a crash the next instance continues a stored intent, because the timer is already set', async () => {
    const w = createCustodianWorld();
    let alarmAtQuote: number | null = null;
    w.bridge.nextQuote = () => {
      alarmAtQuote = w.storage.alarm;
      throw new Error('the process ends here');
    };
    await w.custody.createSwap(keyed('a')).catch(() => {});
    expect(alarmAtQuote).not.toBeNull();
    expect((alarmAtQuote ?? 0) - NOW).toBeLessThanOrEqual(30_000);
  });
});

describe('the alarm', () => {
  it('the timer is not postponed by an endless stream of calls', async () => {
    const w = createCustodianWorld();
    await w.custody.createSwap(keyed('a'));
    const due = w.storage.alarm ?? 0;
    for (let call = 0; call < 100; call++) {
      w.clock.now = Math.max(due, w.clock.now) + 5;
      const during: (number | null)[] = [];
      w.chain.nextBalance = async () => {
        during.push(w.storage.alarm);
        throw upstreamFailed('solana-rpc', 'timeout');
      };
      await w.custody.createSwap(request({ client: `client-${call}` }));
      expect(w.storage.alarm).toBeLessThanOrEqual(due);
      expect(during.every((at) => at !== null && at <= due)).toBe(true);
    }
  });
});

it.each(
  scenes(`
    a cron tick sets a lost alarm again
      | swap a; lose-alarm; wait 1m; wake; next = due
    any call sets a lost alarm again
      | swap a; lose-alarm; wait 1m; swap b lamports:99000000000; next = due
    the alarm does not fire again in the same instant while an operation waits
      | swap a; wait 10s; fire; next = soon
    a cron tick deletes recorded calls that are too old for every limit
      | swap a; wait 2d; wake; calls create_quotes = 0; state a = signed
    without D1 a swap is still signed and finished, and D1 receives its rows later
      | wake; d1 down; swap a = created; land; deliver; until a done; rows = 0; d1 up; pass 1m; mirrored a = same; next = none
    no new operation starts once changes have waited for D1 for more than a minute, and callers still find the first swap
      | wake; d1 down; swap a; wait 61s; swap b plain client:other = SWAPS_PAUSED reason:database_unavailable; swap a = created again; found signature-1 = waiting
    a new instance processes and signs nothing before it has compared its journal with D1
      | swap a; d1 down; restart; sent; wait 10s; fire; sent = no more; swap b plain client:other = SWAPS_PAUSED reason:unverified; d1 up; wait 1m; fire; sent = more
    the operator pauses and resumes new operations; signed ones continue
      | swap a; ops pause = ok; paused = operator; land; wait 1s; fire; state a = settling; ops resume = ok; swap b = created
    a refusal after the swap was stored is returned again for its key, without a second bridge call
      | refuse quote_recipient; swap a = QUOTE_REFUSED reason:quote_recipient; swap a = QUOTE_REFUSED again reason:quote_recipient; quotes = 1
    a key can be used again after a refusal that came before the swap was stored
      | balance 0; swap a = INSUFFICIENT_BALANCE; balance usual; wait 2s; swap a = created
    a repeat returns its stored swap while no new swap may start
      | swap a = created; ops pause; swap a = created again; swap b = SWAPS_PAUSED reason:operator
  `),
)('%s', (_title, steps = '') => playCustody(steps));

describe('a call that never ends', () => {
  const hang = () => new Promise<never>(() => undefined);

  it('a swap whose quote hangs holds neither the timer nor another swap', async () => {
    const w = createCustodianWorld({ within: endingSoon });
    await w.custody.createSwap(keyed('b'));
    land(w.chain);
    w.bridge.nextQuote = hang;
    void w.custody.createSwap(keyed('a'));
    await vi.waitUntil(() => stateOf(w) !== undefined);
    w.clock.now += 30_000;
    await w.custody.alarm();
    expect([stateOf(w), stateOf(w, 'swap:key-b')]).toEqual(['planned', 'settling']);
  });

  it('a delivery to D1 that hangs does not hold the timer', async () => {
    const w = createCustodianWorld({ within: endingSoon });
    await w.custody.createSwap(keyed('a'));
    land(w.chain);
    w.mirror.apply = hang;
    w.clock.now += 30_000;
    await w.custody.alarm();
    expect(stateOf(w)).toBe('settling');
  });

  it('a read of D1 that hangs when an instance starts delays only the calls that need it', async () => {
    const w = createCustodianWorld({ within: endingSoon });
    const { mark } = w.mirror;
    w.mirror.mark = hang;
    await w.custody.wake().catch(() => undefined);
    w.mirror.mark = mark;
    w.clock.now += 600_000;
    await w.custody.wake();
    expect(await w.custody.createSwap(keyed('a'))).toMatchObject({ type: 'created' });
  });
});

it('many concurrent calls cause only one read of D1', async () => {
  const w = createCustodianWorld();
  const mark = vi.spyOn(w.mirror, 'mark');
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => w.custody.createSwap(request({ client: `c${at}` }))),
  );
  expect(mark).toHaveBeenCalledTimes(1);
});

describe('rows that D1 refuses while it accepts others', () => {
  /** D1 refuses the swaps of these clients for good. */
  function refusing(...names: readonly string[]) {
    const w = createCustodianWorld();
    const refused = new Set(names.map((name) => `swap:key-${name}`));
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      if (batch[0].some(({ id }) => refused.has(id))) throw new Error('D1_ERROR: string or blob too big');
      return apply(...batch);
    };
    return { w, refused };
  }

  it('rows that D1 refuses while it accepts others do not stop new operations or the delivery of other rows', async () => {
    const { w } = refusing('a');
    await w.custody.createSwap(keyed('a'));
    land(w.chain);
    deliver(w);
    await w.pass(10 * 60_000);
    expect((await w.custody.createSwap(keyed('b', { client: 'other' }))).type).toBe('created');
    expect(w.mirror.operation('swap:key-b')).toEqual(w.journal.get('swap:key-b'));
    expect(stateOf(w)).toBe('done');
    expect(await w.custody.report()).toMatchObject({ refusedRows: 1, undeliveredSinceMs: null });
    expect(w.logged).toContain('work_failed');
  });

  it("the operator's command lists rows that D1 refuses, and delivers them once D1 accepts them", async () => {
    const { w, refused } = refusing('a');
    await w.custody.createSwap(keyed('a'));
    await w.pass(60_000);
    refused.clear();
    expect(await w.custody.ops({ name: 'republish' })).toMatchObject({
      ok: true,
      rows: [{ entity: 'operation', id: 'swap:key-a', refusals: expect.any(Number) }],
    });
    // D1 has the checks as of the last change of the state.
    const { dueAt: _dueAt, looks: _looks, ...state } = w.journal.get('swap:key-a') ?? {};
    expect(w.mirror.operation('swap:key-a')).toMatchObject(state);
    expect((await w.custody.report()).refusedRows).toBe(0);
  });

  it('twenty rows that D1 refuses stop new operations', async () => {
    const { w } = refusing();
    w.storage.transaction(() => {
      for (let at = 0; at < 20; at++) w.journal.queue.publish('invoices', `i${at}`, { journal: '{}' }, NOW);
    });
    const { apply } = w.mirror;
    w.mirror.apply = async (...batch) => {
      if (batch[0].some(({ entity }) => entity === 'invoices')) throw new Error('D1_ERROR: full');
      return apply(...batch);
    };
    await w.custody.wake();
    await w.pass(10 * 60_000);
    expect(await w.custody.createSwap(request())).toMatchObject({
      refusal: { code: 'SWAPS_PAUSED', details: { reason: 'database_unavailable' } },
    });
  });
});
