/**
 * Accepts swap requests. If the key is repeated, a create call returns the stored result. Otherwise it checks
 * everything that needs no quote, starts the operation in one storage transaction, and drives it until its result is
 * known. Before the executor signs, it reads the quote and checks the limits again. An estimate makes the same checks
 * but starts no swap.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { upstreamFailure } from '../../core/errors.ts';
import type {
  EstimateRequest,
  Refusal,
  RequestKey,
  SwapAnswer,
  SwapEstimate,
  SwapMinimum,
  SwapRequest,
} from '../api.ts';
import { beginOperation, checkOperation, type Decision, upstreamRefusal } from '../kernel/begin-operation.ts';
import { lostRequestRefusal } from '../kernel/birth.ts';
import { isSuspect } from '../kernel/journal-integrity.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import { reachedLimit } from '../kernel/spending-limits.ts';
import type { EstimateQuotes } from './estimate-quotes.ts';
import { type SwapPorts, swapDebit, swapId } from './operation.ts';
import type { SwapQuotas } from './quota-store.ts';
import type { QuotedSwap, SwapQuotes } from './swap-quotes.ts';
import {
  createAnswer,
  KEY_FAILING,
  keptRefusal,
  notBegunRefusal,
  reachedRefusal,
  recordsLost,
  refusalOfQuote,
  swapsStopped,
  tooSmallRefusal,
} from './swap-view.ts';

export type SwapCreationPorts = {
  readonly quotes: SwapQuotes;
  readonly quotas: SwapQuotas;
  readonly estimates: EstimateQuotes;
  readonly randomId: () => string;
  readonly recentBlockhash: SwapPorts['recentBlockhash'];
  /** Whether the key service failed at its last check. */
  readonly isKeyFailing: () => boolean;
  readonly within: Within;
};

const inProgress = (key: RequestKey | undefined): Refusal => ({
  code: 'IDEMPOTENCY_IN_PROGRESS',
  message: key
    ? 'This swap is still being prepared. Repeat the call with the same Idempotency-Key.'
    : 'This swap is still being prepared and may start. A repeat without an Idempotency-Key would start a second swap: look at GET /api/reserves/transactions first.',
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

  constructor(tools: ModuleTools, ports: SwapCreationPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /** The swap that this call or an earlier one with the same key has started, or a refusal. */
  async create(request: SwapRequest): Promise<SwapAnswer> {
    const lost = isSuspect(this.#tools.journal) && (await this.#tools.stopBeginning('swap'));
    if (lost) return refused(recordsLost(lost));
    const replayed = await this.#replay(request.key);
    if (replayed) return replayed;
    // `beginOperation` checks balance and limits. A swap below the minimum never starts, so here both are checked
    // without it.
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
   * The refusal that needs no quote. The minimum is checked last, because estimates can change it, and the other
   * refusals must not depend on that.
   */
  async #refusalBeforeQuote(request: SwapRequest): Promise<Refusal | undefined> {
    const early = await this.#earlyRefusal(request);
    if (early) return early;
    const verdict = await checkOperation(this.#tools, 'swap', () => this.#decide(request));
    if (verdict.type === 'declined') return verdict.declined;
    if (verdict.type === 'refused') return notBegunRefusal(verdict.why, this.#tools.now());
    const minimum = this.#minimumAbove(request);
    return minimum && tooSmallRefusal(minimum);
  }

  /** A refusal that needs no read of the balance: signing is stopped, the key service fails, or a quota is used up. */
  async #earlyRefusal(request: SwapRequest): Promise<Refusal | undefined> {
    const stopped = await this.#tools.stopBeginning('swap');
    if (stopped !== undefined) return swapsStopped(stopped);
    if (this.#ports.isKeyFailing()) return KEY_FAILING;
    const decision = this.#decide(request);
    return decision.ok ? undefined : decision.declined;
  }

  #minimumAbove({ amountLamports }: SwapRequest): SwapMinimum | undefined {
    const minimum = this.#ports.quotes.minimum.known();
    return minimum && amountLamports < minimum.lamports ? minimum : undefined;
  }

  #decide(request: SwapRequest): Decision<Refusal> {
    const spent = this.#ports.quotas.refusal('create_quotes', request.client);
    if (spent) return { ok: false, declined: spent };
    const amount = lamports(request.amountLamports);
    const plan = { bodyHash: request.key?.bodyHash ?? null };
    // Called in the transaction that stores the operation.
    const store = () => this.#ports.quotas.record('create_quotes', request.client);
    return { ok: true, intent: { amount, reserved: swapDebit(amount), plan, store } };
  }

  /** The stored result of a key, if there is one. The row contains the key, so a restored journal still has it. */
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

  /** The expected output of a swap of this amount, and the refusal that a create call would return now. */
  async estimate(request: EstimateRequest): Promise<SwapEstimate> {
    const amount = lamports(request.amountLamports);
    const [beforeQuote, read] = await Promise.all([
      this.#refusalBeforeQuote(request),
      this.#ports.estimates.read(amount, request.client),
    ]);
    if (read.type !== 'quoted') {
      // Create calls have their own quotes, so a used-up quota of estimates does not affect them.
      const isOfCreate = beforeQuote !== undefined || read.type === 'failed';
      const ofQuote = read.type === 'failed' ? keptRefusal(read.refusal) : read.refusal;
      return { type: 'unquoted', refusal: beforeQuote ?? ofQuote, isOfCreate };
    }
    const { quoted, at: asOfMs, isOld: stale } = read;
    if (quoted.quote === undefined)
      return {
        type: 'unquoted',
        refusal: beforeQuote ?? keptRefusal(refusalOfQuote(quoted)),
        isOfCreate: true,
      };
    const { expectedSats, minimumSats, etaSeconds, route } = quoted.quote;
    const afterQuote = beforeQuote ? undefined : await this.#quotedRefusal(amount, quoted);
    const refusal = beforeQuote ?? (afterQuote ? keptRefusal(afterQuote) : null);
    const minimum = this.#ports.quotes.minimum.known() ?? null;
    return { type: 'quoted', expectedSats, minimumSats, etaSeconds, route, refusal, minimum, asOfMs, stale };
  }

  /** The refusal that a create call would return after its quote. The executor makes the same check before it signs. */
  async #quotedRefusal(amount: Lamports, quoted: QuotedSwap): Promise<Refusal | undefined> {
    if (!quoted.ok) return refusalOfQuote(quoted);
    const lifetime = await this.#ports.recentBlockhash().catch(upstreamFailure);
    if (!('blockhash' in lifetime)) return upstreamRefusal(lifetime);
    const { boundsOf, journal, reserveAddress, now } = this.#tools;
    const signed = journal.counting(reserveAddress, now(), 'swap').filter(({ state }) => state !== 'planned');
    const added = { amount, cost: quoted.priced.cost };
    const reached = reachedLimit(boundsOf('swap').limits, signed, added, now());
    return reached && reachedRefusal(reached.limit.name, reached.availableAt, now());
  }
}
