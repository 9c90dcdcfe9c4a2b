/**
 * Accepts swap requests: checks the client's quota and the spending limits, and begins the operation of each request
 * once.
 * @module
 */

import type { SwapQuote } from '../../bridges/route.ts';
import { type Lamports, lamports, sats } from '../../core/amount.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, MAX_WAIT_MS } from '../../core/durations.ts';
import { upstreamFailure } from '../../core/errors.ts';
import { bandOf, scaleSats } from '../../core/quote-band.ts';
import type { DryRun, Refusal, RequestKey, SwapAnswer, SwapPreview, SwapRequest, SwapRoom } from '../api.ts';
import { beginOperation, upstreamRefusal } from '../kernel/begin-operation.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import type { Within } from '../kernel/ports.ts';
import {
  type Balance,
  checkIntent,
  type Entry,
  type SpendingVerdict,
  spendable,
} from '../kernel/spending-limits.ts';
import { type QuotePorts, quoteSwap, swapDebit, swapId } from './operation.ts';
import { SwapQuotas } from './quotas.ts';
import {
  createAnswer,
  limitRefusal,
  notBegunRefusal,
  reachedRefusal,
  refusalOf,
  swapsStopped,
} from './swap-view.ts';

export type SwapCreationPorts = {
  readonly quotes: QuotePorts;
  readonly maxCreatesPerClientHour: number;
  readonly randomId: () => string;
  /** The result of `work`, or undefined after `ms` milliseconds; the work continues. */
  readonly within: Within;
};

/**
 * For this long, an amount that was too small for the bridge is refused without a new quote, because each quote uses
 * the quota.
 */
const SMALL_KNOWN_MS = 600_000;

/** For this long, further dry runs in the same band of amounts (see `bandOf`) use the quote of an earlier dry run. */
const QUOTE_HELD_MS = 60_000;

const IN_PROGRESS: Refusal = {
  code: 'IDEMPOTENCY_IN_PROGRESS',
  message: 'This swap is still being prepared. Repeat the call with the same Idempotency-Key.',
  retryAfterSeconds: 5,
};

const KEY_REUSED: Refusal = {
  code: 'IDEMPOTENCY_KEY_REUSED',
  message: 'This Idempotency-Key was already used with a different request.',
};

const refused = (refusal: Refusal): SwapAnswer & { readonly type: 'refused' } => ({
  type: 'refused',
  replayed: false,
  refusal,
});

/** Whether the amount was too small. Any smaller amount is then too small as well. */
const isTooSmall = ({ reason }: Operation): boolean =>
  reason?.type === 'code' && (reason.by === 'amount_too_low' || reason.by === 'amount_below_cost');

/** Whether the cost of the amount exceeded the day's limit on costs. A larger amount exceeds it as well. */
const isTooCostly = ({ reason }: Operation): boolean => reason?.type === 'limit' && reason.by === 'cost_day';

/** An amount that is refused until a time in Unix milliseconds. */
type KnownRefusal = { readonly until: number; readonly amount: bigint };
type Refused = 'amount_too_small' | 'amount_too_costly';

export class Swaps {
  readonly #tools: ModuleTools;
  readonly #p: SwapCreationPorts;
  readonly #quotas: SwapQuotas;

  constructor(tools: ModuleTools, p: SwapCreationPorts) {
    this.#tools = tools;
    this.#p = p;
    this.#quotas = new SwapQuotas({ ...tools, ...p });
  }

