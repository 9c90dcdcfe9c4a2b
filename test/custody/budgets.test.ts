import { describe, expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { createBudgets, NOTHING_SOLD } from '../../src/custody/budgets.ts';
import { checkIntent, type Sold } from '../../src/custody/kernel/spending-limits.ts';
import { LIMITS as TEST_LIMITS } from '../kit/limits.ts';
import { done, NOW, type planned, SOL } from '../kit/sample-operations.ts';

const LIMITS = {
  ...TEST_LIMITS,
  floor: lamports(100n),
  operatingFloat: lamports(200n),
  maxRefundsDay: lamports(50n),
  maxCreationsDay: 2n,
  maxPayoutsDay: 1n,
};

const budgets = (sold: Sold = NOTHING_SOLD) => createBudgets(LIMITS, () => sold);

const ask = (kind: string, held: bigint, sold?: Sold, operations = [] as ReturnType<typeof planned>[]) =>
  checkIntent({
    budget: budgets(sold).of(kind),
    amount: lamports(10n),
    reserved: lamports(10n),
    balance: { lamports: lamports(held), slot: 5_000n },
    operations,
    now: NOW,
  });

describe('the operating float', () => {
  it.each([
    ['swap', 310n],
    ['token', 110n],
    ['refund', 110n],
    ['asry', 110n],
    ['absr', 10n],
  ])('leaves a %s only the balance above the amount that it must keep', (kind, least) => {
    expect(ask(kind, least).ok).toBe(true);
    expect(ask(kind, least - 1n)).toMatchObject({ code: 'INSUFFICIENT_BALANCE', available: 9n });
  });

  it('grows for swaps with the cost of paid requests, and payouts leave that cost as well', () => {
    const sold = { ...NOTHING_SOLD, paid: 500n };
    expect([ask('swap', 610n, sold).ok, ask('swap', 609n, sold).ok]).toEqual([true, false]);
    expect([ask('asry', 610n, sold).ok, ask('asry', 609n, sold).ok]).toEqual([true, false]);
    expect(ask('token', 110n, sold).ok).toBe(true);
  });

  it('counts unpaid requests against a new sale up to half of it', () => {
    expect(
      budgets({ ...NOTHING_SOLD, paid: 7n, open: 30n })
        .ofSale()
        .keeps(),
    ).toBe(137n);
    expect(
      budgets({ ...NOTHING_SOLD, paid: 7n, open: 1_000_000n })
        .ofSale()
        .keeps(),
    ).toBe(207n);
  });
});

describe('the caps of a day', () => {
  const made = (kind: string, state: 'done' | 'failed' = 'done') =>
    done({ kind, state, createdAt: NOW - 60_000, releasedSlot: null });

  it('refuse the creation after the last one, and name themselves', () => {
    expect(ask('token', SOL, undefined, [made('token'), made('token', 'failed')]).ok).toBe(true);
    expect(ask('token', SOL, undefined, [made('token'), made('token')])).toMatchObject({
      code: 'LIMIT_REACHED',
      limit: 'creations_day',
      used: 2n,
      availableAt: NOW - 60_000 + 86_400_001,
    });
  });

  it('refuse a payout after the last one and leave other kinds alone', () => {
    expect(ask('asry', SOL, undefined, [made('asry')])).toMatchObject({
      limit: 'payouts_day',
      unit: 'count',
    });
    expect(ask('swap', SOL, undefined, [made('asry'), made('token'), made('token')]).ok).toBe(true);
  });

  it('refuse a refund above the lamports of the day', () => {
    const refund = done({ kind: 'refund', createdAt: NOW - 1, amount: lamports(41n), releasedSlot: null });
    expect(ask('refund', SOL, undefined, [refund])).toMatchObject({ limit: 'refunds_day', maximum: 50n });
  });
});
