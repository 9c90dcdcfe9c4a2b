/**
 * Decides what may be spent now: balance, reservations and the caps of each kind. Pure sums over the
 * journal's rows. The caller holds the critical section that keeps the rows unchanged.
 * @module
 */
import { formatAmount, type Lamports, lamports, SOL_DECIMALS } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { Journal } from './journal.ts';
import type { Kind, Operation, OperationKind } from './operation.ts';
import type { BalanceReader } from './solana-view.ts';
import { effectOf } from './state-machine.ts';

/** False if a limit is not a number: such a limit would never be exceeded. */
export const areLimits = (limits: object): boolean =>
  Object.values(limits).every(
    (limit: unknown) => typeof limit === 'bigint' || (typeof limit === 'number' && Number.isFinite(limit)),
  );

/** A balance and its slot. */
export type Balance = { readonly lamports: Lamports; readonly slot: bigint };

/** The members of an operation that the sums use; one entry may be the sum of several old operations. */
export type Entry = Pick<
  Operation,
  'kind' | 'state' | 'createdAt' | 'signedAt' | 'amount' | 'reserved' | 'unsettled' | 'cost' | 'releasedSlot'
> & {
  /** Number of operations; absent for one. */
  readonly rows?: number;
};

type Added = { readonly amount: bigint; readonly cost: bigint };

/** An upper bound for one kind, declared by its module and enforced here. */
export type Cap = {
  /** Stable name, shown in refusals and in the status. */
  readonly name: string;
  readonly unit: 'lamports' | 'count';
  /** Null for open operations of any age. */
  readonly windowMs: number | null;
  readonly maximum: bigint;
  /** The kind plans more operations than a window may hold, so planned ones of any age count. */
  readonly countsWaiting?: boolean;
  /** The amount that an operation of the kind counts against the cap. */
  of(entry: Entry): bigint;
  /**
   * The amount that a new operation adds to the cap. Its cost is 0 until it is known, immediately before the
   * signature.
   */
  adds(added: Added): bigint;
};

/** The spending limits of one kind. */
export type Budget = {
  readonly kind: Kind;
  /** Largest amount of one operation; absent without a bound. */
  readonly maxAmount?: Lamports;
  /** Lamports that the kind must leave in the reserve. */
  keeps(): bigint;
  readonly caps: readonly Cap[];
};

/** Sold creations for which no operation has reserved SOL yet. */
export type Sold = {
  /** Future cost of paid requests in lamports, and their number. */
  readonly paid: bigint;
  readonly paidCount: bigint;
  /** The same for requests that await payment. */
  readonly open: bigint;
  readonly openCount: bigint;
};

/** One cap as shown in the status. */
export type Limit = {
  readonly name: string;
  readonly unit: 'lamports' | 'count';
  readonly windowMs: number | null;
  readonly used: bigint;
  readonly maximum: bigint;
  /** Unix milliseconds when there is room again; null while there is room. */
  readonly availableAt: number | null;
};

export type LimitReached = {
  readonly ok: false;
  readonly code: 'LIMIT_REACHED';
  readonly limit: string;
  readonly unit: Limit['unit'];
  readonly maximum: bigint;
  readonly used: bigint;
  /** Unix milliseconds when enough room is available again, if only time has to pass. */
  readonly availableAt: number;
};

export type SpendingVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'INSUFFICIENT_BALANCE'; readonly available: Lamports }
  | { readonly ok: false; readonly code: 'AMOUNT_TOO_LARGE'; readonly maximum: Lamports }
  | LimitReached
  /** The balance is from before an outcome that it must include. */
  | { readonly ok: false; readonly code: 'BALANCE_OUTDATED'; readonly minSlot: bigint };

/** Retry delay for a cap without a window: its room depends on other systems, not on time. */
const OPEN_RETRY_MS = 60_000;

const sum = (values: Iterable<bigint>): Lamports => {
  let total = 0n;
  for (const value of values) total += value;
  return lamports(total);
};

/** Lamports set aside for operations whose outcome is not in the balance yet. */
export const reservedLamports = (operations: readonly Entry[]): Lamports =>
  sum(operations.map((op) => op.reserved));

