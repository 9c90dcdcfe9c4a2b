import { expect, it, vi } from 'vitest';
import { upstreamFailed } from '../../src/core/errors.ts';
import { createCustodianWorld, keyed, request } from '../kit/custodian.ts';
import { endingSoon } from '../kit/ending-soon.ts';
import { NOW } from '../kit/sample-operations.ts';
import { eachScene } from '../kit/scenes.ts';
import { playCustody } from './custody-scenes.ts';

const TXID = 'a'.repeat(64);
const INVOICE = { status: 'pending', created_at: '', journal: '{}' };

/** A custodian whose calls may hang, and whose D1 may refuse rows while it accepts others. */
function createStage() {
  const w = createCustodianWorld({ within: endingSoon });
  const { apply, mark } = w.mirror;
  const hang = () => new Promise<never>(() => undefined);
  let refused: string | undefined;
  let alarmInQuote: number | null = null;
  const more = {
    async create(name: string) {
      const answer = await w.custody.createSwap(keyed(name));
      if (answer.type !== 'created') return answer.refusal.code;
      const { signature, status, detail, amountLamports, btcSats } = answer.swap;
      return [signature, status, detail, `${amountLamports} lamports`, `${btcSats} sats`].join(', ');
    },
    async view(signature: string) {
      const swap = await w.custody.findSwap(signature);
      return [swap?.status, `${swap?.btcSats} sats`, swap?.btcTxid].join(', ');
    },
    'crash-in-quote'() {
      w.bridge.nextQuote = () => {
        alarmInQuote = w.storage.alarm;
        throw new Error('the process ends here');
      };
    },
    'alarm-in-quote': () => alarmInQuote !== null && alarmInQuote - w.clock.now <= 30_000,
    /** From now on these calls never end. */
    'hang-quotes': () => Object.assign(w.bridge, { nextQuote: hang }),
    'hang-deliveries': () => Object.assign(w.mirror, { apply: hang }),
    'hang-marks': () => Object.assign(w.mirror, { mark: hang }),
    'mend-marks': () => Object.assign(w.mirror, { mark }),
    /** Starts a swap and does not wait for its response. */
    async begin(name: string) {
      void w.custody.createSwap(keyed(name));
      await vi.waitUntil(() => w.journal.get(`swap:key-${name}`));
    },
    /** D1 refuses each batch with a row whose id begins like this. */
    'refuse-rows'(like: string) {
      refused = like;
      w.mirror.apply = async (...batch) => {
        if (batch[0].some(({ id }) => refused !== undefined && id.startsWith(refused)))
          throw new Error('D1_ERROR: string or blob too big');
        return apply(...batch);
      };
    },
    /** D1 accepts only batches of at most this many rows within the time limit. */
    'hang-batches-above'(most: string) {
      w.mirror.apply = (...batch) => (batch[0].length > Number(most) ? hang() : apply(...batch));
    },
    'accept-rows': () => {
      refused = undefined;
    },
    /** Rows of other tables wait for D1. */
    invoices(count: string) {
      w.storage.transaction(() => {
        for (let at = 0; at < Number(count); at++)
          w.journal.queue.publish('invoices', `i${at}`, INVOICE, NOW);
      });
    },
    alerts: () => w.logged.includes('work_failed'),
    /** What the command republish lists. */
    async republish() {
      const { rows = [] } = await w.custody.ops({ name: 'republish' });
      return rows.map(({ entity, id, refusals }) => `${entity} ${id} ${Number(refusals) > 0}`).join(', ');
    },
  };
  return [w, more] as const;
}

