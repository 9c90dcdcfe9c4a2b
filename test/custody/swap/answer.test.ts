import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { ERRORS } from '../../../src/core/errors.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import type { SpendingVerdict } from '../../../src/custody/kernel/spending-limits.ts';
import {
  createAnswer,
  limitRefusal,
  refusalOf,
  stopped,
  swapView,
} from '../../../src/custody/swap/answer.ts';
import { isTooSmall } from '../../../src/custody/swap/limits.ts';
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

describe('a refusal', () => {
  it.each([
    ['amount_too_low', 'AMOUNT_TOO_SMALL'],
    ['amount_below_cost', 'AMOUNT_TOO_SMALL'],
    ['quote_too_expensive', 'QUOTE_REFUSED'],
    ['quote_signature', 'QUOTE_REFUSED'],
    ['quote_reused', 'QUOTE_REFUSED'],
    ['amount_too_high', 'AMOUNT_TOO_LARGE'],
    ['no_route', 'QUOTE_REFUSED'],
    ['price_unavailable', 'PRICE_UNAVAILABLE'],
    ['price_divergent', 'PRICE_UNAVAILABLE'],
    ['stopped_operator', 'SWAPS_PAUSED'],
    ['stopped_journal_behind_mirror', 'SWAPS_PAUSED'],
    ['upstream_timeout', 'UPSTREAM_FAILED'],
    ['upstream_rpc_-32016', 'UPSTREAM_FAILED'],
    ['something_new', 'QUOTE_REFUSED'],
  ])('for %s is %s, a code of the contract', (reason, code) => {
    const refusal = refusalOf(reason);
    expect(refusal.code).toBe(code);
    expect(ERRORS[code]).toBeDefined();
    expect(refusal.message.length).toBeGreaterThan(20);
  });

  it.each([
    ['amount_too_low', true],
    ['amount_below_cost', true],
    ['quote_too_expensive', false],
    [null, false],
  ])('%s would meet any smaller amount: %s', (reason, small) => {
    expect(isTooSmall(reason)).toBe(small);
  });

  it('without liquidity shows when to retry, and is not a refused quote', () => {
    expect(refusalOf('no_route')).toMatchObject({ retryAfterSeconds: 60, details: { reason: 'no_route' } });
    expect(refusalOf('no_route').message).toContain('liquidity');
  });

  it('while swaps are stopped has the reason and the time of the next try', () => {
    expect(stopped('unexpected_debit')).toMatchObject({
      retryAfterSeconds: 300,
      details: { reason: 'unexpected_debit' },
    });
  });
});

describe("a ledger's no", () => {
  const limit = (availableAt: number): Exclude<SpendingVerdict, { ok: true }> => ({
    ok: false,
    code: 'LIMIT_REACHED',
    limit: 'hour',
    unit: 'lamports',
    maximum: lamports(4n * SOL),
    used: lamports(3n * SOL),
    availableAt,
  });

  it('for a short balance shows the spendable sum, never less than nothing', () => {
    for (const [available, stated] of [
      [5n, '5'],
      [0n, '0'],
      [-7n, '0'],
    ] as const) {
      const refusal = limitRefusal(
        { ok: false, code: 'INSUFFICIENT_BALANCE', available: lamports(available) },
        NOW,
      );
      expect(refusal).toMatchObject({ code: 'INSUFFICIENT_BALANCE', details: { availableLamports: stated } });
    }
  });

  it('for one operation shows its cap', () => {
    const refusal = limitRefusal({ ok: false, code: 'AMOUNT_TOO_LARGE', maximum: lamports(2n * SOL) }, NOW);
    expect(refusal).toMatchObject({
      details: { maxAmountLamports: '2000000000' },
      message: expect.stringContaining('2 SOL'),
    });
  });

  it.each([
    [NOW + 1_500, 2],
    [NOW + 1, 1],
    [NOW, 1],
    [NOW - 99_999, 1],
    [NOW + 10 * 86_400_000, 86_400],
  ])('for a window shows the seconds to wait: at least one, at most a day', (availableAt, seconds) => {
    const refusal = limitRefusal(limit(availableAt), NOW);
    expect(refusal).toMatchObject({
      retryAfterSeconds: seconds,
      details: {
        limit: 'hour',
        maximumLamports: '4000000000',
        usedLamports: '3000000000',
        nextAvailableAt: new Date(NOW + seconds * 1_000).toISOString(),
      },
    });
  });

  it('for an old balance is the upstream that is late', () => {
    expect(limitRefusal({ ok: false, code: 'BALANCE_OUTDATED', minSlot: 5n }, NOW)).toMatchObject({
      code: 'UPSTREAM_FAILED',
      retryAfterSeconds: 5,
    });
  });
});

describe('the public state of a swap', () => {
  it.each<[string, Operation, string]>([
    ['signed', signed(), 'waiting'],
    ['settling', settling(), 'waiting'],
    ['held', settling({ detail: 'held', reason: 'held_unsettled' }), 'waiting'],
    ['done', done(), 'finished'],
    ['with a failed bridge', outstanding(), 'failed'],
    ['refunded', outstanding({ detail: 'refunded', unsettled: lamports(0n) }), 'failed'],
  ])('%s is one of three states, with its detail', (_name, op, status) => {
    expect(swapView(op)).toMatchObject({
      signature: 'signature-one',
      status,
      detail: op.detail,
      amountLamports: SOL,
    });
  });

  it('has no id before it is signed', () => {
    expect(swapView(planned())).toBeNull();
    expect(swapView(closed())).toBeNull();
  });

  it('shows the requested amount even when nothing left in the end', () => {
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

  it('shows the received sats, null before', () => {
    expect(swapView(settling())).toMatchObject({ btcSats: null, btcTxid: null });
    const paid = done({ outcome: { btcSats: '124500', btcTxid: 't' } });
    expect(swapView(paid)).toMatchObject({ btcSats: 124_500n, btcTxid: 't' });
  });
});

describe('the answer to a create', () => {
  it('is the same regardless of later changes of the swap', () => {
    for (const op of [
      signed(),
      settling({ detail: 'held', reason: 'held_unsettled' }),
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

  it('is the refusal when nothing was signed, and undefined while the outcome is open', () => {
    expect(createAnswer(closed(), false)).toMatchObject({
      type: 'refused',
      replayed: false,
      refusal: { details: { reason: 'quote_signature' } },
    });
    expect(createAnswer(closed({ reason: null }), false)).toMatchObject({ type: 'refused' });
    expect(createAnswer(planned(), false)).toBeUndefined();
  });
});
