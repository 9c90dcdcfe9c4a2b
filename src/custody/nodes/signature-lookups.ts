/**
 * Looks up signatures that callers name. Any caller can name any signature, so all callers share one poll of the nodes.
 * Each client network can use a share of the waiting places and of the calls to nodes. An unknown signature is looked
 * up less often as time passes.
 * @module
 */
import { Budget } from '../../core/budget.ts';
import { BUDGETS } from '../../core/call-limits.ts';
import { AppError } from '../../core/errors.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import { forCaller } from '../../providers/admission.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Refusal } from '../api.ts';
import { type Backoff, backoff } from '../kernel/agenda.ts';
import type { SignatureState, SolanaView } from './solana-view.ts';

export type Lookup = {
  readonly signature: string;
  readonly client: string;
  /** Maximum wait in milliseconds; 0 returns the current state. */
  readonly waitMs: number;
  /** Maximum wait while no node shows the signature, in milliseconds. */
  readonly unknownMs: number;
  /** `confirmed`: one node's confirmed transaction is enough. It may still be dropped, so it never moves money. */
  readonly until: 'confirmed' | 'final';
};

export type LookedUp =
  /** Shown by a quorum of nodes. */
  | { readonly type: 'final'; readonly transaction: ChainTransaction }
  /** `transaction` as one node returned it; null if no node returned it in time, or if the caller waits for `final`. */
  | { readonly type: 'confirmed'; readonly transaction: ChainTransaction | null }
  | { readonly type: 'pending' | 'unknown' }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/** @throws AppError UPSTREAM_FAILED */
export type LookUp = (lookup: Lookup) => Promise<LookedUp>;

