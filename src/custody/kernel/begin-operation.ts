/**
 * Begins operations of every kind. One critical section contains the module's decision, the check of balance and
 * limits, the intent, and all rows that belong to the intent.
 * @module
 */
import type { Lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import { type UpstreamFailure, upstreamFailure } from '../../core/errors.ts';
import { atPriority } from '../../providers/admission.ts';
import type { Refusal, Refused } from '../api.ts';
import type { ChainPort } from '../nodes/solana-view.ts';
import type { Journal } from './journal.ts';
import { type Facts, type Kind, type Operation, plannedOperation } from './operation.ts';
import type { Storage } from './ports.ts';
import { type Balance, type Bounds, checkIntent, type SpendingVerdict, solText } from './spending-limits.ts';

/** Reads the finalized balance of the reserve at this slot or later. @throws AppError UPSTREAM_FAILED */
export type BalanceReader = (minSlot: bigint) => Promise<Balance>;

/** Callers share one read of the balance for this long. */
const FRESH_MS = 1_000;

export function createBalanceReader(chain: Pick<ChainPort, 'balance'>, now: () => number): BalanceReader {
  let latest: { at: number; balance: Promise<Balance> } | undefined;
  return async (minSlot) => {
    const age = latest ? now() - latest.at : FRESH_MS;
    if (latest && age >= 0 && age < FRESH_MS) {
      // A failed read is shared too, so an outage does not cause one call for each caller.
      const shared = await latest.balance;
      if (shared.slot >= minSlot) return shared;
    }
    // The service's own work may share this read, so it never waits for a caller's budget.
    const balance = atPriority('own', () => chain.balance(minSlot));
    latest = { at: now(), balance };
    return balance;
  };
}

export type BeginContext = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly reserveAddress: string;
  readonly readBalance: BalanceReader;
  readonly boundsOf: (kind: Kind) => Bounds;
  readonly now: () => number;
  readonly stopBeginning: (kind: Kind) => Promise<string | undefined>;
};

/** Whether an address is the reserve's, now or earlier. */
export const isReserve = ({ reserveAddress, journal }: BeginContext, address: string): boolean =>
  address === reserveAddress || journal.isSigner(address);

export type Intent = {
  /** Lamports that the operation moves; zero when it moves only tokens. */
  readonly amount: Lamports;
  readonly reserved: Lamports;
  readonly plan: Facts;
  /** Writes the module's own rows in the same critical section as the intent. */
  readonly store?: () => void;
};

/** A module's decision: an intent, or the value that the module returns instead (`declined`). */
export type Decision<Declined = never> =
  | { readonly ok: true; readonly intent: Intent }
  | { readonly ok: false; readonly declined: Declined };

export type NotBegun =
  | { readonly code: 'STOPPED'; readonly reason: string }
  | ({ readonly code: 'UNREADABLE' } & UpstreamFailure)
  | Exclude<SpendingVerdict, { readonly ok: true }>;

/** Why no operation starts: the kernel's reason, or the module's. */
type Stopped<Declined> =
  | { readonly type: 'refused'; readonly why: NotBegun }
  | { readonly type: 'declined'; readonly declined: Declined };

export type Begun<Declined = never> =
  /** `known`: an earlier call has stored the operation. */
  { readonly type: 'begun' | 'known'; readonly operation: Operation } | Stopped<Declined>;

export type Verdict<Declined = never> =
  | { readonly type: 'possible'; readonly intent: Intent }
  | Stopped<Declined>;

/** Maximum reads of the balance. A read is outdated if another operation's reservation ends meanwhile. */
const MAX_READS = 3;

/**
 * Begins an operation once: stores its intent. The executor's `drive` then runs its steps.
 * @param id natural key, such as `absr:2026-03-01`; each id starts only once
 * @param decide runs in the critical section and only reads
 */
export async function beginOperation<Declined = never>(
  context: BeginContext,
  kind: Kind,
  id: string,
  decide: () => Decision<Declined>,
): Promise<Begun<Declined>> {
  const { journal, storage } = context;
  const insert = (balance: Balance): Begun<Declined> => {
    // Another call may have started the same id while the balance was read.
    const earlier = journal.get(id);
    if (earlier) return { type: 'known', operation: earlier };
    const judged = judge(context, kind, balance, decide);
    if (judged.type !== 'possible') return judged;
    return { type: 'begun', operation: queueOperation(context, kind, id, judged.intent) };
  };
  const known = journal.get(id);
  const begun: Begun<Declined> = known
    ? { type: 'known', operation: known }
    : await withBalance(context, kind, (balance) => storage.transaction(() => insert(balance)));
  // Even the row of an earlier call may not be durable yet.
  if (begun.type === 'begun' || begun.type === 'known') await storage.sync();
  return begun;
}

/** Makes the reads and checks of `beginOperation` for a new id, and stores nothing. */
export const checkOperation = <Declined = never>(
  context: BeginContext,
  kind: Kind,
  decide: () => Decision<Declined>,
): Promise<Verdict<Declined>> =>
  withBalance(context, kind, (balance) => judge(context, kind, balance, decide));

