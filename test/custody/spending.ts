/** The limits of swaps. */
import type { LimitName } from '../../src/core/operation-limits.ts';
import type { Kind } from '../../src/custody/kernel/operation.ts';
import {
  type Bounds,
  checkIntent as checkBounds,
  checkLimit,
  type Entry,
  type Limit,
} from '../../src/custody/kernel/spending-limits.ts';
import { CustodyBounds, type CustodyLimits } from '../../src/custody/limits.ts';

const boundsOf = (kind: Kind, limits: CustodyLimits): Bounds => new CustodyBounds(limits).of(kind);

export const checkIntent = ({
  kind,
  limits,
  ...asked
}: Omit<Parameters<typeof checkBounds>[0], 'bounds'> & { kind: Kind; limits: CustodyLimits }) =>
  checkBounds({ ...asked, bounds: boundsOf(kind, limits) });

/** A limit of swaps. */
export function limitOf(limits: CustodyLimits, name: LimitName): Limit {
  const limit = boundsOf('swap', limits).limits.find((each) => each.name === name);
  if (!limit) throw new Error(`no limit ${name}`);
  return limit;
}

export const checkCost = (operations: readonly Entry[], cost: bigint, limits: CustodyLimits, now: number) =>
  checkLimit(limitOf(limits, 'cost_day'), operations, { amount: 0n, cost }, now);