/** Lamports sent whose counterpart has not arrived. */
export const unsettledLamports = (operations: readonly Entry[]): Lamports =>
  sum(operations.map((op) => op.unsettled));

/** The oldest slot whose balance shows every outcome that is no longer reserved. */
export const releasedSlot = (operations: readonly Entry[]): bigint =>
  operations.reduce(
    (most, op) => (op.releasedSlot !== null && op.releasedSlot > most ? op.releasedSlot : most),
    0n,
  );

/** The rest of a balance after the reservations and `keeps`; may be negative. */
export const spendable = (balance: Balance, operations: readonly Entry[], keeps: bigint): Lamports =>
  lamports(balance.lamports - reservedLamports(operations) - keeps);

/**
 * The time from which a window counts an operation: its signature; before that its plan, or the present for a
 * cap that counts waiting operations. The executor checks each signature against the signed ones, so no
 * window contains more
 * of them than its cap.
 */
const countedFrom = (cap: Cap, { state, signedAt, createdAt }: Entry, now: number): number =>
  cap.countsWaiting && state === 'planned' ? Math.max(now, createdAt) : (signedAt ?? createdAt);

const countedBy = (cap: Cap, kind: Kind, operations: readonly Entry[], now: number): Entry[] =>
  operations.filter((op) => {
    if (op.kind !== kind) return false;
    return cap.windowMs === null || countedFrom(cap, op, now) > now - cap.windowMs;
  });

/** The amount of a cap that a kind's operations use. */
export const usedOf = (cap: Cap, kind: Kind, operations: readonly Entry[], now: number): bigint =>
  sum(countedBy(cap, kind, operations, now).map((op) => cap.of(op)));

/** Whether a cap has room for an addition. */
export function checkCap(
  cap: Cap,
  kind: Kind,
  operations: readonly Entry[],
  added: Added,
  now: number,
): { readonly ok: true } | LimitReached {
  const used = usedOf(cap, kind, operations, now);
  const { name: limit, unit, maximum } = cap;
  const addition = cap.adds(added);
  if (used + addition <= maximum) return { ok: true };
  const availableAt = freeAt(cap, countedBy(cap, kind, operations, now), addition, now);
  return { ok: false, code: 'LIMIT_REACHED', limit, unit, maximum, used, availableAt };
}

/** When enough entries have left the window to make room for an addition. */
function freeAt(cap: Cap, counted: readonly Entry[], addition: bigint, now: number): number {
  if (cap.windowMs === null) return now + OPEN_RETRY_MS;
  const oldestFirst = counted.toSorted((a, b) => countedFrom(cap, a, now) - countedFrom(cap, b, now));
  let used: bigint = sum(oldestFirst.map((op) => cap.of(op)));
  for (const op of oldestFirst) {
    used -= cap.of(op);
    if (used + addition <= cap.maximum) return countedFrom(cap, op, now) + cap.windowMs + 1;
  }
  return now + cap.windowMs;
}

/**
 * Whether a new operation may reserve `reserved` lamports; `amount` of them counts against the caps of its
 * kind.
 *
 * @param operations all that still count: reserved, unsettled, or created within the last day
 */
export function checkIntent(p: {
  readonly budget: Budget;
  readonly amount: Lamports;
  readonly reserved: Lamports;
  readonly balance: Balance;
  readonly operations: readonly Entry[];
  readonly now: number;
}): SpendingVerdict {
  const { budget, amount, balance, operations, now } = p;
  const minSlot = releasedSlot(operations);
  if (balance.slot < minSlot) return { ok: false, code: 'BALANCE_OUTDATED', minSlot };
  // Checked before the balance: an amount above the cap is refused regardless of the balance.
  if (budget.maxAmount !== undefined && amount > budget.maxAmount)
    return { ok: false, code: 'AMOUNT_TOO_LARGE', maximum: budget.maxAmount };
  const available = spendable(balance, operations, budget.keeps());
  if (available < p.reserved) return { ok: false, code: 'INSUFFICIENT_BALANCE', available };
  for (const cap of budget.caps) {
    const verdict = checkCap(cap, budget.kind, operations, { amount, cost: 0n }, now);
    if (!verdict.ok) return verdict;
  }
  return { ok: true };
}