export type LookupPorts = {
  readonly chain: Pick<SolanaView, 'signatureStates' | 'transaction' | 'confirmedTransaction' | 'newestOf'>;
  readonly payees: readonly string[];
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/** Maximum signatures in one call of `getSignatureStatuses`. */
const MAX_SIGNATURES = 256;
/** Interval between two polls of the nodes, regardless of the number of waiting callers. */
const POLL_MS = 800;
/** If fewer than two polls started within this time, the next poll starts at once. */
const TWO_POLLS_MS = 2 * POLL_MS;
/** Minimum interval between polls while a node shows one of the signatures, because it may soon be final. */
const NEAR_POLL_MS = 100;
/** The wait before the next poll of a signature is this fraction of the time since its state changed. */
const POLLED_PART = 1 / 4;
/** A wait ends once the nodes have failed for this long. */
const FAILING_MS = 5_000;
/** Waits between lookups of a signature that no node has, and between reads of a transaction without a quorum. */
const CHECKS: Backoff = { first: POLL_MS, most: 10_000 };
/**
 * While more reads than this are waiting, reads of payments go first, so that strangers' transactions do not delay
 * them.
 */
const CROWD = 4;
const LIST_MS = 1_000;
/** Maximum clients whose budgets a shared read can use. So a client whose budget is used up does not delay the read. */
const MAX_PAYERS = 4;
const MAX_KNOWN = 1_000;
/** Maximum remembered transactions. A decoded transaction can take 90 KB, and the object has 128 MB of memory. */
const MAX_TRANSACTIONS = 400;

/** The known state of a signature. Times in Unix milliseconds. */
type Known = {
  state: SignatureState;
  since: number;
  nextAt: number;
  misses: number;
  /** Number of reads in this state, and when the next read may start. */
  reads: number;
  readAt: number;
  /** The running read, with the clients whose budgets it may use. `failure` is that of the last read. */
  reading?: {
    readonly payers: Set<string>;
    readonly found: Promise<ChainTransaction | null>;
    /** True if this read asks a quorum. A read from one node may still be running when the state becomes final. */
    readonly isFinal: boolean;
  };
  failure?: unknown;
};

/** A transaction as one node returned it, and as a quorum returned it. The quorum's never changes. */
type Read = { readonly confirmed?: ChainTransaction; readonly final?: ChainTransaction };

const isRateLimited = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'RATE_LIMITED';

const isAhead = (at: number, now: number): boolean => at > now && at <= now + CHECKS.most;

export class SignatureLookups {
  readonly #ports: LookupPorts;
  readonly #waits = new Budget(BUDGETS.lookup_waits);
  readonly #waiting = new Budget(BUDGETS.signature_lookups);
  /** Number of callers that wait for each signature. Together they use the one waiting place of the first caller. */
  readonly #callers = new Map<string, { readonly payer: string; count: number }>();
  readonly #known = new Map<string, Known>();
  readonly #transactions = new Map<string, Read>();
  readonly #unpolled = new Set<string>();
  #poll: Promise<void> | undefined;
  #polledAt = 0;
  #polledBefore = 0;
  /** Number of reads of transactions that are running or waiting. */
  #reads = 0;
  /** Signatures that a node lists for the payees. The node may be wrong, so they only set the order of reads. */
  readonly #payments = new Map<string, true>();
  #listing: Promise<void> | undefined;

  constructor(ports: LookupPorts) {
    this.#ports = ports;
  }

  /** Waits until a signature has reached the requested state or the time is up. @throws AppError UPSTREAM_FAILED */
  async find(lookup: Lookup): Promise<LookedUp> {
    const full = this.#enter(lookup);
    if (full) return refused(full, 5);
    try {
      return await forCaller(lookup.client, () => this.#wait(lookup));
    } catch (error) {
      if (!isRateLimited(error)) throw error;
      return refused('upstream_calls', error.retryAfterSeconds ?? 5);
    } finally {
      this.#leave(lookup);
    }
  }

  async #wait(lookup: Lookup): Promise<LookedUp> {
    const { now, sleep } = this.#ports;
    const { waitMs, unknownMs, until } = lookup;
    const began = now();
    let failingSince: number | undefined;
    for (;;) {
      let found: LookedUp = { type: 'pending' };
      try {
        found = await this.#current(lookup);
        failingSince = undefined;
      } catch (error) {
        failingSince ??= now();
        if (now() >= Math.min(began + waitMs, failingSince + FAILING_MS)) throw error;
      }
      const longest = found.type === 'unknown' ? Math.min(waitMs, unknownMs) : waitMs;
      const left = began + longest - now();
      if (found.type === 'final' || found.type === 'refused' || left <= 0) return found;
      if (found.type === 'confirmed' && found.transaction && until === 'confirmed') return found;
      await sleep(Math.min(NEAR_POLL_MS, left));
    }
  }

  /** @returns the name of the limit that refuses this lookup; undefined if the lookup is admitted */
  #enter({ client, signature }: Lookup): keyof typeof BUDGETS | undefined {
    const now = this.#ports.now();
    if (!this.#waits.take(client, now).ok) return 'lookup_waits';
    const callers = this.#callers.get(signature);
    if (callers) callers.count++;
    else if (this.#waiting.take(client, now).ok) this.#callers.set(signature, { payer: client, count: 1 });
    else {
      this.#waits.giveBack(client);
      return 'signature_lookups';
    }
    return undefined;
  }

  #leave({ client, signature }: Lookup): void {
    this.#waits.giveBack(client);
    const callers = this.#callers.get(signature);
    if (!callers || --callers.count > 0) return;
    this.#callers.delete(signature);
    this.#waiting.giveBack(callers.payer);
  }

  async #current({ signature, until, client }: Lookup): Promise<LookedUp> {
    const read = (): Read => this.#transactions.get(signature) ?? {};
    const before = read().final;
    if (before) return { type: 'final', transaction: before };
    const known = await this.#stateOf(signature);
    const { final } = read();
    if (final) return { type: 'final', transaction: final };
    if (known.state === 'unknown' || known.state === 'pending') return { type: known.state };
    const shown = (): LookedUp =>
      known.state === 'final'
        ? { type: 'pending' }
        : { type: 'confirmed', transaction: read().confirmed ?? null };
    if (known.state === 'confirmed' && (read().confirmed || until === 'final')) return shown();
    if (!known.reading) {
      if (isAhead(known.readAt, this.#ports.now())) {
        if (known.failure !== undefined) throw known.failure;
        return shown();
      }
      known.reading = this.#begin(signature, client, known);
    }
    const { payers, found, isFinal } = known.reading;
    if (payers.size < MAX_PAYERS) payers.add(client);
    const transaction = await found;
    return isFinal && transaction ? { type: 'final', transaction } : shown();
  }

  #begin(signature: string, client: string, known: Known): NonNullable<Known['reading']> {
    const payers = new Set([client]);
    const isFinal = known.state === 'final';
    const isPayment = () => this.#payments.has(signature);
    if (++this.#reads > CROWD)
      this.#listing ??= forCaller(null, () => this.#list()).finally(() => {
        this.#listing = undefined;
      });
    const found = forCaller(payers, () => this.#read(signature, known, isFinal), isPayment).finally(() => {
      delete known.reading;
      this.#reads--;
    });
    return { payers, found, isFinal };
  }

  /** Callers of one signature share a read. @throws AppError UPSTREAM_FAILED */
  async #read(signature: string, known: Known, isFinal: boolean): Promise<ChainTransaction | null> {
    const { chain, now } = this.#ports;
    known.readAt = now() + backoff(++known.reads, CHECKS);
    delete known.failure;
    const transaction = await (isFinal
      ? chain.transaction(signature)
      : chain.confirmedTransaction(signature)
    ).catch((error: unknown) => {
      // This caller's share is used up. A caller with an unused share must be able to read at once.
      if (isRateLimited(error)) known.readAt = 0;
      else known.failure = error;
      throw error;
    });
    if (!transaction) return null;
    if (!isFinal) this.#remember(signature, { confirmed: transaction });
    else if (transaction.blockTime !== null && transaction.preTokens !== null)
      this.#remember(signature, { final: transaction });
    return transaction;
  }

  async #list(): Promise<void> {
    const { chain, payees, sleep } = this.#ports;
    while (this.#reads > CROWD) {
      const lists = await Promise.all(payees.map((payee) => chain.newestOf(payee)));
      for (const signature of lists.flat()) keepNewest(this.#payments, signature, true, MAX_KNOWN);
      await sleep(LIST_MS);
    }
  }

  #remember(signature: string, read: Read): void {
    keepNewest(this.#transactions, signature, read, MAX_TRANSACTIONS);
  }

  /** The known state of a signature, after the next poll if one is due. @throws AppError UPSTREAM_FAILED */
  async #stateOf(signature: string): Promise<Known> {
    const known = this.#known.get(signature);
    if (known && isAhead(known.nextAt, this.#ports.now())) return known;
    this.#unpolled.add(signature);
    // A signature that does not fit into the next poll is included in a later one.
    while (this.#unpolled.has(signature)) {
      // The poll serves many clients, so it uses no client's share.
      this.#poll ??= forCaller(null, () => this.#next()).finally(() => {
        this.#poll = undefined;
      });
      await this.#poll;
    }
    return this.#known.get(signature) ?? newlyKnown('pending', this.#ports.now());
  }

  async #next(): Promise<void> {
    const { now, sleep } = this.#ports;
    for (let wait = this.#pause(); wait > 0; wait = this.#pause()) await sleep(Math.min(wait, NEAR_POLL_MS));
    const signatures = [...this.#unpolled].slice(0, MAX_SIGNATURES);
    this.#polledBefore = this.#polledAt;
    this.#polledAt = now();
    try {
      const states = await this.#ports.chain.signatureStates(signatures);
      for (const [at, signature] of signatures.entries()) this.#note(signature, states[at] ?? 'pending');
    } finally {
      for (const signature of signatures) this.#unpolled.delete(signature);
    }
  }

  #pause(): number {
    const now = this.#ports.now();
    const sinceLastButOne = now - this.#polledBefore;
    if (sinceLastButOne < 0 || sinceLastButOne >= TWO_POLLS_MS) return 0;
    const intervals = [...this.#unpolled].map((signature) => intervalOf(this.#known.get(signature), now));
    const interval = Math.min(...intervals);
    return Math.min(this.#polledAt + interval - now, interval);
  }

  #note(signature: string, state: SignatureState): void {
    const now = this.#ports.now();
    const known = this.#known.get(signature) ?? newlyKnown(state, now);
    if (known.state !== state) Object.assign(known, { state, since: now, reads: 0, readAt: 0 });
    known.misses = state === 'unknown' ? known.misses + 1 : 0;
    known.nextAt = now + (state === 'unknown' ? backoff(known.misses, CHECKS) : intervalOf(known, now));
    keepNewest(this.#known, signature, known, MAX_KNOWN);
  }
}

/**
 * Milliseconds between two polls for a signature that a node shows. An unknown signature waits for the next regular
 * poll.
 */
const intervalOf = (known: Known | undefined, now: number): number =>
  known === undefined || known.state === 'unknown'
    ? POLL_MS
    : Math.min(Math.max(Math.floor((now - known.since) * POLLED_PART), NEAR_POLL_MS), POLL_MS);

const newlyKnown = (state: SignatureState, since: number): Known => ({
  state,
  since,
  nextAt: 0,
  misses: 0,
  reads: 0,
  readAt: 0,
});

const refused = (limit: keyof typeof BUDGETS, retryAfterSeconds: number): LookedUp => ({
  type: 'refused',
  refusal: {
    code: 'RATE_LIMITED',
    message:
      'Your IP address, or its range, has used up its share of lookups on the chain. Nothing was consumed.',
    retryAfterSeconds,
    details: { limit },
  },
});