eachScene(`
  a create call signs a swap, and the timer alone finishes it
    | create a = signature-1, waiting, sent, 1000000000 lamports, null sats; land; until a settling; deliver; until a done; next = none; signatures = 1; view signature-1 = finished, 124375 sats, ${TXID}; mirrored a = same
  after a crash the next instance continues a stored intent, because the timer is already set
    | crash-in-quote; swap a; alarm-in-quote = true
  a swap whose quote hangs holds neither the timer nor another swap
    | swap b; land; hang-quotes; begin a; wait 30s; fire; state a = planned; state b = settling
  a delivery to D1 that hangs does not hold the timer
    | swap a; land; hang-deliveries; wait 30s; fire; state a = settling
  a read of D1 that hangs when an instance starts delays only the calls that need it
    | hang-marks; wake; mend-marks; wait 10m; wake; swap a = created
  rows that D1 refuses while it accepts others do not stop new operations or the delivery of other rows
    | refuse-rows swap:key-a; swap a; land; deliver; pass 10m; swap b client:other = created; mirrored b = same; state a = done; refused-rows = 1; undelivered = null; alerts = true
  the operator's command lists rows that D1 refuses, and delivers them once D1 accepts them
    | refuse-rows swap:key-a; swap a; pass 1m; accept-rows; republish = operation swap:key-a true; mirrored a = same but for checks; refused-rows = 0
  rows that D1 cannot accept in time in one batch are delivered in smaller batches
    | invoices 60; hang-batches-above 10; wake; pass 10m; undelivered = null; swap a = created
  twenty rows that D1 refuses stop new operations
    | invoices 20; refuse-rows i; wake; pass 10m; swap a plain = SWAPS_PAUSED reason:database_unavailable
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
  the operator pauses and resumes new operations; signed operations continue
    | swap a; ops pause = ok; paused = operator; land; wait 1s; fire; state a = settling; ops resume = ok; swap b = created
  a refusal after the swap was stored is returned again for its key, without a second bridge call
    | refuse quote_recipient; swap a = QUOTE_REFUSED reason:quote_recipient; swap a = QUOTE_REFUSED again reason:quote_recipient; quotes = 1
  a key can be used again after a refusal that came before the swap was stored
    | balance 0; swap a = INSUFFICIENT_BALANCE; balance usual; wait 2s; swap a = created
  a repeat returns its stored swap while no new swap may start
    | swap a = created; ops pause; swap a = created again; swap b = SWAPS_PAUSED reason:operator
  no new operation starts after the clock was set back while changes wait for D1
    | wake; d1 down; swap a; wait -1d; swap b plain client:other = SWAPS_PAUSED reason:database_unavailable
`)('%s', (_title, steps = '') => playCustody(steps, ...createStage()));

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

it('many concurrent calls cause only one read of D1', async () => {
  const w = createCustodianWorld();
  const mark = vi.spyOn(w.mirror, 'mark');
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => w.custody.createSwap(request({ client: `c${at}` }))),
  );
  expect(mark).toHaveBeenCalledTimes(1);
});

it('concurrent calls deliver to D1 one after another, and each response comes after the delivery of its row', async () => {
  const w = createCustodianWorld();
  const { apply } = w.mirror;
  let running = 0;
  let batches = 0;
  const atOnce: number[] = [];
  w.mirror.apply = async (...batch) => {
    batches += 1;
    atOnce.push(++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    return apply(...batch);
  };
  const ids = Array.from({ length: 20 }, (_, at) => `i${at}`);
  await w.custody.wake();
  const delivered = await Promise.all(
    ids.map(async (id) => {
      w.storage.transaction(() => w.journal.queue.publish('invoices', id, INVOICE, NOW));
      await w.custody.ops({ name: 'operations' });
      return w.mirror.rows.has(`invoices ${id}`);
    }),
  );
  expect(delivered).toEqual(ids.map(() => true));
  expect(Math.max(...atOnce)).toBe(1);
  expect(batches).toBeLessThan(20);
  expect(w.journal.queue.isQueued()).toBe(false);
});

it('concurrent calls wait for only one batch that D1 does not accept', async () => {
  const w = createCustodianWorld();
  await w.custody.wake();
  const apply = vi.spyOn(w.mirror, 'apply').mockRejectedValue(new Error('D1 is down'));
  w.mirror.probe = async () => {
    throw new Error('D1 is down');
  };
  const calls = Array.from({ length: 20 }, async (_, at) => {
    w.storage.transaction(() => w.journal.queue.publish('invoices', `i${at}`, INVOICE, NOW));
    await w.custody.ops({ name: 'operations' });
  });
  await Promise.all(calls);
  expect(apply).toHaveBeenCalledTimes(1);
  apply.mockRestore();
  await w.pass(20_000, true);
  expect(w.journal.queue.isQueued()).toBe(false);
});

it('the response of a call that came during a delivery waits for the delivery of its own row', async () => {
  const w = createCustodianWorld();
  const { apply } = w.mirror;
  await w.custody.wake();
  const [isSent, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  w.mirror.apply = async (...batch) => {
    isSent.resolve();
    await isReleased.promise;
    return apply(...batch);
  };
  const call = async (id: string) => {
    w.storage.transaction(() => w.journal.queue.publish('invoices', id, INVOICE, NOW));
    await w.custody.ops({ name: 'operations' });
    return w.mirror.rows.has(`invoices ${id}`);
  };
  const first = call('first');
  await isSent.promise;
  const second = call('second');
  isReleased.resolve();
  expect(await Promise.all([first, second])).toEqual([true, true]);
});
