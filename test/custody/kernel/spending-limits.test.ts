import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import {
  areLimits,
  type Balance,
  type Limit,
  limitUse,
  reservedLamports,
  spendable,
} from '../../../src/custody/kernel/spending-limits.ts';
import type { CustodyLimits } from '../../../src/custody/limits.ts';
import { LIMITS } from '../../kit/limits.ts';
import {
  closed,
  done,
  FEE,
  NOW,
  outstanding,
  planned,
  SOL,
  settling,
  signed,
} from '../../kit/sample-operations.ts';
import { checkCost, checkIntent, limitOf, usedBy } from '../spending.ts';

const RICH: Balance = { lamports: lamports(1_000n * SOL), slot: 5_000n };

type Asked = {
  amount?: bigint;
  reserved?: bigint;
  balance?: Balance;
  limits?: Partial<CustodyLimits>;
  now?: number;
  kind?: Operation['kind'];
};
function check(operations: Operation[], asked: Asked = {}) {
  const { amount = SOL, balance = RICH, limits = {}, now = NOW, kind = 'swap' } = asked;
  return checkIntent({
    kind,
    amount: lamports(amount),
    reserved: lamports(asked.reserved ?? amount + FEE),
    balance,
    operations,
    limits: { ...LIMITS, ...limits },
    now,
  });
}
const holding = (sol: bigint): Balance => ({ lamports: lamports(sol), slot: 5_000n });
/** A swap that is over and counts only for the windows. */
const earlier = (ms: number, amount = 2n * SOL, cost = 0n): Operation =>
  done({ createdAt: NOW - ms, amount: lamports(amount), cost: lamports(cost) });

describe('the balance', () => {
  it.each([
    ['exactly enough', SOL + FEE + LIMITS.floor, true],
    ['one lamport short', SOL + FEE + LIMITS.floor - 1n, false],
    ['nothing', 0n, false],
  ])('checks whether the balance covers amount, fee and floor: %s', (_name, held, ok) => {
    expect(check([], { balance: holding(held) }).ok).toBe(ok);
  });

  it('amounts that other operations have reserved are not spendable', () => {
    const operations = [
      planned({ id: 'a' }),
      signed({ id: 'b', amount: lamports(0n), unsettled: lamports(0n) }),
    ];
    const held = 3n * (SOL + FEE) + LIMITS.floor;
    expect(check(operations, { balance: holding(held) }).ok).toBe(true);
    expect(check(operations, { balance: holding(held - 1n) })).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      available: SOL + FEE - 1n,
    });
  });

  it('an operation that has landed reserves nothing more once the balance shows what it spent', () => {
    expect(check([settling(), done()], { balance: holding(SOL + FEE + LIMITS.floor) }).ok).toBe(true);
  });

  it('the spendable balance is shown even if it is below zero', () => {
    expect(spendable(holding(0n), [planned()], LIMITS.floor)).toBe(-(SOL + FEE) - LIMITS.floor);
  });
});

describe('the limit of one operation', () => {
  it.each([
    [2n * SOL, true],
    [2n * SOL + 1n, false],
  ])('an operation of at most 2 SOL passes the limit of one operation: %s lamports', (amount, ok) => {
    const verdict = check([earlier(1, SOL)], { amount, limits: { hour: 100n * SOL } });
    expect(verdict).toMatchObject(ok ? { ok } : { limit: { name: 'operation', maximum: 2n * SOL } });
  });

  it('a limit of zero refuses every amount', () => {
    expect(check([], { amount: 1n, limits: { operation: 0n } }).ok).toBe(false);
  });
});

