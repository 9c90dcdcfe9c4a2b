import { describe, expect, it } from 'vitest';
import { type Lamports, lamports } from '../../../src/core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/durations.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import {
  areLimits,
  type Balance,
  limitsOf,
  releasedSlot,
  reservedLamports,
  solText,
  spendable,
  unsettledLamports,
  usedOf,
} from '../../../src/custody/kernel/spending-limits.ts';
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
import { budgetOf, checkCost, checkIntent, costLamports, type Limits, swappedLamports } from '../spending.ts';

const RICH: Balance = { lamports: lamports(1_000n * SOL), slot: 5_000n };

type Asked = {
  amount?: bigint;
  reserved?: bigint;
  balance?: Balance;
  limits?: Partial<Limits>;
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
  ])('%s', (_name, held, ok) => {
    expect(check([], { balance: holding(held) }).ok).toBe(ok);
  });

  it('amounts reserved by others are not spendable', () => {
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

  it('released sums are not spendable either: the balance shows them', () => {
    expect(check([settling(), done()], { balance: holding(SOL + FEE + LIMITS.floor) }).ok).toBe(true);
  });

  it('is shown as spendable even below zero', () => {
    expect(spendable(holding(0n), [planned()], LIMITS.floor)).toBe(-(SOL + FEE) - LIMITS.floor);
  });

  it('that is older than an outcome must be read again', () => {
    const operations = [done({ releasedSlot: 4_000n }), settling({ id: 'b', releasedSlot: 5_001n })];
    expect(check(operations)).toEqual({ ok: false, code: 'BALANCE_OUTDATED', minSlot: 5_001n });
    expect(check(operations, { balance: { ...RICH, slot: 5_001n } }).ok).toBe(true);
  });

  it('the slot that it must reach is that of the latest outcome, 0 without any', () => {
    expect(releasedSlot([])).toBe(0n);
    expect(releasedSlot([planned(), signed()])).toBe(0n);
    const released = [done({ releasedSlot: 7n }), settling({ releasedSlot: 9n }), planned()];
    for (const operations of [released, released.toReversed()]) expect(releasedSlot(operations)).toBe(9n);
  });
});

describe('the cap of one operation', () => {
  it.each([
    [2n * SOL, true],
    [2n * SOL + 1n, false],
  ])('%s lamports', (amount, ok) => {
    expect(check([], { amount }).ok).toBe(ok);
    if (!ok) expect(check([], { amount })).toMatchObject({ code: 'AMOUNT_TOO_LARGE', maximum: 2n * SOL });
  });

  it('names the cap for an amount that exceeds both the cap and the balance', () => {
    expect(check([], { amount: 999n * SOL, balance: holding(10n * SOL) })).toMatchObject({
      code: 'AMOUNT_TOO_LARGE',
      maximum: LIMITS.maxOperation,
    });
  });

  it('a cap of zero lets nothing through', () => {
    expect(check([], { amount: 1n, limits: { maxOperation: lamports(0n) } }).ok).toBe(false);
  });
});

describe('the windows', () => {
  it.each([
    ['hour', HOUR_MS, LIMITS.maxHour],
    ['day', DAY_MS, LIMITS.maxDay],
  ] as const)('of an %s: used up, then free when its first amount has aged out', (limit, window, maximum) => {
    const count = maximum / (2n * SOL);
    const inside = Array.from({ length: Number(count) }, (_, at) => earlier(window - 1_000 - at * 60_000));
    const free = limit === 'day' ? { limits: { maxHour: lamports(100n * SOL) } } : {};
    const verdict = check(inside, { amount: 1n, ...free });
    expect(verdict).toMatchObject({ code: 'LIMIT_REACHED', limit, maximum, used: maximum });
    if (verdict.ok || verdict.code !== 'LIMIT_REACHED') throw new Error('not refused');
    expect(verdict.availableAt).toBeLessThanOrEqual(NOW + 1_001);
    expect(check(inside, { amount: 1n, now: verdict.availableAt, ...free }).ok).toBe(true);
    expect(check(inside, { amount: 1n, now: verdict.availableAt - 2, ...free }).ok).toBe(false);
  });

  it('a larger amount waits until enough of them have aged out', () => {
    const inside = [earlier(50 * 60_000, SOL), earlier(40 * 60_000, SOL), earlier(30 * 60_000, 2n * SOL)];
    const at = (amount: bigint) => {
      const verdict = check(inside, { amount });
      if (verdict.ok || verdict.code !== 'LIMIT_REACHED') throw new Error('not refused');
      return Math.round((verdict.availableAt - NOW) / 60_000);
    };
    expect([at(SOL), at(SOL + 1n), at(2n * SOL)]).toEqual([10, 20, 20]);
  });

  it('at the edge an amount of exactly one window ago no longer counts', () => {
    expect(swappedLamports([earlier(HOUR_MS)], NOW, HOUR_MS)).toBe(0n);
    expect(swappedLamports([earlier(HOUR_MS - 1)], NOW, HOUR_MS)).toBe(2n * SOL);
  });

  it('refunded, partial and failed bridges count: they were spent', () => {
    expect(swappedLamports([outstanding(), done({ id: 'b' })], NOW, HOUR_MS)).toBe(2n * SOL);
  });

  it('refused, expired and rejected operations do not', () => {
    expect(swappedLamports([closed()], NOW, HOUR_MS)).toBe(0n);
  });

  it('a clock that went back still counts what lies ahead', () => {
    const ahead = [earlier(-DAY_MS), earlier(-DAY_MS)];
    expect(check(ahead, { amount: 1n })).toMatchObject({ code: 'LIMIT_REACHED', limit: 'hour' });
  });

  it("an amount above a window's cap has to wait for a whole window", () => {
    const verdict = check([], { amount: 2n * SOL, limits: { maxHour: lamports(SOL) } });
    expect(verdict).toMatchObject({ code: 'LIMIT_REACHED', limit: 'hour', availableAt: NOW + HOUR_MS });
  });

  it('other kinds neither count nor are bound by the caps of swaps', () => {
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
    ['a signed one', signed()],
    ['one that is settling', settling()],
    ['one that the bridge failed, until its money is found', outstanding()],
  ])('counts %s', (_name, op) => {
    const old = { ...op, createdAt: NOW - 2 * DAY_MS };
    const limits = { maxUnsettled: lamports(2n * SOL) };
    expect(check([old], { amount: SOL, limits }).ok).toBe(true);
    expect(check([old], { amount: SOL + 1n, limits })).toMatchObject({
      code: 'LIMIT_REACHED',
      limit: 'unsettled',
      used: SOL,
      availableAt: NOW + 60_000,
    });
  });

  it('ignores ended operations, and the amount of planned operations of other kinds', () => {
    const limits = { maxUnsettled: lamports(SOL) };
    expect(check([done({ createdAt: 0 }), closed(), planned({ kind: 'asry' })], { limits }).ok).toBe(true);
  });

  it('is summed over all', () => {
    expect(unsettledLamports([signed(), settling(), done(), planned()])).toBe(2n * SOL);
    expect(reservedLamports([signed(), settling(), done(), planned()])).toBe(2n * (SOL + FEE));
  });
});

