import { formatAmount, type Lamports, lamports, SOL_DECIMALS } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import { bandOf, scaleSats } from '../../core/quote-band.ts';
import { getMinimum, type SwapMinimum, type SwapMinimumDeps } from './get-minimum.ts';
import { type ReadQuote, readQuote } from './read-quote.ts';

export type EstimateDeps = SwapMinimumDeps & {
  /** Cap of one swap. */
  readonly maxSwap: Lamports;
};

/** Larger than any reserve; quotes for larger amounts would only use up the quota. */
const MAXIMUM = lamports(100_000n * 1_000_000_000n);

/**
 * Result of swapping `amount`, scaled from the quote of its band, and whether a create would be accepted now.
 * @param client whose budget a new quote would use
 * @throws AppError AMOUNT_TOO_LARGE above 100,000 SOL, otherwise like `readQuote`
 */
export async function getEstimate(d: EstimateDeps, amount: Lamports, client: string) {
  if (amount > MAXIMUM) {
    throw new AppError(
      'AMOUNT_TOO_LARGE',
      `amountSol must be at most ${formatAmount(MAXIMUM, SOL_DECIMALS)}.`,
      { details: { maxAmountLamports: MAXIMUM.toString() } },
    );
  }
  const [{ quotedAmount, quote }, reason] = await Promise.all([
    quoteOfBand(d, amount, client),
    getMinimum(d).then(
      (bounds) => refusalOf(amount, bounds, d.maxSwap),
      (error: unknown) => (error instanceof AppError ? error.code : 'UPSTREAM_FAILED'),
    ),
  ]);
  const scaled = (sats: bigint): bigint => scaleSats(sats, quote.fixedFeeSats, amount, quotedAmount);
  return {
    amount,
    /** Amount of the bridge's quote that the estimate is scaled from. */
    quotedAmount,
    estimatedSats: scaled(quote.expectedSats),
    minimumSats: scaled(quote.minimumSats),
    etaSeconds: quote.etaSeconds,
    route: quote.route,
    /** Code of the refusal for a create of this amount now; null when it would pass. */
    reason,
    asOf: quote.asOf,
    stale: quote.stale,
  };
}

/**
 * Quote of the band that contains an amount. If the band begins below the bridge's minimum, the quote is for
 * the amount itself.
 */
async function quoteOfBand(
  d: EstimateDeps,
  amount: Lamports,
  client: string,
): Promise<{ quotedAmount: Lamports; quote: ReadQuote }> {
  const band = bandOf(amount);
  try {
    return { quotedAmount: band, quote: await readQuote(d, band, client) };
  } catch (error) {
    if (band === amount || !(error instanceof AppError) || error.code !== 'AMOUNT_TOO_SMALL') throw error;
    return { quotedAmount: amount, quote: await readQuote(d, amount, client) };
  }
}

/** The code with which a create would refuse the amount, or null. The checks have the order of a create's checks. */
function refusalOf(amount: Lamports, bounds: SwapMinimum, maxSwap: Lamports): string | null {
  if (bounds.reason !== null) return bounds.reason;
  if (amount > bounds.spendable) return 'INSUFFICIENT_BALANCE';
  if (amount > maxSwap) return 'AMOUNT_TOO_LARGE';
  if (amount > bounds.maximum) return 'SWAP_LIMIT_REACHED';
  return amount < bounds.minimum ? 'AMOUNT_TOO_SMALL' : null;
}