describe('the windows', () => {
  it.each([
    ['hour', HOUR_MS, LIMITS.hour],
    ['day', DAY_MS, LIMITS.day],
  ] as const)(
    'the window of one %s is used up, then has room again when its first amount leaves it',
    (limit, window, maximum) => {
      const count = maximum / (2n * SOL);
      const inside = Array.from({ length: Number(count) }, (_, at) => earlier(window - 1_000 - at * 60_000));
      const free = limit === 'day' ? { limits: { hour: 100n * SOL } } : {};
      const verdict = check(inside, { amount: 1n, ...free });
      expect(verdict).toMatchObject({
        code: 'LIMIT_REACHED',
        limit: { name: limit, maximum },
        used: maximum,
      });
      if (verdict.ok || verdict.code !== 'LIMIT_REACHED') throw new Error('not refused');
      expect(verdict.availableAt).toBeLessThanOrEqual(NOW + 1_001);
      expect(check(inside, { amount: 1n, now: verdict.availableAt, ...free }).ok).toBe(true);
      expect(check(inside, { amount: 1n, now: verdict.availableAt - 2, ...free }).ok).toBe(false);
    },
  );

  it('a larger amount waits until enough earlier amounts have left the window', () => {
    const inside = [earlier(50 * 60_000, SOL), earlier(40 * 60_000, SOL), earlier(30 * 60_000, 2n * SOL)];
    const at = (amount: bigint) => {
      const verdict = check(inside, { amount });
      if (verdict.ok || verdict.code !== 'LIMIT_REACHED') throw new Error('not refused');
      return Math.round((verdict.availableAt - NOW) / 60_000);
    };
    expect([at(SOL), at(SOL + 1n), at(2n * SOL)]).toEqual([10, 20, 20]);
  });

  it('an amount signed exactly one window ago is no longer counted', () => {
    expect(usedBy('hour', [earlier(HOUR_MS)], NOW)).toBe(0n);
    expect(usedBy('hour', [earlier(HOUR_MS - 1)], NOW)).toBe(2n * SOL);
  });

  it('refunded, partial and bridge-failed operations are counted, because their SOL was spent', () => {
    expect(usedBy('hour', [outstanding(), done({ id: 'b' })], NOW)).toBe(2n * SOL);
  });

  it('refused, expired and rejected operations are not counted in a window', () => {
    expect(usedBy('hour', [closed()], NOW)).toBe(0n);
  });

  it('operations whose dates lie in the future after the clock was set back are still counted', () => {
    const ahead = [earlier(-DAY_MS), earlier(-DAY_MS)];
    expect(check(ahead, { amount: 1n })).toMatchObject({ code: 'LIMIT_REACHED', limit: { name: 'hour' } });
  });

  it("an amount above a window's limit has to wait for a whole window", () => {
    const verdict = check([], { amount: 2n * SOL, limits: { hour: SOL } });
    expect(verdict).toMatchObject({
      code: 'LIMIT_REACHED',
      limit: { name: 'hour' },
      availableAt: NOW + HOUR_MS,
    });
  });

  it('operations of other kinds are not counted in the limits of swaps, and not bound by them', () => {
    const payout = done({ kind: 'asry', createdAt: NOW - 1, amount: lamports(50n * SOL) });
    expect(check([payout]).ok).toBe(true);
    expect(check([earlier(1), earlier(2)], { kind: 'token', amount: 100n * SOL }).ok).toBe(true);
    expect(check([], { kind: 'token', amount: 0n, balance: holding(LIMITS.floor) })).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
    });
  });
});

describe('exposure', () => {
  it.each([
    ['a planned swap, which will be unsettled once it is signed', planned()],
    ['a signed swap', signed()],
    ['a swap that is settling', settling()],
    ['a swap that the bridge failed, until its money is found', outstanding()],
  ])('the exposure includes %s', (_name, op) => {
    const old = { ...op, createdAt: NOW - 2 * DAY_MS };
    const limits = { unsettled: 2n * SOL };
    expect(check([old], { amount: SOL, limits }).ok).toBe(true);
    expect(check([old], { amount: SOL + 1n, limits })).toMatchObject({
      code: 'LIMIT_REACHED',
      limit: { name: 'unsettled' },
      used: SOL,
      availableAt: NOW + 60_000,
    });
  });

  it('the unsettled sum excludes ended operations and the amount of planned operations of other kinds', () => {
    const limits = { unsettled: SOL };
    expect(check([done({ createdAt: 0 }), closed(), planned({ kind: 'asry' })], { limits }).ok).toBe(true);
  });

  it('the unsettled sum includes all operations', () => {
    expect(reservedLamports([signed(), settling(), done(), planned()])).toBe(2n * (SOL + FEE));
  });
});