  /** The swap that began now or earlier with the same key, or a refusal. */
  async create(request: SwapRequest): Promise<SwapAnswer> {
    const replayed = await this.#replay(request.key);
    if (replayed) return replayed;
    const early = this.#knownRefusal(request.amountLamports) ?? this.#quotaRefusal(request);
    if (early) return refused(early);
    const id = swapId(request.key?.keyHash ?? this.#p.randomId());
    const amount = lamports(request.amountLamports);
    const begun = await beginOperation<Refusal>(this.#tools, 'swap', id, () => {
      const refusal = this.#quotaRefusal(request);
      if (refusal) return { ok: false, declined: refusal };
      const plan = { bodyHash: request.key?.bodyHash ?? null };
      const store = () => this.#quotas.recordCreate(request);
      return { ok: true, intent: { amount, reserved: swapDebit(amount), plan, store } };
    });
    if (begun.type === 'begun') return this.#result(id, false, request.client);
    // Another call with the same key may have started the swap meanwhile; both calls then return it.
    const other = await this.#replay(request.key);
    if (other) return other;
    if (begun.type === 'declined') return refused(begun.declined);
    return refused(begun.type === 'refused' ? notBegunRefusal(begun.why, this.#tools.now()) : IN_PROGRESS);
  }

  #quotaRefusal(request: SwapRequest): Refusal | undefined {
    return this.#quotas.clientRefusal(request) ?? this.#quotas.quoteRefusal();
  }

  /** The stored result of a key, once it exists. The row contains the key, so a restored journal still knows it. */
  async #replay(key: RequestKey | undefined): Promise<SwapAnswer | undefined> {
    const known = key && this.#tools.journal.get(swapId(key.keyHash));
    if (!known) return undefined;
    return known.plan.bodyHash === key.bodyHash ? this.#result(known.id, true) : refused(KEY_REUSED);
  }

