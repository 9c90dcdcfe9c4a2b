/**
 * Looks up signatures that callers name. Any caller may name any signature, so all of them share one poll of the nodes,
 * each client network has a share of what waits and of what is read, and an unknown signature is asked for ever more rarely.
 * @module
 */
import { CALL_LIMITS } from '../../core/call-limits.ts';
import { SHARES, SharedBudget } from '../../core/client-network.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Refusal } from '../api.ts';
import { type Backoff, backoff } from './retries.ts';
import type { SolanaView } from './solana-view.ts';

/** The most advanced status that any node shows. */
export type SignatureState = 'unknown' | 'pending' | 'confirmed' | 'final';

export type Lookup = {
  readonly signature: string;
  readonly client: string;
  /** Longest wait in milliseconds; 0 returns the current state. */
  readonly waitMs: number;
  /** Whether a confirmed transaction is enough; it may still be dropped, so it moves no money. */
  readonly until: 'confirmed' | 'final';
};

export type LookedUp =
  /** Shown by a quorum of nodes. */
  | { readonly type: 'final'; readonly transaction: ChainTransaction }
  /** `transaction` as one node shows it; null unless the caller waits for `confirmed`. */
  | { readonly type: 'confirmed'; readonly transaction: ChainTransaction | null }
  | { readonly type: 'pending' | 'unknown' }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/** @throws AppError UPSTREAM_FAILED */
export type LookUp = (lookup: Lookup) => Promise<LookedUp>;

export type LookupPorts = {
  readonly chain: Pick<SolanaView, 'signatureStates' | 'transaction' | 'confirmedTransaction'>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/** What one call of `getSignatureStatuses` takes. */
const MAX_SIGNATURES = 256;
/** Interval between two polls of the nodes, whatever waits. */
const POLL_MS = 800;
/** Intervals between two questions for a signature that no node has. */
const UNKNOWN_CHECKS: Backoff = { first: POLL_MS, most: 10_000 };
/** Maximum remembered signatures; the oldest are forgotten first. */
const MAX_KNOWN = 1_000;

type Known = {
  state: SignatureState;
  /** Unix milliseconds. */
  nextAt: number;
  /** Times that no node had it. */
  misses: number;
  /** The finalized transaction with all its members, which never change. */
  transaction?: ChainTransaction;
  /** The read that is running. */
  reading?: Promise<ChainTransaction | null>;
};

export class SignatureLookups {
  readonly #p: LookupPorts;
  readonly #waiting = new SharedBudget(SHARES * CALL_LIMITS.signature_lookups.quota);
  readonly #reads = new SharedBudget(
    SHARES * CALL_LIMITS.chain_reads.quota,
    CALL_LIMITS.chain_reads.windowSeconds * 1_000,
  );
  readonly #known = new Map<string, Known>();
  /** Signatures of the next poll. */
  readonly #asked = new Set<string>();
  #poll: Promise<void> | undefined;
  #polledAt = 0;

  constructor(p: LookupPorts) {
    this.#p = p;
  }

  /** Waits until a signature has reached a state or the time is up. @throws AppError UPSTREAM_FAILED */
  async find(lookup: Lookup): Promise<LookedUp> {
    const { now, sleep } = this.#p;
    if (!this.#waiting.take(lookup.client, now())) return refused('signature_lookups', 5);
    try {
      for (const deadline = now() + lookup.waitMs; ; ) {
        const found = await this.#current(lookup).catch((error: unknown): LookedUp => {
          if (now() >= deadline) throw error;
          return { type: 'pending' };
        });
        const left = deadline - now();
        if (found.type === 'final' || found.type === 'refused' || left <= 0) return found;
        if (found.type === 'confirmed' && lookup.until === 'confirmed') return found;
        await sleep(Math.min(POLL_MS, left));
      }
    } finally {
      this.#waiting.giveBack(lookup.client);
    }
  }

  async #current({ signature, client, until }: Lookup): Promise<LookedUp> {
    const known = await this.#stateOf(signature);
    if (known.transaction) return { type: 'final', transaction: known.transaction };
    const isRead = known.state === 'final' || (known.state === 'confirmed' && until === 'confirmed');
    if (!isRead)
      return known.state === 'confirmed' ? { type: 'confirmed', transaction: null } : { type: waits(known) };
    if (!known.reading && !this.#reads.take(client, this.#p.now()))
      return refused('chain_reads', READS_RETRY_SECONDS);
    if (known.state === 'confirmed')
      return { type: 'confirmed', transaction: await this.#p.chain.confirmedTransaction(signature) };
    const transaction = await this.#read(signature, known);
    return transaction ? { type: 'final', transaction } : { type: 'pending' };
  }

  /** Callers of one signature share a read. */
  async #read(signature: string, known: Known): Promise<ChainTransaction | null> {
    known.reading ??= this.#p.chain.transaction(signature).finally(() => {
      delete known.reading;
    });
    const transaction = await known.reading;
    if (transaction && transaction.blockTime !== null && transaction.preTokens !== null)
      known.transaction = transaction;
    return transaction;
  }

  /** What is known of a signature, after the next poll if it is due. @throws AppError UPSTREAM_FAILED */
  async #stateOf(signature: string): Promise<Known> {
    const known = this.#known.get(signature);
    if (known && known.nextAt > this.#p.now() && known.nextAt <= this.#p.now() + UNKNOWN_CHECKS.most)
      return known;
    this.#asked.add(signature);
    // A signature that does not fit into the next poll is in a later one.
    while (this.#asked.has(signature)) {
      this.#poll ??= this.#next().finally(() => {
        this.#poll = undefined;
      });
      await this.#poll;
    }
    return this.#known.get(signature) ?? { state: 'pending', nextAt: 0, misses: 0 };
  }

  /** One call to each node for all signatures that wait. */
  async #next(): Promise<void> {
    const { now, sleep } = this.#p;
    const wait = Math.min(this.#polledAt + POLL_MS - now(), POLL_MS);
    if (wait > 0) await sleep(wait);
    const signatures = [...this.#asked].slice(0, MAX_SIGNATURES);
    this.#polledAt = now();
    try {
      const states = await this.#p.chain.signatureStates(signatures);
      for (const [at, signature] of signatures.entries()) this.#note(signature, states[at] ?? 'pending');
    } finally {
      for (const signature of signatures) this.#asked.delete(signature);
    }
  }

  #note(signature: string, state: SignatureState): void {
    const before = this.#known.get(signature);
    const misses = state === 'unknown' ? (before?.misses ?? 0) + 1 : 0;
    const wait = state === 'unknown' ? backoff(misses, UNKNOWN_CHECKS) : POLL_MS;
    this.#known.delete(signature);
    this.#known.set(signature, { ...before, state, misses, nextAt: this.#p.now() + wait });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
  }
}

const waits = ({ state }: Known): 'pending' | 'unknown' => (state === 'unknown' ? 'unknown' : 'pending');

/** The longest wait for a new share of the reads. */
const READS_RETRY_SECONDS = CALL_LIMITS.chain_reads.windowSeconds;

const refused = (limit: keyof typeof CALL_LIMITS, retryAfterSeconds: number): LookedUp => ({
  type: 'refused',
  refusal: {
    code: 'RATE_LIMITED',
    message: 'This network has used its share of lookups on the chain. Nothing was consumed.',
    retryAfterSeconds,
    details: { limit },
  },
});