/** The result of `act` on a balance, if signing is not stopped and the balance can be read. */
async function withBalance<Result>(
  context: BeginContext,
  kind: Kind,
  act: (balance: Balance) => Result,
): Promise<Result | Extract<Stopped<never>, { type: 'refused' }>> {
  const reason = await context.stopBeginning(kind);
  if (reason !== undefined) return { type: 'refused', why: { code: 'STOPPED', reason } };
  const acted = await onBalance(context, act);
  return 'result' in acted ? acted.result : { type: 'refused', why: { code: 'UNREADABLE', ...acted } };
}

/**
 * Calls `act` with a balance that includes the outcome of every operation whose reservation has ended. There is no
 * `await` between this check and `act`.
 */
export async function onBalance<Result>(
  { journal, readBalance }: Pick<BeginContext, 'journal' | 'readBalance'>,
  act: (balance: Balance) => Result,
): Promise<{ readonly result: Result } | UpstreamFailure> {
  for (let reads = 0; reads < MAX_READS; reads++) {
    const balance = await readBalance(journal.releasedSlot()).catch(upstreamFailure);
    if ('reason' in balance) return balance;
    // Another operation's reservation may have ended during the read, so that the balance lacks its outcome.
    if (balance.slot >= journal.releasedSlot()) return { result: act(balance) };
  }
  return { reason: 'balance_outdated', upstream: null };
}

/** The decision on a new operation. Call in a critical section. */
function judge<Declined>(
  { journal, reserveAddress, boundsOf, now }: BeginContext,
  kind: Kind,
  balance: Balance,
  decide: () => Decision<Declined>,
): Verdict<Declined> {
  const decision = decide();
  if (!decision.ok) return { type: 'declined', declined: decision.declined };
  const { amount, reserved } = decision.intent;
  const operations = journal.counting(reserveAddress, now(), kind);
  const verdict = checkIntent({ bounds: boundsOf(kind), amount, reserved, balance, operations, now: now() });
  if (!verdict.ok) return { type: 'refused', why: verdict };
  return { type: 'possible', intent: decision.intent };
}

/**
 * Stores an intent without checks, for operations whose cost was reserved when they were sold. Their balance and limits
 * are checked when they are signed. Call inside a storage transaction.
 */
export function queueOperation(
  {
    journal,
    reserveAddress: signer,
    now,
  }: Pick<BeginContext, 'reserveAddress' | 'now'> & { readonly journal: Pick<Journal, 'insert'> },
  kind: Kind,
  id: string,
  { amount, reserved, plan, store }: Intent,
): Operation {
  store?.();
  return journal.insert(plannedOperation({ id, kind, signer, amount, reserved, plan, now: now() }));
}

export const refused = (refusal: Refusal): Refused => ({ type: 'refused', refusal });

export const upstreamRefusal = ({ reason, upstream }: UpstreamFailure): Refusal => ({
  code: 'UPSTREAM_FAILED',
  message: 'The bridge or the chain did not respond as expected.',
  details: { ...(upstream === null ? {} : { upstream }), reason: `upstream_${reason}` },
});

export function spendingRefusal(
  verdict: Extract<NotBegun, { readonly ok: false }>,
  now: number,
): Refusal & { readonly code: 'INSUFFICIENT_BALANCE' | 'AMOUNT_TOO_LARGE' | 'SPENDING_LIMIT_REACHED' } {
  if (verdict.code === 'INSUFFICIENT_BALANCE') {
    const left = verdict.available > 0n ? verdict.available : 0n;
    return {
      code: verdict.code,
      message: `The reserve can spend ${solText(left)} on this now. The rest is reserved, or must stay in the reserve.`,
      details: { availableLamports: left.toString() },
    };
  }
  const { limit, used, availableAt } = verdict;
  const text = (atoms: bigint) => (limit.unit === 'lamports' ? solText(atoms) : String(atoms));
  if (limit.windowMs === 0) {
    return {
      code: 'AMOUNT_TOO_LARGE',
      message: `The limit on ${limit.label} is ${text(limit.maximum)}.`,
      details: { maxAmountLamports: limit.maximum.toString() },
    };
  }
  return {
    code: 'SPENDING_LIMIT_REACHED',
    message: `The limit on ${limit.label}, ${text(limit.maximum)}, would be exceeded: ${text(used)} are already used.`,
    ...availableIn(limit.name, availableAt, now, {
      [limit.unit === 'lamports' ? 'maximumLamports' : 'maximum']: limit.maximum.toString(),
      [limit.unit === 'lamports' ? 'usedLamports' : 'used']: used.toString(),
    }),
  };
}

/** The refusal of a full limit, with its retry time. @param availableAt Unix milliseconds */
export function availableIn(
  limit: string,
  availableAt: number,
  now: number,
  details: Readonly<Record<string, string>> = {},
): Required<Pick<Refusal, 'retryAfterSeconds' | 'details'>> {
  const seconds = Math.max(Math.ceil((availableAt - now) / 1_000), 1);
  const retryAfterSeconds = Math.min(seconds, DAY_MS / 1_000);
  const nextAvailableAt = new Date(now + retryAfterSeconds * 1_000).toISOString();
  return { retryAfterSeconds, details: { limit, ...details, nextAvailableAt } };
}
