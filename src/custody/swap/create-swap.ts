/**
 * Accepts swap requests. A create responds to a repeat from the stored row, and decides the refusals that need no
 * quote. It begins the operation in one storage transaction, and drives it until its result is known. The executor
 * reads the quote and decides the limits again before it signs. An estimate makes the same decisions and begins no
 * swap.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import type { QuoteBudgets } from '../../core/call-limits.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { upstreamFailure } from '../../core/errors.ts';
import type {
  EstimateRequest,
  Refusal,
  RequestKey,
  SwapAnswer,
  SwapEstimate,
  SwapRequest,
  SwapRoom,
  SwapsRefused,
} from '../api.ts';
import {
  beginOperation,
  type Decision,
  rehearseOperation,
  upstreamRefusal,
} from '../kernel/begin-operation.ts';
import { lostRequestRefusal } from '../kernel/birth.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import {
  type Balance,
  checkIntent,
  type Entry,
  reachedLimit,
  type SpendingVerdict,
  spendable,
} from '../kernel/spending-limits.ts';
import { EstimateQuotes } from './estimate-quotes.ts';
import type { SwapMinimum } from './minimum.ts';
import { swapDebit, swapId } from './operation.ts';
import { SwapQuotas } from './quotas.ts';
import type { QuotedSwap, SwapQuotes } from './swap-quotes.ts';
import {
  createAnswer,
  limitRefusal,
  notBegunRefusal,
  reachedRefusal,
  refusalOfQuote,
  swapsStopped,
  tooSmallRefusal,
} from './swap-view.ts';

export type SwapCreationPorts = {
  readonly quotes: SwapQuotes;
  readonly quoteBudgets: QuoteBudgets;
  readonly randomId: () => string;
  /** The result of `work`, or undefined after `ms` milliseconds; the work continues. */
  readonly within: Within;
  /** Whether the key service failed at its last check. */
  readonly isKeyFailing: () => boolean;
};

const inProgress = (key: RequestKey | undefined): Refusal => ({
  code: 'IDEMPOTENCY_IN_PROGRESS',
  message: key
    ? 'This swap is still being prepared. Repeat the call with the same Idempotency-Key.'
    : 'This swap is still being prepared and may begin. A repeat without an Idempotency-Key would begin another one: look at GET /api/reserves/transactions first.',
  retryAfterSeconds: 5,
});

const KEY_REUSED: Refusal = {
  code: 'IDEMPOTENCY_KEY_REUSED',
  message: 'This Idempotency-Key was already used with a different request.',
};

const refused = (refusal: Refusal): SwapAnswer & { readonly type: 'refused' } => ({
  type: 'refused',
  replayed: false,
  refusal,
});

export class Swaps {
  readonly #tools: ModuleTools;
  readonly #ports: SwapCreationPorts;
  readonly #quotas: SwapQuotas;
  readonly #estimates: EstimateQuotes;
  /** The balance of the newest read; undefined after a failed one. */
  #balance: Balance | undefined;

  constructor(tools: ModuleTools, ports: SwapCreationPorts) {
    this.#tools = tools;
    this.#ports = ports;
    const { journal, now } = tools;
    this.#quotas = new SwapQuotas({ journal, now, quoteBudgets: ports.quoteBudgets });
    this.#estimates = new EstimateQuotes({ quotes: ports.quotes, quotas: this.#quotas, now });
  }