/** The caps of a kind, as shown in the status. */
export const limitsOf = ({ kind, caps }: Budget, operations: readonly Entry[], now: number): Limit[] =>
  caps.map((cap) => {
    const { name, unit, windowMs, maximum } = cap;
    const used = usedOf(cap, kind, operations, now);
    const full = used >= maximum;
    const availableAt = full ? freeAt(cap, countedBy(cap, kind, operations, now), 1n, now) : null;
    return { name, unit, windowMs, used, maximum, availableAt };
  });

/** An amount for messages: `0.5 SOL`. */
export const solText = (amount: bigint): string => `${formatAmount(amount, SOL_DECIMALS)} SOL`;

/** After this time an operation that passed the check and was not signed is checked again. */
const PASSED_MS = 60_000;

/**
 * A kind that reserves its cost when it is sold, regardless of the balance. Each operation is signed only
 * while the balance covers it in addition to four other sums. These are the floor, everything signed, the
 * reservations of other kinds, and the operations of this kind that are about to be signed.
 */
export function coveredKind(
  kind: OperationKind,
  p: {
    readonly journal: Pick<Journal, 'get' | 'open' | 'recent' | 'releasedSlot'>;
    readonly budget: Budget;
    readonly readBalance: BalanceReader;
    readonly now: () => number;
  },
): OperationKind {
  const { journal, budget, now } = p;
  /** Operations that passed the check, with the attempt and its time in Unix milliseconds. */
  const passed = new Map<string, { readonly attempt: number; readonly at: number }>();

  /** Lamports that may still leave for operations other than this one. */
  function committed({ id, kind: own }: Operation): bigint {
    for (const [name, { attempt, at }] of passed) {
      const stored = journal.get(name);
      const isPending = stored?.state === 'planned' && stored.attempt === attempt;
      if (!isPending || Math.abs(now() - at) > PASSED_MS) passed.delete(name);
    }
    return reservedLamports(
      journal
        .open()
        .filter((op) => op.id !== id && (op.kind !== own || op.state === 'signed' || passed.has(op.id))),
    );
  }

  /**
   * Operations of the kind that count against the caps before this one: signed, about to be signed, or planned
   * earlier. A held one is not about to be signed.
   */
  function ahead({ id, seq, kind: own }: Operation): Operation[] {
    const planned = journal
      .open()
      .filter((op) => op.kind === own && op.state === 'planned' && effectOf(op) === 'prepare');
    const signed = journal.recent(own, now()).filter(({ state }) => state !== 'planned');
    return [...signed, ...planned.filter((op) => op.id !== id && (op.seq < seq || passed.has(op.id)))];
  }

  return {
    ...kind,

    /**
     * @throws AppError UPSTREAM_FAILED `short_of_sol`, `balance_outdated`, or the name of the exhausted cap;
     * the preparation
     * is retried
     */
    async prepare(operation) {
      passed.delete(operation.id);
      const balance = await p.readBalance(journal.releasedSlot());
      // A reservation may have been released during the read of the balance, which does not show that outcome
      // yet.
      if (balance.slot < journal.releasedSlot()) throw upstreamFailed('reserve', 'balance_outdated');
      if (balance.lamports < committed(operation) + operation.reserved + budget.keeps())
        throw upstreamFailed('reserve', 'short_of_sol');
      const added = { amount: operation.amount, cost: 0n };
      const before = ahead(operation);
      const reached = budget.caps.find((cap) => !checkCap(cap, operation.kind, before, added, now()).ok);
      if (reached) throw upstreamFailed('reserve', reached.name);
      passed.set(operation.id, { attempt: operation.attempt, at: now() });
      let isReady = false;
      try {
        const prepared = await kind.prepare(operation);
        isReady = prepared.ok;
        return prepared;
      } finally {
        if (!isReady) passed.delete(operation.id);
      }
    },
  };
}
