/**
 * Quotas of calls: creates and idempotency keys of a client and its networks, and bridge quotes of all clients.
 * @module
 */

import { CALL_LIMITS, QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import { fairShare, networksOf } from '../../core/client-network.ts';
import { HOUR_MS } from '../../core/durations.ts';
import type { Refusal, SwapRequest } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';

/** Bridge quotes per window: for creates, and for estimates together with reads of the smallest swap. */
const CREATE_QUOTES = CALL_LIMITS.create_quotes.quota;
const ESTIMATE_QUOTES = CALL_LIMITS.estimate_quotes.quota;
const KEYS_PER_CLIENT_HOUR = CALL_LIMITS.keys_per_client_hour.quota;
/** Client name under which the calls of all clients are counted together. */
const ALL = '*';

type Caller = Pick<SwapRequest, 'client' | 'key'>;
type CallRecord = Pick<Journal, 'calls' | 'recordCall'>;

export class SwapQuotas {
  readonly #journal: CallRecord;
  readonly #createsPerHour: number;
  readonly #now: () => number;

  constructor(ports: {
    readonly journal: CallRecord;
    readonly maxCreatesPerClientHour: number;
    readonly now: () => number;
  }) {
    this.#journal = ports.journal;
    this.#createsPerHour = ports.maxCreatesPerClientHour;
    this.#now = ports.now;
  }

  /** Seconds until a full window has room again; undefined while it has room. */
  #fullFor(purpose: string, client: string, windowMs: number, maximum: number): number | undefined {
    const now = this.#now();
    const calls = this.#journal.calls(purpose, client, now - windowMs);
    if (calls.length < maximum) return undefined;
    const freeAt = (calls[calls.length - maximum] ?? now) + windowMs;
    return Math.max(Math.ceil((freeAt - now) / 1_000), 1);
  }

  /** The refusal of a client that has used up its creates or keys, or of all clients without quotes for creates. */
  createRefusal({ client, key }: Caller): Refusal | undefined {
    const creates = networksOf(client)
      .map(({ network, times }) => this.#fullFor('create', network, HOUR_MS, times * this.#createsPerHour))
      .find((seconds) => seconds !== undefined);
    const keys = key && this.#fullFor('key', client, HOUR_MS, KEYS_PER_CLIENT_HOUR);
    const retryAfterSeconds = creates ?? keys;
    if (retryAfterSeconds === undefined) return this.createQuoteRefusal();
    const limit = creates === undefined ? 'keys_per_client_hour' : 'creates_per_client_hour';
    const message = 'Too many swap requests from this address. Wait and try again.';
    return { code: 'RATE_LIMITED', message, retryAfterSeconds, details: { limit } };
  }

  createQuoteRefusal(): Refusal | undefined {
    return spentRefusal('create_quotes', this.#fullFor('quote', ALL, QUOTE_WINDOW_MS, CREATE_QUOTES));
  }

  recordCreate({ client, key }: Caller): void {
    for (const { network } of networksOf(client)) this.#journal.recordCall('create', network, this.#now());
    this.#journal.recordCall('quote', ALL, this.#now());
    if (key) this.#journal.recordCall('key', client, this.#now());
  }

  /**
   * The refusal when the quotes of estimates are used up, for all or for the networks of this client, which get a fair
   * share. @param client null for the service's own reads
   */
  estimateRefusal(client: string | null): Refusal | undefined {
    const all = this.#fullFor('estimate', ALL, QUOTE_WINDOW_MS, ESTIMATE_QUOTES);
    if (all !== undefined) return spentRefusal('estimate_quotes', all);
    const { used } = this.estimatesUsed();
    const since = this.#now() - QUOTE_WINDOW_MS;
    const retryAfterSeconds = (client === null ? [] : networksOf(client))
      .map(({ network, times }) => {
        const own = this.#journal.calls('estimate', network, since).length;
        const share = times * fairShare(ESTIMATE_QUOTES, used, own);
        return this.#fullFor('estimate', network, QUOTE_WINDOW_MS, share);
      })
      .find((seconds) => seconds !== undefined);
    if (retryAfterSeconds === undefined) return undefined;
    const message = 'This address has used its share of estimates. Wait, or create without an estimate.';
    return { code: 'RATE_LIMITED', message, retryAfterSeconds, details: { limit: 'estimate_quotes' } };
  }

  recordEstimate(client: string | null): void {
    const networks = client === null ? [] : networksOf(client);
    for (const network of [ALL, ...networks.map(({ network }) => network)])
      this.#journal.recordCall('estimate', network, this.#now());
  }

  estimatesUsed(): { readonly used: number; readonly maximum: number } {
    const used = this.#journal.calls('estimate', ALL, this.#now() - QUOTE_WINDOW_MS).length;
    return { used, maximum: ESTIMATE_QUOTES };
  }
}

const spentRefusal = (
  limit: keyof typeof CALL_LIMITS,
  retryAfterSeconds: number | undefined,
): Refusal | undefined =>
  retryAfterSeconds === undefined
    ? undefined
    : {
        code: 'QUOTE_BUDGET_SPENT',
        message: 'The quota of bridge quotes is used up.',
        retryAfterSeconds,
        details: { limit },
      };
