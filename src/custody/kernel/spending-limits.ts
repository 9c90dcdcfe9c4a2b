/**
 * What may be spent now: balance, reservations, caps, exposure. Pure sums over the journal's rows; the caller holds the
 * critical section in which they are true.
 * @module
 */
import { formatAmount, type Lamports, lamports, SOL_DECIMALS } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import type { Operation } from './operation.ts';

/** Caps of the `swap` kind and the floor that all kinds keep, from configuration. */
export type Limits = {
  readonly maxOperation: Lamports;
  readonly maxHour: Lamports;
  readonly maxDay: Lamports;
  readonly maxUnsettled: Lamports;
  readonly maxCostDay: Lamports;
  /** Worst-case cost of one swap against the independent price, in basis points of its amount. */
  readonly maxCostBps: number;
  readonly floor: Lamports;
};

/** What is no number compares as no limit at all. */
export const areLimits = (limits: Limits): boolean =>
  Object.values(limits).every(
    (limit: unknown) => typeof limit === 'bigint' || (typeof limit === 'number' && Number.isFinite(limit)),
  );

/** A balance as of a slot. */
export type Balance = { readonly lamports: Lamports; readonly slot: bigint };

/** What the sums read of an operation, or of several old ones together. */
export type Entry = Pick<
  Operation,
  'kind' | 'state' | 'createdAt' | 'amount' | 'reserved' | 'unsettled' | 'cost' | 'releasedSlot'
>;

export type LimitName = 'hour' | 'day' | 'unsettled' | 'cost_day';

export type LedgerVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'INSUFFICIENT_BALANCE'; readonly available: Lamports }
  | { readonly ok: false; readonly code: 'AMOUNT_TOO_LARGE'; readonly maximum: Lamports }
  | {
      readonly ok: false;
      readonly code: 'SWAP_LIMIT_REACHED';
      readonly limit: LimitName;
      readonly maximum: Lamports;
      readonly used: Lamports;
      /** Unix milliseconds when so much room is back, as far as the clock alone decides it. */
      readonly availableAt: number;
    }
  /** The balance was read before an outcome that it must show. */
  | { readonly ok: false; readonly code: 'BALANCE_OUTDATED'; readonly minSlot: bigint };

/** Room depends on bridges, not on a clock: how long to wait before asking again. */
const UNSETTLED_RETRY_MS = 60_000;

const sum = (values: Iterable<bigint>): Lamports => {
  let total = 0n;
  for (const value of values) total += value;
  return lamports(total);
};

/** Lamports set aside for operations whose outcome the balance does not show yet. */
export const reservedLamports = (operations: readonly Entry[]): Lamports =>
  sum(operations.map((op) => op.reserved));

export const unsettledLamports = (operations: readonly Entry[]): Lamports =>
  sum(operations.map((op) => op.unsettled));

/** The oldest slot at which a balance shows every outcome that is no longer reserved. */
export const releasedSlot = (operations: readonly Entry[]): bigint =>
  operations.reduce(
    (most, op) => (op.releasedSlot !== null && op.releasedSlot > most ? op.releasedSlot : most),
    0n,
  );

const swapsSince = (operations: readonly Entry[], since: number) =>
  operations.filter((op) => op.kind === 'swap' && op.createdAt > since);

/** Moved by swaps in the window that ends now. */
export const swappedLamports = (operations: readonly Entry[], now: number, windowMs: number): Lamports =>
  sum(swapsSince(operations, now - windowMs).map((op) => op.amount));

export const costLamports = (operations: readonly Entry[], now: number): Lamports =>
  sum(swapsSince(operations, now - DAY_MS).map((op) => op.cost));

/** What the floor and the reservations leave of a balance; may be below zero. */
export const spendable = (balance: Balance, operations: readonly Entry[], limits: Limits): Lamports =>
  lamports(balance.lamports - reservedLamports(operations) - limits.floor);

/** When enough of the window's amounts have aged out for `amount` more. */
function windowFreeAt(
  operations: readonly Entry[],
  p: { amount: bigint; maximum: bigint; windowMs: number; now: number; of: (op: Entry) => bigint },
): number {
  const counted = swapsSince(operations, p.now - p.windowMs)
    .filter((op) => p.of(op) > 0n)
    .sort((a, b) => a.createdAt - b.createdAt);
  let used: bigint = sum(counted.map(p.of));
  for (const op of counted) {
    used -= p.of(op);
    if (used + p.amount <= p.maximum) return op.createdAt + p.windowMs + 1;
  }
  return p.now + p.windowMs;
}

/**
 * May a new operation reserve `reserved` lamports, `amount` of them counted against the caps of swaps?
 *
 * @param operations all that still counts: reserved, unsettled, or created within the last day
 */
export function checkIntent(p: {
  readonly kind: Operation['kind'];
  readonly amount: Lamports;
  readonly reserved: Lamports;
  readonly balance: Balance;
  readonly operations: readonly Entry[];
  readonly limits: Limits;
  readonly now: number;
}): LedgerVerdict {
  const { amount, balance, operations, limits, now } = p;
  const minSlot = releasedSlot(operations);
  if (balance.slot < minSlot) return { ok: false, code: 'BALANCE_OUTDATED', minSlot };
  // Before the balance: an amount over the cap stays refused however much the reserve holds.
  if (p.kind === 'swap' && amount > limits.maxOperation)
    return { ok: false, code: 'AMOUNT_TOO_LARGE', maximum: limits.maxOperation };
  const available = spendable(balance, operations, limits);
  if (available < p.reserved) return { ok: false, code: 'INSUFFICIENT_BALANCE', available };
  if (p.kind !== 'swap') return { ok: true };
  for (const [limit, maximum, windowMs] of [
    ['hour', limits.maxHour, HOUR_MS],
    ['day', limits.maxDay, DAY_MS],
  ] as const) {
    const used = swappedLamports(operations, now, windowMs);
    if (used + amount <= maximum) continue;
    const availableAt = windowFreeAt(operations, { amount, maximum, windowMs, now, of: (op) => op.amount });
    return { ok: false, code: 'SWAP_LIMIT_REACHED', limit, maximum, used, availableAt };
  }
  // A planned swap will be unsettled once it is signed: counting it now closes the gap between the two.
  const used = sum(
    operations.map((op) => (op.kind === 'swap' && op.state === 'planned' ? op.amount : op.unsettled)),
  );
  if (used + amount > limits.maxUnsettled) {
    const availableAt = now + UNSETTLED_RETRY_MS;
    return {
      ok: false,
      code: 'SWAP_LIMIT_REACHED',
      limit: 'unsettled',
      maximum: limits.maxUnsettled,
      used,
      availableAt,
    };
  }
  return checkCost(operations, 0n, limits, now);
}

/** Whether the day still has room for `cost` lamports of bridge fees and spread. */
export function checkCost(
  operations: readonly Entry[],
  cost: bigint,
  limits: Limits,
  now: number,
): LedgerVerdict {
  const used = costLamports(operations, now);
  const maximum = limits.maxCostDay;
  if (used + cost <= maximum) return { ok: true };
  const of = (op: Entry): bigint => op.cost;
  const availableAt = windowFreeAt(operations, { amount: cost, maximum, windowMs: DAY_MS, now, of });
  return { ok: false, code: 'SWAP_LIMIT_REACHED', limit: 'cost_day', maximum, used, availableAt };
}

/** For messages: `0.5 SOL`. */
export const solText = (amount: bigint): string => `${formatAmount(amount, SOL_DECIMALS)} SOL`;
