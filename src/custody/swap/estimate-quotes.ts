/**
 * Dry quotes for estimates and for the smallest swap. Equal amounts share a quote for seconds. Their number is limited
 * in total and for each client's networks. Payments never use them.
 * @module
 */

import { type Lamports, lamports } from '../../core/amount.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { upstreamFailure } from '../../core/errors.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { Refusal, RoomMinimum } from '../api.ts';
import { upstreamRefusal } from '../kernel/begin-operation.ts';
import type { SwapQuotas } from './quota-store.ts';
import type { QuotedSwap, SwapQuotes } from './swap-quotes.ts';
import { refusalOfQuote, tooSmallRefusal } from './swap-view.ts';

/** Equal amounts share a quote for this long. */
const SHARED_MS = 15_000;
/** Maximum age of a quote that a client gets after its share is used up. */
const KEPT_MS = HOUR_MS;
/** Maximum amounts whose quotes are kept; the oldest is dropped first. */
const MAX_KEPT = 500;
/** After a failed read of the smallest swap, the next read waits this long, because each read costs a quote. */
const FAILURE_PAUSE_MS = 300_000;

/** Largest amount that is quoted, more than any reserve has. A quote for more would only use up the quota. */
const MAXIMUM = lamports(100_000n * 1_000_000_000n);

type Kept = { readonly at: number; readonly quoted: Promise<QuotedSwap> };

/** `at`: when the quote was requested, in Unix milliseconds. */
export type EstimateRead =
  | { readonly type: 'quoted'; readonly quoted: QuotedSwap; readonly at: number; readonly isOld: boolean }
  | { readonly type: 'failed' | 'spent'; readonly refusal: Refusal };

export type EstimatePorts = {
  readonly quotes: SwapQuotes;
  readonly quotas: SwapQuotas;
  readonly now: () => number;
};

export class EstimateQuotes {
  readonly #ports: EstimatePorts;
  readonly #kept = new Map<Lamports, Kept>();
  #reading: Promise<RoomMinimum> | undefined;
  #failed: { readonly at: number; readonly refusal: Refusal } | undefined;

  constructor(ports: EstimatePorts) {
    this.#ports = ports;
  }

  /** A quote for the amount. A client that has used up its share gets an older quote, if one is kept. */
  async read(amount: Lamports, client: string): Promise<EstimateRead> {
    const { quotes, quotas, now } = this.#ports;
    const minimum = quotes.minimum.known();
    if (minimum?.source === 'bridge' && amount < minimum.lamports)
      return { type: 'failed', refusal: tooSmallRefusal(minimum) };
    if (amount > MAXIMUM) return { type: 'failed', refusal: refusalOfQuote({ reason: 'amount_too_high' }) };
    const kept = this.#kept.get(amount);
    const age = kept ? now() - kept.at : Number.POSITIVE_INFINITY;
    if (kept && age >= 0 && age < SHARED_MS) return this.#shown(kept, false);
    const refusal = quotas.refusal('estimate_quotes', client);
    if (!refusal) {
      quotas.record('estimate_quotes', client);
      return this.#shown(this.#request(amount), false);
    }
    return kept && age >= 0 && age < KEPT_MS ? this.#shown(kept, true) : { type: 'spent', refusal };
  }

  #request(amount: Lamports): Kept {
    const kept = { at: this.#ports.now(), quoted: this.#ports.quotes.quote(amount, true) };
    keepNewest(this.#kept, amount, kept, MAX_KEPT);
    // A quote that does not pass is dropped, because a refusal or failure may be outdated a second later.
    const drop = () => this.#kept.get(amount) === kept && this.#kept.delete(amount);
    kept.quoted.then(({ ok }) => ok || drop(), drop);
    return kept;
  }

  async #shown({ at, quoted }: Kept, isOld: boolean): Promise<EstimateRead> {
    try {
      return { type: 'quoted', quoted: await quoted, at, isOld };
    } catch (error) {
      return { type: 'failed', refusal: upstreamRefusal(upstreamFailure(error)) };
    }
  }

  /** The smallest swap. If it is outdated, one dry quote reads it again; that quote is not charged to a client. */
  async readMinimum(): Promise<RoomMinimum> {
    const known = this.#ports.quotes.minimum.known();
    return known ? { type: 'known', minimum: known, refusal: null } : this.#ask();
  }

  /** Why the bridge or the prices prevent every swap; null if they do not. */
  async failure(): Promise<Refusal | null> {
    return this.#ports.quotes.hasPassed() ? null : (await this.#ask()).refusal;
  }

  async #ask(): Promise<RoomMinimum> {
    const { now } = this.#ports;
    if (this.#failed && !isTimeOver(this.#failed.at + FAILURE_PAUSE_MS, FAILURE_PAUSE_MS, now()))
      return this.#older(this.#failed.refusal);
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAgain(): Promise<RoomMinimum> {
    const { quotes, quotas } = this.#ports;
    const spent = quotas.refusal('estimate_quotes', null);
    if (spent) return this.#older(spent);
    quotas.record('estimate_quotes', null);
    try {
      const read = await quotes.readMinimum();
      if ('lamports' in read) return { type: 'known', minimum: read, refusal: null };
      return this.#failedWith(refusalOfQuote(read));
    } catch (error) {
      return this.#failedWith(upstreamRefusal(upstreamFailure(error)));
    }
  }

  #failedWith(refusal: Refusal): RoomMinimum {
    this.#failed = { at: this.#ports.now(), refusal };
    return this.#older(refusal);
  }

  #older(refusal: Refusal): RoomMinimum {
    const latest = this.#ports.quotes.minimum.latest();
    return latest ? { type: 'known', minimum: latest, refusal } : { type: 'unknown', refusal };
  }
}
