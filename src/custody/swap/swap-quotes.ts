/**
 * The bridge's quotes for create calls and estimates, checked against independent prices. They also show the smallest
 * swap.
 * @module
 */
import type { SwapQuote, SwapRoute } from '../../bridges/route.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { agreePrices, fairLamports, type PriceReport } from '../../core/price.ts';
import type { SwapMinimum } from '../api.ts';
import type { MetaRows } from '../kernel/mirror-queue.ts';
import { MinimumStore } from './minimum.ts';

export type QuotePorts = {
  readonly route: SwapRoute;
  /** The prices of all sources that respond in time, never cached prices. */
  readPrices(): Promise<PriceReport[]>;
  /** Maximum cost of a swap, in basis points of its amount. */
  readonly maxCostBps: number;
};

export type PricedQuote =
  | {
      readonly ok: true;
      readonly cost: Lamports;
      readonly price: PriceReport;
    }
  | { readonly ok: false; readonly reason: string };

export function priceQuote(
  quote: SwapQuote,
  prices: readonly PriceReport[],
  maxCostBps: number,
): PricedQuote {
  const agreed = agreePrices(prices);
  if (!agreed.ok) return agreed;
  const costOf = (output: Sats): Lamports => {
    const worth = fairLamports(output, agreed.price);
    return lamports(worth < quote.amount ? quote.amount - worth : 0n);
  };
  const isTooMuch = (cost: Lamports) => cost * 10_000n > quote.amount * BigInt(maxCostBps);
  const cost = costOf(quote.minimumSats);
  if (isTooMuch(cost)) {
    // The quote would pass without its fixed fee, so a larger amount would pass.
    const small = !isTooMuch(costOf(sats(quote.minimumSats + quote.fixedFeeSats)));
    return { ok: false, reason: small ? 'amount_below_cost' : 'quote_too_expensive' };
  }
  return { ok: true, cost, price: agreed.price };
}

/** `minimum`: the bound, if the amount was too small. */
type RefusedQuote = { readonly ok: false; readonly reason: string; readonly minimum?: SwapMinimum };

export type QuotedSwap =
  | { readonly ok: true; readonly quote: SwapQuote; readonly priced: PricedQuote & { readonly ok: true } }
  /** The quote was refused only because of its price. */
  | (RefusedQuote & { readonly quote: SwapQuote })
  | (RefusedQuote & { readonly quote?: undefined });

/** Faults that the operator must correct before the bridge serves swaps, by the reason of its refusal. */
const FAULTS: Readonly<Record<string, BridgeFault>> = {
  quote_app_fees: 'fees_over_cap',
  request_invalid: 'request_rejected',
};
export type BridgeFault = 'fees_over_cap' | 'request_rejected';
const FAULT = 'bridge_fault';
const PASSED = 'quote_passed_at';
/** How long a quote that passed every check shows that swaps can start. */
const PASSES_MS = 600_000;

export class SwapQuotes {
  readonly minimum: MinimumStore;
  readonly #ports: QuotePorts;
  readonly #journal: MetaRows;
  readonly #now: () => number;

  constructor(ports: QuotePorts, journal: MetaRows, now: () => number) {
    this.#ports = ports;
    this.#journal = journal;
    this.#now = now;
    this.minimum = new MinimumStore(journal, now);
  }

  /**
   * A quote that passes the checks of its route and of its price, or the reason of the refusal. Signs nothing.
   * @throws AppError UPSTREAM_FAILED
   */
  async quote(amount: Lamports, dry: boolean): Promise<QuotedSwap> {
    const { route, readPrices, maxCostBps } = this.#ports;
    const reading = readPrices();
    reading.catch(() => undefined);
    const verdict = await route.quote({ amount, dry });
    if (!verdict.ok) {
      const { reason, least } = verdict;
      if (FAULTS[reason]) this.#noteFault(FAULTS[reason]);
      if (reason !== 'amount_too_low') return { ok: false, reason };
      const agreed = agreePrices(await reading.catch(() => []));
      const price = agreed.ok ? agreed.price : undefined;
      return { ok: false, reason, minimum: this.minimum.learnRefusal(amount, least, price) };
    }
    this.#noteFault(undefined);
    const { quote } = verdict;
    const prices = await reading;
    const priced = priceQuote(quote, prices, maxCostBps);
    if (priced.ok) {
      this.#noteServed();
      return { ok: true, quote, priced };
    }
    const { reason } = priced;
    const agreed = agreePrices(prices);
    if (reason !== 'amount_below_cost' || !agreed.ok) return { ok: false, reason, quote };
    return { ok: false, reason, quote, minimum: this.minimum.learnCost(quote, agreed.price, maxCostBps) };
  }

  /** Learns the smallest swap from a dry quote. @throws AppError UPSTREAM_FAILED */
  async readMinimum(): Promise<SwapMinimum | { readonly reason: string }> {
    const quoted = await this.quote(REFERENCE_AMOUNT, true);
    const { maxCostBps } = this.#ports;
    const minimum = quoted.ok
      ? this.minimum.learnTerms(quoted.quote, quoted.priced.price, maxCostBps)
      : quoted.minimum;
    if (!minimum) return { reason: quoted.ok ? 'quote_too_expensive' : quoted.reason };
    this.#noteServed();
    return minimum;
  }

  #noteServed(): void {
    this.#journal.setMeta(PASSED, String(this.#now()));
  }

  /** True if a quote, or a read of the smallest swap, has passed within `PASSES_MS`. */
  hasPassed(): boolean {
    return !isTimeOver(Number(this.#journal.getMeta(PASSED) ?? 0) + PASSES_MS, PASSES_MS, this.#now());
  }

  /** The fault that stops every swap, according to the bridge's newest response; null if there is none. */
  fault(): BridgeFault | null {
    const stored = this.#journal.getMeta(FAULT);
    return Object.values(FAULTS).find((fault) => fault === stored) ?? null;
  }

  #noteFault(fault: BridgeFault | undefined): void {
    if (this.fault() !== (fault ?? null)) this.#journal.setMeta(FAULT, fault ?? '');
  }
}

/** Amount of the quote that shows the bridge's terms: 1 SOL. */
const REFERENCE_AMOUNT = lamports(1_000_000_000n);
