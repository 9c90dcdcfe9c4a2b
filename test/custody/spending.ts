/** The budgets of swaps and of a kind without caps, over sample limits. */
import type { Lamports } from '../../src/core/amount.ts';
import { DAY_MS } from '../../src/core/durations.ts';
import type { Kind } from '../../src/custody/kernel/operation.ts';
import {
  type Budget,
  type Cap,
  checkIntent as checkBudget,
  checkCap,
  type Entry,
  usedOf,
} from '../../src/custody/kernel/spending-limits.ts';
import { COST_DAY, type SwapLimits, swapBudget } from '../../src/custody/swap/limits.ts';

export type Limits = SwapLimits & { readonly floor: Lamports };

export const budgetOf = (kind: Kind, limits: Limits): Budget =>
  kind === 'swap' ? swapBudget(limits, () => limits.floor) : { kind, keeps: () => limits.floor, caps: [] };

export const checkIntent = ({
  kind,
  limits,
  ...asked
}: Omit<Parameters<typeof checkBudget>[0], 'budget'> & { kind: Kind; limits: Limits }) =>
  checkBudget({ ...asked, budget: budgetOf(kind, limits) });

function capOf(limits: Limits, name: string): Cap {
  const cap = budgetOf('swap', limits).caps.find((each) => each.name === name);
  if (!cap) throw new Error(`no cap ${name}`);
  return cap;
}

export const checkCost = (operations: readonly Entry[], cost: bigint, limits: Limits, now: number) =>
  checkCap(capOf(limits, COST_DAY), 'swap', operations, { amount: 0n, cost }, now);

/** Whether the signed operations leave room in every cap for one more signature. */
export const maySign = (
  operations: readonly Entry[],
  added: { readonly amount: bigint; readonly cost: bigint },
  limits: Limits,
  now: number,
): boolean => {
  const signed = operations.filter(({ state }) => state !== 'planned');
  return budgetOf('swap', limits).caps.every((cap) => checkCap(cap, 'swap', signed, added, now).ok);
};

const sumOver =
  (of: Cap['of']) =>
  (operations: readonly Entry[], now: number, windowMs: number): bigint =>
    usedOf(
      { name: 'window', unit: 'lamports', windowMs, maximum: 0n, of, adds: () => 0n },
      'swap',
      operations,
      now,
    );

/** Moved by swaps in the window that ends now. */
export const swappedLamports = sumOver(({ amount }) => amount);
/** Cost of the swaps of the day that ends now. */
export const costLamports = (operations: readonly Entry[], now: number): bigint =>
  sumOver(({ cost }) => cost)(operations, now, DAY_MS);