  /** Drives the operation until its result is decided, for at most a caller's longest wait. */
  async #result(id: string, replayed: boolean, client?: string): Promise<SwapAnswer> {
    const { journal, storage, drive } = this.#tools;
    if (journal.get(id)?.state === 'planned') await this.#p.within(drive(id), MAX_WAIT_MS);
    const op = journal.get(id);
    if (op && client !== undefined) this.#learn(op, client);
    const decided = op && createAnswer(op, replayed);
    if (!decided) return refused(IN_PROGRESS);
    // The row is durable before the response, so that a crash cannot undo it.
    await storage.sync();
    return decided;
  }

  /** Remembers an amount that was refused. After any other failure, the client gets the create back in its quota. */
  #learn(op: Operation, client: string): void {
    const { now, storage } = this.#tools;
    const amount = BigInt(String(op.plan.askedLamports ?? op.amount));
    if (isTooSmall(op)) {
      const known = this.#known('amount_too_small', SMALL_KNOWN_MS);
      if (!known || amount >= known.amount) this.#note('amount_too_small', amount, now() + SMALL_KNOWN_MS);
    } else if (isTooCostly(op)) {
      const known = this.#known('amount_too_costly', DAY_MS);
      if (!known || amount <= known.amount)
        this.#note('amount_too_costly', amount, Number(op.outcome.availableAt));
    } else if (op.state === 'failed') storage.transaction(() => this.#quotas.giveBack(client));
  }

  /** The refusal that is already known for an amount, so that no quote is spent on it. */
  #knownRefusal(amount: bigint): Refusal | undefined {
    const small = this.#known('amount_too_small', SMALL_KNOWN_MS);
    if (small && amount <= small.amount) return refusalOf('amount_below_cost');
    const costly = this.#known('amount_too_costly', DAY_MS);
    return costly && amount >= costly.amount
      ? reachedRefusal('cost_day', costly.until, this.#tools.now())
      : undefined;
  }

  /** The largest amount refused as too small, or the smallest refused by the day's limit on costs, from storage. */
  #known(name: Refused, longest: number): KnownRefusal | undefined {
    const { journal, now } = this.#tools;
    const [amount = '', until = ''] = journal.getMeta(name)?.split(' ') ?? [];
    if (amount === '' || isTimeOver(Number(until), longest, now())) return undefined;
    return { amount: BigInt(amount), until: Number(until) };
  }

  #note(name: Refused, amount: bigint, until: number): void {
    this.#tools.journal.setMeta(name, `${amount} ${until}`);
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

  /** Every step of a create except the reservation and the signature. */
  async preview(request: Omit<SwapRequest, 'key'>): Promise<SwapPreview> {
    const answer = await this.#preview(request);
    return { ...answer, quotesLeft: this.#quotas.previewsLeft(request.client) };
  }

  async #preview(request: Omit<SwapRequest, 'key'>): Promise<DryRun> {
    const { journal, reserveAddress, readBalance, now } = this.#tools;
    const why = await this.#tools.stopBeginning('swap');
    if (why !== undefined) return refused(swapsStopped(why));
    const { amountLamports, client } = request;
    const amount = lamports(amountLamports);
    const quotaRefusal = (): Refusal | undefined =>
      this.#heldQuote(amount) ? undefined : this.#quotas.previewRefusal(client);
    const early = this.#knownRefusal(amountLamports) ?? this.#quotas.clientRefusal(request) ?? quotaRefusal();
    if (early) return refused(early);
    try {
      const operations = journal.counting(reserveAddress, now());
      const balance = await readBalance(journal.releasedSlot());
      const verdict = this.#check(amountLamports, balance, operations);
      if (!verdict.ok) return refused(limitRefusal(verdict, now()));
      // Other calls may have used the quota while the balance was read.
      const spent = quotaRefusal();
      if (spent) return refused(spent);
      const held = this.#heldQuote(amount);
      if (!held) this.#quotas.recordPreview(client);
      const quoted = await quoteSwap(this.#p.quotes, amount, true, held);
      if (!quoted.ok) return refused(refusalOf(quoted.reason));
      const { quote, priced } = quoted;
      if (!held) this.#holdQuote(quote);
      const { expectedSats, minimumSats, route } = quote;
      return { type: 'possible', expectedSats, minimumSats, costLamports: priced.cost, route };
    } catch (error) {
      return refused(upstreamRefusal(upstreamFailure(error)));
    }
  }

  /** The quote is stored, because the object is evicted between two dry runs of one caller. */
  #holdQuote({ route, amount, expectedSats, minimumSats, fixedFeeSats }: SwapQuote): void {
    const held = [this.#tools.now(), amount, expectedSats, minimumSats, fixedFeeSats, route].join(' ');
    this.#tools.journal.setMeta(`dry_quote:${bandOf(amount)}`, held);
  }

  /**
   * The quote held for an amount's band, scaled to the amount. A quote of a larger amount is not used, because the
   * bridge may refuse the smaller one.
   */
  #heldQuote(amount: Lamports): SwapQuote | undefined {
    const { journal, now } = this.#tools;
    const [at, quoted, expected, minimum, fee, route] =
      journal.getMeta(`dry_quote:${bandOf(amount)}`)?.split(' ') ?? [];
    const age = now() - Number(at);
    if (!quoted || !expected || !minimum || !fee || !route || !(age >= 0 && age < QUOTE_HELD_MS))
      return undefined;
    if (amount < BigInt(quoted)) return undefined;
    const scaled = (text: string) => sats(scaleSats(BigInt(text), BigInt(fee), amount, BigInt(quoted)));
    const unused = { expiresAt: null, etaSeconds: null, depositAddress: null };
    const figures = {
      expectedSats: scaled(expected),
      minimumSats: scaled(minimum),
      fixedFeeSats: sats(BigInt(fee)),
    };
    return { route, amount, ...figures, ...unused };
  }

  /** @throws AppError UPSTREAM_FAILED when the balance cannot be read */
  async room(): Promise<SwapRoom> {
    const { journal, reserveAddress, readBalance, boundsOf, now } = this.#tools;
    const operations = journal.counting(reserveAddress, now());
    const balance = await readBalance(journal.releasedSlot());
    const why = await this.#tools.stopBeginning('swap');
    const left = spendable(balance, operations, boundsOf('swap').keeps);
    const verdict = this.#check(1n, balance, operations);
    const refusal =
      why !== undefined
        ? swapsStopped(why)
        : (this.#quotas.quoteRefusal() ?? (verdict.ok ? null : limitRefusal(verdict, now())));
    const passes = (amount: bigint) => this.#check(amount, balance, operations).ok;
    const afterFees = left - swapDebit(lamports(0n));
    return {
      balanceLamports: balance.lamports,
      maximumLamports: refusal ? 0n : largest(left, passes),
      spendableLamports: afterFees > 0n ? afterFees : 0n,
      refusal,
    };
  }
}

/** The largest amount up to `bound` that passes; the checks are monotone. */
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
