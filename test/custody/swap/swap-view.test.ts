import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import type { LimitName } from '../../../src/core/operation-limits.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { held, parseReason } from '../../../src/custody/kernel/reason.ts';
import { createAnswer, limitRefusal, swapsStopped, swapView } from '../../../src/custody/swap/swap-view.ts';
import { LIMITS } from '../../kit/limits.ts';
import {
  closed,
  done,
  NOW,
  outstanding,
  planned,
  SOL,
  settling,
  signed,
} from '../../kit/sample-operations.ts';
import { eachResult, eachRow } from '../../kit/scenes.ts';
import { limitOf } from '../spending.ts';

/** The refusal of a swap that ended unsigned for this reason. */
function refusalFor(reason: string, outcome = {}) {
  const answer = createAnswer(closed({ reason: parseReason(reason), outcome }), false);
  if (answer?.type !== 'refused') throw new Error('not refused');
  return answer.refusal;
}

describe('a swap that ended unsigned', () => {
  eachResult(`
    QUOTE_REFUSED          | quote_too_expensive | quote_signature | quote_reused | no_route | pair_paused | bridge_refused | something_new
    AMOUNT_TOO_LARGE       | amount_too_high
    BRIDGE_REQUEST_INVALID | request_invalid
    PRICE_UNAVAILABLE      | price_unavailable | price_divergent
    SWAPS_PAUSED           | stopped_operator | stopped_journal_behind_mirror
    UPSTREAM_FAILED        | upstream_timeout | upstream_rpc_-32016
  `)('a swap that ended because of %s is refused with %s', (reason, code) => {
    const refusal = refusalFor(reason);
    expect(refusal).toMatchObject({ code, details: { reason: reason.replace('stopped_', '') } });
    expect(refusal.message.length).toBeGreaterThan(20);
  });

  it.each([
    ['amount_too_low', 'bridge'],
    ['amount_below_cost', 'cost'],
  ])('a swap that ended because of %s shows the bound as it was then', (reason, minimumSource) => {
    const outcome = { minimumLamports: '250000000', minimumSource };
    const details = { reason, minAmountLamports: '250000000', minimumSource };
    expect(refusalFor(reason, outcome)).toMatchObject({ code: 'AMOUNT_TOO_SMALL', details });
  });

  it.each([
    ['hour', 'The limit on SOL swapped in an hour would be exceeded by this amount.'],
    ['of_an_older_release', 'This amount would exceed a limit on swaps.'],
  ])('a swap refused at the limit %s shows the time from which the limit allows it', (limit, message) => {
    expect(refusalFor(`limit_${limit}`, { availableAt: String(NOW + 60_000) })).toEqual({
      code: 'SWAP_LIMIT_REACHED',
      message,
      action: 'retry_with_new_key',
      retryAfterSeconds: 60,
      details: { limit, nextAvailableAt: new Date(NOW + 60_000).toISOString() },
    });
  });

  it('a swap refused while swaps are stopped has the reason and a retry time', () => {
    expect(swapsStopped('unexpected_debit')).toMatchObject({
      retryAfterSeconds: 300,
      details: { reason: 'unexpected_debit' },
    });
  });
});

describe('the refusal of an amount', () => {
  const reached = (name: LimitName, used: bigint, availableAt = NOW) =>
    limitRefusal({ ok: false, code: 'LIMIT_REACHED', limit: limitOf(LIMITS, name), used, availableAt }, NOW);

  it.each([
    [5n, '5'],
    [0n, '0'],
    [-7n, '0'],
  ])('the refusal of an amount above a spendable balance of %i shows %s lamports', (available, shown) => {
    const short = { ok: false, code: 'INSUFFICIENT_BALANCE', available: lamports(available) } as const;
    expect(limitRefusal(short, NOW)).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      details: { availableLamports: shown },
    });
  });

  it('the refusal of an amount above the largest swap shows that limit', () => {
    expect(reached('operation', 0n)).toEqual({
      code: 'AMOUNT_TOO_LARGE',
      message: 'The limit on SOL in one swap is 2 SOL.',
      details: { maxAmountLamports: '2000000000' },
    });
  });

  eachRow<[wait: number, seconds: number]>(`
    1500      | 2
    1         | 1
    0         | 1
    -99999    | 1
    864000000 | 86400
  `)(
    'when a full window has room in %i ms, the refusal says to wait %i s: at least 1 s, at most a day',
    (wait, seconds) => {
      expect(reached('hour', 3n * SOL, NOW + wait)).toMatchObject({
        code: 'SWAP_LIMIT_REACHED',
        retryAfterSeconds: seconds,
        details: {
          limit: 'hour',
          maximumLamports: '4000000000',
          usedLamports: '3000000000',
          nextAvailableAt: new Date(NOW + seconds * 1_000).toISOString(),
        },
      });
    },
  );
});

describe('the public state of a swap', () => {
  it.each<[string, Operation, string]>([
    ['signed', signed(), 'waiting'],
    ['settling', settling(), 'waiting'],
    ['held', settling({ detail: 'held', reason: held('unsettled') }), 'waiting'],
    ['done', done(), 'finished'],
    ['with a failed bridge', outstanding(), 'failed'],
    ['refunded', outstanding({ detail: 'refunded', unsettled: lamports(0n) }), 'failed'],
  ])('a swap is shown in one of three states, with its detail: %s', (_name, op, status) => {
    expect(swapView(op)).toMatchObject({
      signature: 'signature-one',
      status,
      detail: op.detail,
      amountLamports: SOL,
    });
  });

  it('a swap has no id before it is signed', () => {
    expect(swapView(planned())).toBeNull();
    expect(swapView(closed())).toBeNull();
  });

  it('the public swap shows the requested amount even if it was never sent', () => {
    const expired = signed({
      state: 'failed',
      amount: lamports(0n),
      plan: { askedLamports: SOL.toString() },
    });
    expect(swapView(expired)).toMatchObject({
      amountLamports: SOL,
      expectedSats: 0n,
      minimumSats: 0n,
      route: '',
    });
  });

  it('the public swap shows the received sats, and null before they arrive', () => {
    expect(swapView(settling())).toMatchObject({ btcSats: null, btcTxid: null });
    const paid = done({ outcome: { btcSats: '124500', btcTxid: 't' } });
    expect(swapView(paid)).toMatchObject({ btcSats: 124_500n, btcTxid: 't' });
  });
});

describe('the response to a create call', () => {
  it('the response to a create call stays the same, whatever happens to the swap later', () => {
    for (const op of [
      signed(),
      settling({ detail: 'held', reason: held('unsettled') }),
      done(),
      outstanding(),
    ]) {
      expect(createAnswer(op, true)).toMatchObject({
        type: 'created',
        replayed: true,
        swap: { status: 'waiting', detail: 'sent', reason: null },
      });
    }
  });

  it('the response to a create call is the refusal if no transaction was signed, and undefined while the outcome is undecided', () => {
    expect(createAnswer(closed(), false)).toMatchObject({
      type: 'refused',
      replayed: false,
      refusal: { details: { reason: 'quote_signature' } },
    });
    expect(createAnswer(closed({ reason: null }), false)).toMatchObject({ type: 'refused' });
    expect(createAnswer(planned(), false)).toBeUndefined();
  });
});
