import { floorSignificant, type Lamports, lamports } from '../../core/amount.ts';
import { type ReadQuoteDeps, readQuote } from './read-quote.ts';

export type SwapEstimate = {
  readonly amount: Lamports;
  readonly estimatedSats: bigint;
  readonly minimumSats: bigint;
  /** What the bridge was really asked about; the estimate is scaled from it. */
  readonly quotedAmount: Lamports;
  readonly etaSeconds: number | null;
  readonly route: string;
  readonly asOf: number;
  readonly stale: boolean;
};

const POLICY = { freshMs: 30_000, revalidateMs: 30_000, staleMs: 300_000 };
/** Amounts that differ only beyond these digits share one quote. */
const QUOTED_DIGITS = 3;

/** What `amount` would bring, from a quote for nearly the same amount. */
export async function getEstimate(d: ReadQuoteDeps, amount: Lamports): Promise<SwapEstimate> {
  const quotedAmount = lamports(floorSignificant(amount, QUOTED_DIGITS));
  const quote = await readQuote(d, quotedAmount, POLICY);
  const scale = (sats: bigint): bigint => (sats * amount) / quotedAmount;
  return {
    amount,
    quotedAmount,
    estimatedSats: scale(quote.expectedSats),
    minimumSats: scale(quote.minimumSats),
    etaSeconds: quote.etaSeconds,
    route: quote.route,
    asOf: quote.asOf,
    stale: quote.stale,
  };
}