  /** The swap that began now or earlier with the same key, or a refusal. */
  async create(request: SwapRequest): Promise<SwapAnswer> {
    const replayed = await this.#replay(request.key);
    if (replayed) return replayed;
    // `beginOperation` decides balance and limits. Below the minimum nothing may begin, so they are rehearsed instead.
    const refusal = await (this.#minimumAbove(request)
      ? this.#refusalBeforeQuote(request)
      : this.#earlyRefusal(request));
    if (refusal) return refused(refusal);
    const id = swapId(request.key?.keyHash ?? this.#ports.randomId());
    const begun = await beginOperation(this.#tools, 'swap', id, () => this.#decide(request));
    if (begun.type === 'begun') return this.#result(id, request.key, false);
    // Another call with the same key may have started the swap meanwhile; both calls then return it.
    const other = await this.#replay(request.key);
    if (other) return other;
    if (begun.type === 'declined') return refused(begun.declined);
    return refused(
      begun.type === 'refused' ? notBegunRefusal(begun.why, this.#tools.now()) : inProgress(request.key),
    );
  }

  /**
   * The refusal of a create before its quote. The smallest swap is checked last, because an estimate may learn it and
   * the other refusals must not depend on that.
   */
  async #refusalBeforeQuote(request: SwapRequest): Promise<Refusal | undefined> {
    const early = await this.#earlyRefusal(request);
    if (early) return early;
    const rehearsed = await rehearseOperation(this.#tools, 'swap', () => this.#decide(request));
    if (rehearsed.type === 'declined') return rehearsed.declined;
    if (rehearsed.type === 'refused') return notBegunRefusal(rehearsed.why, this.#tools.now());
    const minimum = this.#minimumAbove(request);
    return minimum && tooSmallRefusal(minimum);
  }

  /** A refusal by a stop or a used-up quota, which needs no read of the balance. */
  async #earlyRefusal(request: SwapRequest): Promise<Refusal | undefined> {
    const stopped = await this.#tools.stopBeginning('swap');
    if (stopped !== undefined) return swapsStopped(stopped);
    const decision = this.#decide(request);
    return decision.ok ? undefined : decision.declined;
  }

  /** The known smallest swap, if the amount is below it. */
  #minimumAbove({ amountLamports }: SwapRequest): SwapMinimum | undefined {
    const minimum = this.#ports.quotes.minimum.known();
    return minimum && amountLamports < minimum.lamports ? minimum : undefined;
  }

  /** The intent of a request, unless a quota is used up. */
  #decide(request: SwapRequest): Decision<Refusal> {
    const spent = this.#quotas.refusal('create_quotes', request.client);
    if (spent) return { ok: false, declined: spent };
    const amount = lamports(request.amountLamports);
    const plan = { bodyHash: request.key?.bodyHash ?? null };
    // Called in the transaction that stores the operation.
    const store = () => this.#quotas.record('create_quotes', request.client);
    return { ok: true, intent: { amount, reserved: swapDebit(amount), plan, store } };
  }

  /** The stored result of a key, once it exists. The row contains the key, so a restored journal still knows it. */
  async #replay(key: RequestKey | undefined): Promise<SwapAnswer | undefined> {
    if (!key) return undefined;
    const { journal, contact } = this.#tools;
    const id = swapId(key.keyHash);
    const known = journal.get(id);
    if (!known) {
      const lost = lostRequestRefusal(journal, id, contact);
      return lost && refused(lost);
    }
    return known.plan.bodyHash === key.bodyHash ? this.#result(known.id, key, true) : refused(KEY_REUSED);
  }

  /** Drives the operation until its result is decided, for at most a caller's longest wait. */
  async #result(id: string, key: RequestKey | undefined, replayed: boolean): Promise<SwapAnswer> {
    const { journal, storage, drive } = this.#tools;
    if (journal.get(id)?.state === 'planned') await this.#ports.within(drive(id), MAX_WAIT_MS);
    const op = journal.get(id);
    const decided = op && createAnswer(op, replayed);
    if (!decided) return refused(inProgress(key));
    // The row is durable before the response, so that a crash cannot undo it.
    await storage.sync();
    return decided;
  }

  /** What a swap would bring, and the refusal that a create of the amount would get now. */
  async estimate(request: EstimateRequest): Promise<SwapEstimate> {
    const amount = lamports(request.amountLamports);
    const [beforeQuote, read] = await Promise.all([
      this.#refusalBeforeQuote(request),
      this.#estimates.read(amount, request.client),
    ]);
    if (read.type !== 'quoted') {
      // A create has its own quotes, so a used-up quota of estimates says nothing about it.
      const isOfCreate = beforeQuote !== undefined || read.type === 'failed';
      return { type: 'unquoted', refusal: beforeQuote ?? read.refusal, isOfCreate };
    }
    const { quoted, at: asOfMs, isOld: stale } = read;
    if (quoted.quote === undefined)
      return { type: 'unquoted', refusal: beforeQuote ?? refusalOfQuote(quoted), isOfCreate: true };
    const { expectedSats, minimumSats, etaSeconds, route } = quoted.quote;
    const refusal = beforeQuote ?? this.#quotedRefusal(amount, quoted) ?? null;
    const minimum = this.#ports.quotes.minimum.known() ?? null;
    return { type: 'quoted', expectedSats, minimumSats, etaSeconds, route, refusal, minimum, asOfMs, stale };
  }

