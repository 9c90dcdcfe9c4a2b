/**
 * The smallest swap: one bound for `swap/min`, estimates and create calls. It is learned from quotes and from the
 * bridge's refusals. All three use the same stored bound, which expires for all of them at once.
 * @module
 */
import type { SwapQuote } from '../../bridges/route.ts';
import { ceilSignificant, type Lamports, lamports } from '../../core/amount.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS } from '../../core/durations.ts';
import { fairSats, type PriceReport } from '../../core/price.ts';
import type { StatedAmount } from '../../providers/near-intents-refusal.ts';
import type { SwapMinimum } from '../api.ts';
import type { MetaRows } from '../kernel/mirror-queue.ts';

type MinimumSource = SwapMinimum['source'];

/** Lower bound of a swap in the API contract: 0.001 SOL. */
export const CONTRACT_MINIMUM = lamports(1_000_000n);
/** Margin for price changes between this figure and the quote for a create call, in basis points. */
const DRIFT_BPS = 20;
/** Payouts are in whole sats, so rounding can lower the expected and the guaranteed output by one sat each. */
const ROUNDING_SATS = 2n;

/** How long a bound is used for refusals without a quote. A limit of the bridge may be temporary. */
const KNOWN_MS: Readonly<Record<MinimumSource, number>> = {
  contract: 600_000,
  cost: 600_000,
  bridge: 300_000,
};

export type Terms = {
  readonly amount: Lamports;
  readonly expectedSats: bigint;
  readonly minimumSats: bigint;
  readonly fixedFeeSats: bigint;
};

/**
 * The smallest amount whose total cost (fixed fee, spread and slippage) stays below `maxCostBps` of a fair price; null
 * if there is no such amount.
 *
 * For a lamports, g guaranteed sats per lamport, the fixed fee f in sats, and r fair sats per lamport: a * g - f >= a *
 * r * (1 - cost).
 */
export function smallestAmount(terms: Terms, price: PriceReport, maxCostBps: number): Lamports | null {
  const { amount, expectedSats, minimumSats } = terms;
  const fixed = fixedOf(terms, minimumSats, expectedSats);
  const needed = fairSats(amount, price) * BigInt(10_000 - maxCostBps + DRIFT_BPS);
  return solved(amount, fixed + ROUNDING_SATS, minimumSats + fixed, needed);
}

/**
 * A lower bound of the smallest amount, from a quote for an amount that is too small. One sat can be a large part of
 * this quote, so each figure is rounded to lower the bound. Otherwise a caller could choose an amount whose rounding
 * makes the bound higher than every swap.
 */
function leastAmount(terms: Terms, price: PriceReport, maxCostBps: number): Lamports | null {
  const { amount, expectedSats, minimumSats } = terms;
  const minimum = minimumSats < expectedSats ? minimumSats + 1n : minimumSats;
  const fixed = fixedOf(terms, minimum, expectedSats);
  const needed = (fairSats(amount, price) - 1n) * BigInt(10_000 - maxCostBps);
  return solved(amount, fixed, minimum + fixed, needed);
}

/**
 * The fixed fee is deducted from the output before the slippage allowance, so it lowers the guaranteed output by less
 * than the full fee.
 */
const fixedOf = ({ fixedFeeSats }: Terms, minimumSats: bigint, expectedSats: bigint): bigint =>
  (fixedFeeSats * minimumSats + expectedSats - 1n) / expectedSats;

/** @param needed ten thousand times the sats that the amount must guarantee before the fixed fee */
function solved(amount: Lamports, fee: bigint, guaranteedSats: bigint, needed: bigint): Lamports | null {
  const margin = guaranteedSats * 10_000n - needed;
  if (margin <= 0n) return null;
  const smallest = (fee * 10_000n * amount + margin - 1n) / margin;
  return lamports(smallest < CONTRACT_MINIMUM ? CONTRACT_MINIMUM : ceilSignificant(smallest, 3));
}

/** Lamports of an amount that the bridge states; undefined for dollars without a price. */
function lamportsOf({ unit, value }: StatedAmount, price: PriceReport | undefined): bigint | undefined {
  if (unit === 'lamports') return value;
  return price && ceilSignificant((value * 1_000_000_000n + price.solUsd - 1n) / price.solUsd, 3);
}

const STORED = 'swap_minimum';

export class MinimumStore {
  readonly #journal: MetaRows;
  readonly #now: () => number;

  constructor(journal: MetaRows, now: () => number) {
    this.#journal = journal;
    this.#now = now;
  }

  /** The bound below which amounts are refused now; undefined if a new quote is needed. */
  known(): SwapMinimum | undefined {
    const stored = this.latest();
    if (!stored) return undefined;
    const most = KNOWN_MS[stored.source];
    return isTimeOver(stored.at + most, most, this.#now()) ? undefined : stored;
  }

  /** The newest bound, at most a day old. */
  latest(): SwapMinimum | undefined {
    const [amount = '', source = '', at = ''] = this.#journal.getMeta(STORED)?.split(' ') ?? [];
    if (!isSource(source) || isTimeOver(Number(at) + DAY_MS, DAY_MS, this.#now())) return undefined;
    return { lamports: lamports(BigInt(amount)), source, at: Number(at) };
  }

  /** Learns that the bridge refused `amount` as too small. @param least the minimum that the bridge names */
  learnRefusal(
    amount: Lamports,
    least: StatedAmount | undefined,
    price: PriceReport | undefined,
  ): SwapMinimum {
    const named = least && lamportsOf(least, price);
    return this.#store('bridge', named !== undefined && named > amount ? named : above(amount));
  }

  /**
   * Learns from a quote of which the fixed fee was too large a part. If the smallest amount is far above the lower
   * bound, rounding is the cause, so the lower bound is stored.
   */
  learnCost(quote: SwapQuote, price: PriceReport, maxCostBps: number): SwapMinimum {
    const least = leastAmount(quote, price, maxCostBps) ?? 0n;
    const smallest = smallestAmount(quote, price, maxCostBps);
    const bound = smallest !== null && smallest * 2n < least * 3n ? smallest : least;
    return this.#store('cost', bound > quote.amount ? bound : above(quote.amount));
  }

  /** Learns from a quote that passed every check. A larger bound that the bridge named stays until it expires. */
  learnTerms(quote: SwapQuote, price: PriceReport, maxCostBps: number): SwapMinimum | null {
    const smallest = smallestAmount(quote, price, maxCostBps);
    if (smallest === null) return null;
    const known = this.known();
    if (known?.source === 'bridge' && known.lamports > smallest && known.lamports <= quote.amount)
      return known;
    return this.#store(smallest > CONTRACT_MINIMUM ? 'cost' : 'contract', smallest);
  }

  #store(source: MinimumSource, amount: bigint): SwapMinimum {
    const at = this.#now();
    this.#journal.setMeta(STORED, `${amount} ${source} ${at}`);
    return { lamports: lamports(amount), source, at };
  }
}

export const isSource = (text: string): text is MinimumSource => Object.hasOwn(KNOWN_MS, text);

/** A bound above a refused amount, for use if no other figure is known. */
const above = (amount: Lamports): bigint => ceilSignificant(amount + 1n, 3);
