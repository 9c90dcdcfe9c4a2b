/**
 * Decides what may be spent now, from the balance, the reservations and the limits of each kind. It only adds up rows
 * of the journal. Call it in a critical section, so that the rows do not change meanwhile.
 * @module
 */
import { formatAmount, type Lamports, lamports, SOL_DECIMALS } from '../../core/amount.ts';
import type { OperationLimit } from '../../core/operation-limits.ts';
import type { LimitUse } from '../operator-api.ts';
import type { Operation } from './operation.ts';

/** False if a limit is not a bigint: a comparison with such a value would never refuse an operation. */
export const areLimits = (limits: object): boolean =>
  Object.values(limits).every((limit: unknown) => typeof limit === 'bigint');

export type Balance = { readonly lamports: Lamports; readonly slot: bigint };

/** The members of an operation that the sums use. One entry can represent several operations or open sales. */
export type Entry = Pick<
  Operation,
  'kind' | 'state' | 'createdAt' | 'signedAt' | 'amount' | 'reserved' | 'unsettled' | 'cost'
> & {
  /** Number of operations; absent if it is one. */
  readonly rows?: number;
  /** The individual operations, if their times differ. A window contains all of them or none. */
  readonly each?: () => readonly Entry[];
};

/** An operation that begins or is signed. Its cost is 0 until it is known, right before signing. */
type Added = { readonly amount: bigint; readonly cost: bigint };

export type Limit = Omit<OperationLimit, 'setting' | 'default' | 'beyond'> & {
  /** Stable name, shown in refusals and in the status. */
  readonly name: string;
  readonly maximum: bigint;
};

export type Bounds = {
  readonly limits: readonly Limit[];
  /** Lamports that the kind must leave in the reserve. */
  readonly keeps: bigint;
};

export type LimitReached = {
  readonly ok: false;
  readonly code: 'LIMIT_REACHED';
  readonly limit: Limit;
  readonly used: bigint;
  /** When the limit will have enough room, in Unix milliseconds, if only time has to pass. */
  readonly availableAt: number;
};

export type SpendingVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'INSUFFICIENT_BALANCE'; readonly available: Lamports }
  | LimitReached;

/** Retry delay for a limit without a window: its room depends on other systems, not on time. */
const OPEN_RETRY_MS = 60_000;

const sum = (values: Iterable<bigint>): Lamports => {
  let total = 0n;
  for (const value of values) total += value;
  return lamports(total);
};

/** Lamports set aside for operations whose outcome is not in the balance yet. */
export const reservedLamports = (operations: readonly Entry[]): Lamports =>
  sum(operations.map((op) => op.reserved));

/** The balance minus the reservations and `keeps`; may be negative. */
export const spendable = (balance: Balance, operations: readonly Entry[], keeps: bigint): Lamports =>
  lamports(balance.lamports - reservedLamports(operations) - keeps);

/**
 * The time from which a window counts an operation. A signed operation counts from when it was signed, and a planned
 * one from when it was stored. A limit that counts queued operations counts a planned one as if it started now. Before
 * each signature the executor checks the limit against the signed operations, so they never exceed the limit in any
 * window.
 */
const countedFrom = ({ countsQueued }: Limit, { state, signedAt, createdAt }: Entry, now: number): number =>
  countsQueued && state === 'planned' ? Math.max(now, createdAt) : (signedAt ?? createdAt);

const countedBy = (limit: Limit, operations: readonly Entry[], now: number): Entry[] =>
  operations.filter(
    (op) =>
      op.kind === limit.kind &&
      (limit.windowMs === null || (limit.windowMs > 0 && countedFrom(limit, op, now) > now - limit.windowMs)),
  );

function countOf({ counts }: Limit, { state, amount, unsettled, cost, rows = 1 }: Entry): bigint {
  switch (counts) {
    case 'amount':
      return amount;
    case 'unsettled':
      // A planned operation becomes unsettled when it is signed. It is counted even before that, so that the limit
      // never misses it.
      return state === 'planned' ? amount : unsettled;
    case 'cost':
      return cost;
    case 'operations':
      return state === 'failed' ? 0n : BigInt(rows);
  }
}

const additionTo = ({ counts }: Limit, { amount, cost }: Added): bigint =>
  counts === 'operations' ? 1n : counts === 'cost' ? cost : amount;

const usedOf = (limit: Limit, operations: readonly Entry[], now: number): bigint =>
  sum(countedBy(limit, operations, now).map((op) => countOf(limit, op)));

/** The refusal of this limit; undefined if the limit has room for the addition. */
export function checkLimit(
  limit: Limit,
  operations: readonly Entry[],
  added: Added,
  now: number,
): LimitReached | undefined {
  const used = usedOf(limit, operations, now);
  const addition = additionTo(limit, added);
  // An operation that moves no lamports passes even if the limit was lowered below its present use.
  const movesNothing = limit.counts === 'amount' && addition === 0n;
  if (movesNothing || used + addition <= limit.maximum) return undefined;
  const availableAt = freeAt(limit, operations, addition, now);
  return { ok: false, code: 'LIMIT_REACHED', limit, used, availableAt };
}

/** When enough entries will have left the window to make room for an addition, in Unix milliseconds. */
function freeAt(limit: Limit, operations: readonly Entry[], addition: bigint, now: number): number {
  const { windowMs, maximum } = limit;
  if (windowMs === null) return now + OPEN_RETRY_MS;
  const counted = countedBy(limit, operations, now).flatMap((entry) => entry.each?.() ?? [entry]);
  const oldestFirst = counted.toSorted((a, b) => countedFrom(limit, a, now) - countedFrom(limit, b, now));
  let used: bigint = sum(oldestFirst.map((op) => countOf(limit, op)));
  for (const op of oldestFirst) {
    used -= countOf(limit, op);
    if (used + addition <= maximum) return countedFrom(limit, op, now) + windowMs + 1;
  }
  return now + windowMs;
}

/**
 * Whether a new operation may reserve `reserved` lamports; `amount` of them counts against the limits of its kind.
 * @param balance    includes the outcome of every operation whose reservation has ended
 * @param operations all operations that reserve lamports, are unsettled or due, or were created or signed within the
 * last day
 */
export function checkIntent(asked: {
  readonly bounds: Bounds;
  readonly amount: Lamports;
  readonly reserved: Lamports;
  readonly balance: Balance;
  readonly operations: readonly Entry[];
  readonly now: number;
}): SpendingVerdict {
  const { bounds, amount, balance, operations, now } = asked;
  const available = spendable(balance, operations, bounds.keeps);
  if (available < asked.reserved) return { ok: false, code: 'INSUFFICIENT_BALANCE', available };
  return reachedLimit(bounds.limits, operations, { amount, cost: 0n }, now) ?? { ok: true };
}

export function reachedLimit(
  limits: readonly Limit[],
  operations: readonly Entry[],
  added: Added,
  now: number,
): LimitReached | undefined {
  for (const limit of limits) {
    const reached = checkLimit(limit, operations, added, now);
    if (reached) return reached;
  }
  return undefined;
}

export function limitUse(limit: Limit, operations: readonly Entry[], now: number): LimitUse {
  const { name, unit, windowMs, label, maximum } = limit;
  const used = usedOf(limit, operations, now);
  const availableAt = used >= maximum ? freeAt(limit, operations, 1n, now) : null;
  return { name, unit, windowMs, label, used, maximum, availableAt };
}

export const solText = (amount: bigint): string => `${formatAmount(amount, SOL_DECIMALS)} SOL`;
