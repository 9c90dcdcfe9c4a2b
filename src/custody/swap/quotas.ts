/**
 * Quotas of calls: creates and idempotency keys of a client and its networks, and bridge quotes of all clients.
 * @module
 */

import { CALL_LIMITS, QUOTE_WINDOW_MS, type Remaining } from '../../core/call-limits.ts';
import { fairShare, networksOf } from '../../core/client-network.ts';
import { HOUR_MS } from '../../core/durations.ts';
import type { Refusal, SwapRequest } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';

/** Bridge quotes per window, for creates and for dry runs; reads have their own budget. */
const QUOTES_PER_WINDOW = CALL_LIMITS.create_quotes.quota;
const PREVIEWS_PER_WINDOW = CALL_LIMITS.dry_run_quotes.quota;
const KEYS_PER_CLIENT_HOUR = CALL_LIMITS.keys_per_client_hour.quota;
/** Client name under which the calls of all clients are counted together. */
const ALL = '*';

export class SwapQuotas {
  readonly #journal: Pick<Journal, 'calls' | 'recordCall' | 'forgetCall'>;
  readonly #createsPerHour: number;
  readonly #now: () => number;

  constructor(p: {
    readonly journal: Pick<Journal, 'calls' | 'recordCall' | 'forgetCall'>;
    readonly maxCreatesPerClientHour: number;
    readonly now: () => number;
  }) {
    this.#journal = p.journal;
    this.#createsPerHour = p.maxCreatesPerClientHour;
    this.#now = p.now;
  }

  /** Seconds until a full window has room again; undefined while it has room. */
  #fullFor(purpose: string, client: string, windowMs: number, maximum: number): number | undefined {
    const now = this.#now();
    const calls = this.#journal.calls(purpose, client, now - windowMs);
    if (calls.length < maximum) return undefined;
    const freeAt = (calls[calls.length - maximum] ?? now) + windowMs;
    return Math.max(Math.ceil((freeAt - now) / 1_000), 1);
  }

  /** The refusal of a client that has used up its creates or keys. */
  clientRefusal({ client, key }: Pick<SwapRequest, 'client' | 'key'>): Refusal | undefined {
    const creates = networksOf(client)
      .map(({ network, times }) => this.#fullFor('create', network, HOUR_MS, times * this.#createsPerHour))
      .find((seconds) => seconds !== undefined);
    const keys = key && this.#fullFor('key', client, HOUR_MS, KEYS_PER_CLIENT_HOUR);
    const retryAfterSeconds = creates ?? keys;
    if (retryAfterSeconds === undefined) return undefined;
    const limit = creates === undefined ? 'keys_per_client_hour' : 'creates_per_client_hour';
    const message = 'Too many swap requests from this address. Wait and try again.';
    return { code: 'RATE_LIMITED', message, retryAfterSeconds, details: { limit } };
  }

  quoteRefusal(): Refusal | undefined {
    return spentRefusal('create_quotes', this.#fullFor('quote', ALL, QUOTE_WINDOW_MS, QUOTES_PER_WINDOW));
  }

  /** The refusal when the quotes of dry runs are used up, for all or for this client, whose networks get a fair share. */
  previewRefusal(client: string): Refusal | undefined {
    const all = this.#fullFor('preview', ALL, QUOTE_WINDOW_MS, PREVIEWS_PER_WINDOW);
    if (all !== undefined) return spentRefusal('dry_run_quotes', all);
    const retryAfterSeconds = this.#previewShares(client)
      .map(({ network, share }) => this.#fullFor('preview', network, QUOTE_WINDOW_MS, share))
      .find((seconds) => seconds !== undefined);
    if (retryAfterSeconds === undefined) return undefined;
    const message = 'This address has used its share of dry runs. Wait, or create without a dry run.';
    return { code: 'RATE_LIMITED', message, retryAfterSeconds, details: { limit: 'dry_run_quotes' } };
  }

  /** The quotes of dry runs that a client has left, and when its oldest one leaves the window. */
  previewsLeft(client: string): Remaining {
    const shares = this.#previewShares(client);
    const all = this.#journal.calls('preview', ALL, this.#now() - QUOTE_WINDOW_MS).length;
    const oldest = shares[0]?.calls[0] ?? this.#now();
    return {
      left: Math.max(
        Math.min(PREVIEWS_PER_WINDOW - all, ...shares.map(({ share, calls }) => share - calls.length)),
        0,
      ),
      resetSeconds: Math.max(Math.ceil((oldest + QUOTE_WINDOW_MS - this.#now()) / 1_000), 1),
    };
  }

  /** The dry runs of a client's networks in the window, and the share of each, the narrowest network first. */
  #previewShares(client: string) {
    const since = this.#now() - QUOTE_WINDOW_MS;
    const used = this.#journal.calls('preview', ALL, since).length;
    return networksOf(client).map(({ network, times }) => {
      const calls = this.#journal.calls('preview', network, since);
      return { network, calls, share: times * fairShare(PREVIEWS_PER_WINDOW, used, calls.length) };
    });
  }

  recordCreate({ client, key }: Pick<SwapRequest, 'client' | 'key'>): void {
    for (const { network } of networksOf(client)) this.#journal.recordCall('create', network, this.#now());
    this.#journal.recordCall('quote', ALL, this.#now());
    if (key) this.#journal.recordCall('key', client, this.#now());
  }

  recordPreview(client: string): void {
    for (const { network } of [{ network: ALL }, ...networksOf(client)])
      this.#journal.recordCall('preview', network, this.#now());
  }

  /**
   * Returns a create to the client's quota when it failed through no fault of the caller, at most as many in an hour as
   * the quota allows. Call inside a storage transaction.
   */
  giveBack(client: string): void {
    if (this.#journal.calls('returned', client, this.#now() - HOUR_MS).length >= this.#createsPerHour) return;
    for (const { network } of networksOf(client)) this.#journal.forgetCall('create', network);
    this.#journal.recordCall('returned', client, this.#now());
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
