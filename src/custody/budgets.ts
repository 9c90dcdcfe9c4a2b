/**
 * What each kind of operation may spend. The order of precedence: the floor stays for all, the operating float for what
 * has been sold, and swaps get what is left.
 * @module
 */
import { DAY_MS } from '../core/limits.ts';
import type { CustodyLimits } from './custody-deps.ts';
import type { Kind } from './kernel/operation.ts';
import type { Budget, Cap, Sold } from './kernel/spending-limits.ts';
import { swapBudget } from './swap/limits.ts';

const perDay = (name: string, maximum: bigint): Cap => ({
  name,
  unit: 'count',
  windowMs: DAY_MS,
  maximum,
  of: ({ state }) => (state === 'failed' ? 0n : 1n),
  adds: () => 1n,
});

export function createBudgets(limits: CustodyLimits, sold: () => Sold) {
  const { floor, operatingFloat } = limits;
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const budgets: readonly Budget[] = [
    swapBudget(limits, () => floor + larger(operatingFloat, sold().paid)),
    { kind: 'token', keeps: () => floor, caps: [perDay('creations_day', limits.maxCreationsDay)] },
    {
      kind: 'refund',
      keeps: () => floor,
      caps: [
        {
          name: 'refunds_day',
          unit: 'lamports',
          windowMs: DAY_MS,
          maximum: limits.maxRefundsDay,
          of: ({ amount }) => amount,
          adds: ({ amount }) => amount,
        },
      ],
    },
    {
      kind: 'asry',
      keeps: () => floor + sold().paid,
      caps: [perDay('payouts_day', limits.maxPayoutsDay)],
    },
    // The floor is what swaps leave for fees; a mint costs nothing but fees.
    { kind: 'absr', keeps: () => 0n, caps: [] },
  ];
  const byKind = new Map(budgets.map((budget) => [budget.kind, budget]));

  return {
    all: budgets,

    of: (kind: Kind): Budget => byKind.get(kind) ?? { kind, keeps: () => floor, caps: [] },

    /**
     * What a sale must leave in the reserve: the floor, and the cost of what was sold before. Unpaid requests count up to
     * half of the float, so that they cannot stop all sales.
     */
    keptBySale(): bigint {
      const { paid, open } = sold();
      const bound = operatingFloat / 2n;
      return floor + paid + (open < bound ? open : bound);
    },
  };
}