describe('cost of the day', () => {
  const costly = (ms: number, cost: bigint): Operation => earlier(ms, 1n, cost);

  it('an intent passes while the limit is not reached, a signature only if its cost fits', () => {
    const used = [costly(1, LIMITS.maxCostDay)];
    expect(check(used).ok).toBe(true);
    expect(checkCost(used, 1n, LIMITS, NOW)).toMatchObject({ limit: 'cost_day', used: LIMITS.maxCostDay });
    expect(checkCost(used, 0n, LIMITS, NOW).ok).toBe(true);
    expect(check([costly(1, LIMITS.maxCostDay + 1n)])).toMatchObject({ limit: 'cost_day' });
  });

  it('shows when enough of it has left the window', () => {
    const half: Lamports = lamports(LIMITS.maxCostDay / 2n);
    const used = [costly(DAY_MS - 60_000, half), costly(DAY_MS - 120_000, half)];
    const verdict = checkCost(used, half, LIMITS, NOW);
    expect(verdict).toMatchObject({ ok: false, availableAt: NOW + 60_001 });
    expect(checkCost(used, half, LIMITS, NOW + 60_001).ok).toBe(true);
    expect(checkCost(used, half, LIMITS, NOW + 59_999).ok).toBe(false);
    expect(costLamports(used, NOW)).toBe(LIMITS.maxCostDay);
  });
});

it('amounts in messages are whole SOL', () => {
  expect(solText(2_500_000_000n)).toBe('2.5 SOL');
});

it('shows when there is room again by the oldest swap of the window, in any order of rows', () => {
  const minute = 60_000;
  const rows = [earlier(10 * minute), earlier(50 * minute)];
  const availableAt = NOW - 50 * minute + HOUR_MS + 1;
  for (const operations of [rows, rows.toReversed()])
    expect(check(operations)).toMatchObject({ ok: false, limit: 'hour', availableAt });
});

it.each([
  ['a waiting operation of any age where the cap counts what waits', true, planned(), 1n],
  ['no waiting operation from before the window where the cap counts it from its plan', false, planned(), 0n],
  ['no signed operation from before the window', true, signed(), 0n],
])('counts %s', (_name, countsWaiting, operation, used) => {
  const cap = { name: 'day', unit: 'count', windowMs: DAY_MS, maximum: 1n, countsWaiting } as const;
  const old = { ...operation, createdAt: NOW - 2 * DAY_MS };
  expect(usedOf({ ...cap, of: () => 1n, adds: () => 1n }, 'swap', [old], NOW)).toBe(used);
});

describe('the status', () => {
  const hourOf = (operations: readonly Operation[]) =>
    limitsOf(budgetOf('swap', LIMITS), operations, NOW).find(({ name }) => name === 'hour');

  it('shows what a cap holds and no time while there is room', () => {
    const used = LIMITS.maxHour - 1n;
    expect(hourOf([earlier(1, used)])).toEqual({
      name: 'hour',
      unit: 'lamports',
      windowMs: HOUR_MS,
      used,
      maximum: LIMITS.maxHour,
      availableAt: null,
    });
  });

  it('shows when the first lamport of a full cap is free again', () => {
    const rows = [earlier(10 * 60_000, LIMITS.maxHour - 1n), earlier(50 * 60_000, 1n)];
    expect(hourOf(rows)).toMatchObject({ used: LIMITS.maxHour, availableAt: NOW + 10 * 60_000 + 1 });
  });
});

it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, '1'])('a limit of %s is invalid', (unread) => {
  expect(areLimits(LIMITS)).toBe(true);
  expect(areLimits(Object.assign({ ...LIMITS }, { maxDay: unread }))).toBe(false);
});