  /** The refusal that a create would get after its quote, as the executor decides it before the signature. */
  #quotedRefusal(amount: Lamports, quoted: QuotedSwap): Refusal | undefined {
    if (!quoted.ok) return refusalOfQuote(quoted);
    const { boundsOf, journal, reserveAddress, now } = this.#tools;
    const signed = journal.counting(reserveAddress, now(), 'swap').filter(({ state }) => state !== 'planned');
    const added = { amount, cost: quoted.priced.cost };
    const reached = reachedLimit(boundsOf('swap').limits, signed, added, now());
    return reached && reachedRefusal(reached.limit.name, reached.availableAt, now());
  }

  #check(amountLamports: bigint, balance: Balance, operations: readonly Entry[]): SpendingVerdict {
    const { boundsOf, now } = this.#tools;
    const amount = lamports(amountLamports);
    return checkIntent({
      bounds: boundsOf('swap'),
      amount,
      reserved: swapDebit(amount),
      balance,
      operations,
      now: now(),
    });
  }

  /** The bounds of a swap now. The minimum is known even if the balance is not. */
  async room(): Promise<SwapRoom> {
    const { journal, readBalance } = this.#tools;
    const [balance, minimum] = await Promise.all([
      readBalance(journal.releasedSlot()).catch(upstreamFailure),
      this.#estimates.readMinimum(),
    ]);
    this.#balance = 'slot' in balance ? balance : undefined;
    const { refusal, maximumLamports } = await this.#roomAt(this.#balance);
    return 'slot' in balance
      ? { balanceLamports: balance.lamports, maximumLamports, refusal, minimum }
      : { balanceLamports: null, maximumLamports: 0n, refusal: refusal ?? upstreamRefusal(balance), minimum };
  }

  /**
   * The largest swap that a balance allows, and why none can begin. Without a balance only the other reasons are known.
   */
  async #roomAt(
    balance: Balance | undefined,
  ): Promise<{ readonly refusal: Refusal | null; readonly maximumLamports: bigint }> {
    const { journal, reserveAddress, boundsOf, now, stopBeginning } = this.#tools;
    const stopped = await stopBeginning('swap');
    const early = stopped === undefined ? this.#quotas.refusal('create_quotes', null) : swapsStopped(stopped);
    if (early || !balance) return { refusal: early ?? null, maximumLamports: 0n };
    const operations = journal.counting(reserveAddress, now(), 'swap');
    const verdict = this.#check(1n, balance, operations);
    if (!verdict.ok) return { refusal: limitRefusal(verdict, now()), maximumLamports: 0n };
    const passes = (amount: bigint) => this.#check(amount, balance, operations).ok;
    const left = spendable(balance, operations, boundsOf('swap').keeps);
    return { refusal: null, maximumLamports: largest(left, passes) };
  }

  /** The code with which every swap is refused now, if it is known without a call. */
  async #currentCode(): Promise<Refusal['code'] | undefined> {
    const { refusal, maximumLamports } = await this.#roomAt(this.#balance);
    if (refusal) return refusal.code;
    const least = this.#ports.quotes.minimum.known()?.lamports;
    return this.#balance && least !== undefined && maximumLamports < least ? 'SWAP_LIMIT_REACHED' : undefined;
  }

  /** Stores why every swap is refused now, and since when. Called once a minute. */
  async watchRefusal(): Promise<void> {
    const { journal, now } = this.#tools;
    const { refusal } = await this.room();
    const failure = await this.#estimates.failure();
    const own = await this.#currentCode();
    const known = this.#watched();
    // Without a quote left, nothing shows whether the sources serve again.
    const isUnread = failure?.code === 'QUOTE_BUDGET_SPENT';
    const ofSource = isUnread ? known?.isOfSource && known.code : failure?.code;
    const ofKey = this.#ports.isKeyFailing() ? 'UPSTREAM_FAILED' : undefined;
    const code = own ?? refusal?.code ?? ofKey ?? (ofSource || undefined);
    const isOfSource = own === undefined;
    if (code === known?.code && isOfSource === known?.isOfSource) return;
    const sinceMs = known?.sinceMs ?? now();
    journal.setMeta(REFUSED, code ? JSON.stringify({ code, sinceMs, isOfSource } satisfies Watched) : '');
  }

  #watched(): Watched | undefined {
    const stored = this.#tools.journal.getMeta(REFUSED);
    return stored ? (JSON.parse(stored) as Watched) : undefined;
  }

  /**
   * Why every swap is refused, and since when; null if swaps can begin. Stops, limits and quotas are current; sources
   * are those of the last wake.
   */
  async refusedSince(): Promise<SwapsRefused | null> {
    const watched = this.#watched();
    const own = await this.#currentCode();
    if (own) return { code: own, sinceMs: watched?.sinceMs ?? this.#tools.now() };
    // Before its first wake a new instance has no balance, so it cannot tell whether a limit has room.
    const isUnknown = this.#balance === undefined && watched?.code !== 'SWAPS_PAUSED';
    return watched && (watched.isOfSource || isUnknown)
      ? { code: watched.code, sinceMs: watched.sinceMs }
      : null;
  }

  /** The bridge's quotes that estimates have used in the window. */
  estimateQuotes(): { readonly used: number; readonly maximum: number } {
    return this.#quotas.used('estimate_quotes');
  }
}

const REFUSED = 'swaps_refused';

/** The refusal of every swap at the last wake. */
type Watched = SwapsRefused & {
  /** True if an upstream was the reason. Only the next wake shows whether it still is. */
  readonly isOfSource: boolean;
};

/** The largest amount up to `bound` that passes. The checks are monotone. */
function largest(bound: bigint, passes: (amount: bigint) => boolean): bigint {
  let low = 0n;
  let high = bound;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (passes(middle)) low = middle;
    else high = middle - 1n;
  }
  return low;
}
