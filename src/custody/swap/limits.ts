/**
 * Spending limits of swaps: one swap, an hour, a day, the amount in transit, and the cost of a day.
 * @module
 */
import type { Lamports } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import type { Budget, Cap } from '../kernel/spending-limits.ts';

/** From the configuration; lamports unless said otherwise. */
export type SwapLimits = {
  readonly maxOperation: Lamports;
  readonly maxHour: Lamports;
  readonly maxDay: Lamports;
  readonly maxUnsettled: Lamports;
  readonly maxCostDay: Lamports;
  /** Worst-case cost of one swap against the independent price, in basis points of its amount. */
  readonly maxCostBps: number;
};

/** The cap that is checked again immediately before the signature, when the quote's cost is known. */
export const COST_DAY = 'cost_day';

/** @param keeps lamports that swaps must leave in the reserve */
export function swapBudget(limits: SwapLimits, keeps: () => bigint): Budget {
  const moved = (name: string, windowMs: number, maximum: bigint): Cap => ({
    name,
    unit: 'lamports',
    windowMs,
    maximum,
    of: ({ amount }) => amount,
    adds: ({ amount }) => amount,
  });
  return {
    kind: 'swap',
    maxAmount: limits.maxOperation,
    keeps,
    caps: [
      moved('hour', HOUR_MS, limits.maxHour),
      moved('day', DAY_MS, limits.maxDay),
      {
        name: 'unsettled',
        unit: 'lamports',
        windowMs: null,
        maximum: limits.maxUnsettled,
        // A planned swap becomes unsettled when it is signed. Counting it now leaves no gap between the two.
        of: ({ state, amount, unsettled }) => (state === 'planned' ? amount : unsettled),
        adds: ({ amount }) => amount,
      },
      {
        name: COST_DAY,
        unit: 'lamports',
        windowMs: DAY_MS,
        maximum: limits.maxCostDay,
        of: ({ cost }) => cost,
        adds: ({ cost }) => cost,
      },
    ],
  };
}