describe('cost of the day', () => {
  const costly = (ms: number, cost: bigint): Operation => earlier(ms, 1n, cost);

  it('an intent passes until the used cost exceeds the daily limit, a signature only if its own cost still fits', () => {
    const used = [costly(1, LIMITS.cost_day)];
    expect(check(used).ok).toBe(true);
    expect(checkCost(used, 1n, LIMITS, NOW)).toMatchObject({
      limit: { name: 'cost_day' },
      used: LIMITS.cost_day,
    });
    expect(checkCost(used, 0n, LIMITS, NOW)).toBeUndefined();
    expect(check([costly(1, LIMITS.cost_day + 1n)])).toMatchObject({ limit: { name: 'cost_day' } });
  });

  it('the refusal of a cost shows when enough earlier cost will have left the window', () => {
    const half = LIMITS.cost_day / 2n;
    const used = [costly(DAY_MS - 60_000, half), costly(DAY_MS - 120_000, half)];
    const verdict = checkCost(used, half, LIMITS, NOW);
    expect(verdict).toMatchObject({ ok: false, availableAt: NOW + 60_001 });
    expect(checkCost(used, half, LIMITS, NOW + 60_001)).toBeUndefined();
    expect(checkCost(used, half, LIMITS, NOW + 59_999)).toBeDefined();
    expect(usedBy('cost_day', used, NOW)).toBe(LIMITS.cost_day);
  });
});

it('the oldest swap in the window decides when there is room again, in any order of rows', () => {
  const minute = 60_000;
  const rows = [earlier(10 * minute), earlier(50 * minute)];
  const availableAt = NOW - 50 * minute + HOUR_MS + 1;
  for (const operations of [rows, rows.toReversed()])
    expect(check(operations)).toMatchObject({ ok: false, limit: { name: 'hour' }, availableAt });
});

it.each([
  ['a queued operation of any age if the limit includes queued ones', true, planned(), 1n],
  [
    'no queued operation from before the window if the limit dates it by its planning',
    undefined,
    planned(),
    0n,
  ],
  ['no signed operation from before the window', true, signed(), 0n],
  ['no operation that failed after its signature', undefined, closed({ signedAt: NOW }), 0n],
  ['an operation that was signed in it and is done', undefined, done({ signedAt: NOW }), 1n],
] as const)('a window includes %s', (_name, countsQueued, operation, used) => {
  const limit: Limit = {
    ...{ name: 'swaps_day', kind: 'swap', unit: 'count', counts: 'operations', label: 'swaps in a day' },
    ...{ windowMs: DAY_MS, maximum: 1n, ...(countsQueued && { countsQueued }) },
  };
  expect(limitUse(limit, [{ ...operation, createdAt: NOW - 2 * DAY_MS }], NOW).used).toBe(used);
});

describe('the use of a limit', () => {
  const hour = limitOf(LIMITS, 'hour');

  it('the use of a limit has availableAt null while there is room', () => {
    const used = LIMITS.hour - 1n;
    expect(limitUse(hour, [earlier(1, used)], NOW)).toEqual({
      name: 'hour',
      label: 'SOL swapped in an hour',
      unit: 'lamports',
      windowMs: HOUR_MS,
      used,
      maximum: LIMITS.hour,
      availableAt: null,
    });
  });

  it('shows when the first lamport of a full limit is free again', () => {
    const rows = [earlier(10 * 60_000, LIMITS.hour - 1n), earlier(50 * 60_000, 1n)];
    expect(limitUse(hour, rows, NOW)).toMatchObject({
      used: LIMITS.hour,
      availableAt: NOW + 10 * 60_000 + 1,
    });
  });
});

it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, '1'])('a limit of %s is invalid', (unread) => {
  expect(areLimits(LIMITS)).toBe(true);
  expect(areLimits(Object.assign({ ...LIMITS }, { day: unread }))).toBe(false);
});
