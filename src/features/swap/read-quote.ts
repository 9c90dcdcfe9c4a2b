/**
 * Quotes for reads: dry, cached, one at a time for equal amounts, within a budget. Never for a payment.
 * @module
 */
import { type SwapQuote, type SwapRoute, withoutQuoteRefusal } from '../../bridges/route.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import type { Cache } from '../../http/cached.ts';
import type { QuoteBudgetStore } from './quote-budget-store.ts';

export type ReadQuoteDeps = {
  readonly cache: Cache;
  readonly routes: readonly SwapRoute[];
  readonly quoteBudget: QuoteBudgetStore;
  readonly now: () => number;
};

/** What a cache can hold of a quote. */
type StoredQuote = {
  route: string;
  expectedSats: string;
  minimumSats: string;
  fixedFeeSats: string | null;
  etaSeconds: number | null;
};

export type ReadQuote = {
  readonly route: string;
  readonly expectedSats: bigint;
  readonly minimumSats: bigint;
  /** Null when the bridge does not tell it apart. */
  readonly fixedFeeSats: bigint | null;
  readonly etaSeconds: number | null;
  readonly asOf: number;
  readonly stale: boolean;
};

/** Of about 200 quotes in two hours, reads may use so many; creates have 60 and the rest is slack. */
export const READ_QUOTES_PER_WINDOW = 120;

/** @throws AppError QUOTE_BUDGET_SPENT, AMOUNT_TOO_SMALL, QUOTE_REFUSED, UPSTREAM_FAILED */
export async function readQuote(
  d: ReadQuoteDeps,
  amount: Lamports,
  policy: { freshMs: number; revalidateMs: number; staleMs: number },
): Promise<ReadQuote> {
  const { value, asOf, stale } = await d.cache.read(`quote:${amount}`, policy, () => askRoutes(d, amount));
  return {
    route: value.route,
    expectedSats: BigInt(value.expectedSats),
    minimumSats: BigInt(value.minimumSats),
    fixedFeeSats: value.fixedFeeSats === null ? null : BigInt(value.fixedFeeSats),
    etaSeconds: value.etaSeconds,
    asOf,
    stale,
  };
}

async function askRoutes(d: ReadQuoteDeps, amount: Lamports): Promise<StoredQuote> {
  const budget = await d.quoteBudget.take(d.now(), READ_QUOTES_PER_WINDOW);
  if (!budget.ok) {
    const { retryAfterSeconds } = budget;
    throw new AppError('QUOTE_BUDGET_SPENT', 'The quota of bridge quotes is used up.', { retryAfterSeconds });
  }
  let failure: unknown;
  for (const route of d.routes) {
    try {
      const verdict = await route.quote({ amount, dry: true });
      if (verdict.ok) return stored(verdict.quote);
      // An earlier route's failure or reason says more than that this route has no quote.
      if (failure === undefined || !withoutQuoteRefusal(verdict.reason)) failure = refused(verdict.reason);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

const stored = (quote: SwapQuote): StoredQuote => ({
  route: quote.route,
  expectedSats: quote.expectedSats.toString(),
  minimumSats: quote.minimumSats.toString(),
  fixedFeeSats: quote.fixedFeeSats?.toString() ?? null,
  etaSeconds: quote.etaSeconds,
});

function refused(reason: string): AppError {
  const { code, message, retryAfterSeconds } = withoutQuoteRefusal(reason) ?? {
    code: 'QUOTE_REFUSED',
    message: `The bridge's quote did not pass our checks (${reason}).`,
  };
  return new AppError(code, message, {
    details: { reason },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** The amount that readers ask about when they need the bridge's terms, not a figure of their own: 1 SOL. */
export const REFERENCE_AMOUNT = lamports(1_000_000_000n);
