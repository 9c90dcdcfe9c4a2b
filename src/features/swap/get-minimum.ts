/**
 * The smallest swap whose costs are within the limit, and the largest swap that is possible now.
 * @module
 */
import type { SwapQuote } from '../../bridges/route.ts';
import { ceilSignificant, type Lamports, lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import { agreePrices, fairSats, type PriceReport } from '../../core/price.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { type Cached, Dated, owned, prewarmed } from '../../http/cached.ts';
import { REFERENCE_AMOUNT, type ReadQuoteDeps, readQuote } from './read-quote.ts';

/** Lower bound of a swap in the API contract: 0.001 SOL. */
export const CONTRACT_MINIMUM = lamports(1_000_000n);
/** Margin for price changes between this figure and the quote of a create, in basis points. */
const DRIFT_BPS = 20;
/**
 * Payouts are whole sats: the expected and the guaranteed output lose up to one each, which matters for small
 * amounts.
 */
const ROUNDING_SATS = 2n;

export type Terms = Pick<SwapQuote, 'amount' | 'expectedSats' | 'minimumSats' | 'fixedFeeSats'>;

/**
 * The smallest amount whose total cost (fixed fee, spread and slippage) stays below `maxCostBps` of a fair
 * price; null when there is none.
 *
 * For a lamports, g guaranteed sats per lamport, the fixed fee f in sats, and r fair sats per lamport:
 * a * g - f >= a * r * (1 - cost).
 */
export function smallestAmount(terms: Terms, price: PriceReport, maxCostBps: number): Lamports | null {
  const { amount } = terms;
  // The fixed fee is deducted from the output before the slippage allowance, so it lowers the guaranteed output only by
  // fee * minimum / expected.
  const fixed = (terms.fixedFeeSats * terms.minimumSats + terms.expectedSats - 1n) / terms.expectedSats;
  const fee = fixed + ROUNDING_SATS;
  const guaranteed = (terms.minimumSats + fixed) * 10_000n;
  const needed = fairSats(amount, price) * BigInt(10_000 - maxCostBps + DRIFT_BPS);
  const margin = guaranteed - needed;
  if (margin <= 0n) return null;
  const smallest = (fee * 10_000n * amount + margin - 1n) / margin;
  return lamports(smallest < CONTRACT_MINIMUM ? CONTRACT_MINIMUM : ceilSignificant(smallest, 3));
}

export type SwapMinimumDeps = ReadQuoteDeps & {
  readonly custody: Pick<CustodianApi, 'swapRoom'>;
  /** The responses of all available price sources. */
  readPrices(): Promise<PriceReport[]>;
  readonly maxCostBps: number;
};

export type SwapMinimum = Awaited<ReturnType<typeof getMinimum>>;

/** The bridge's terms change slowly; a day-old minimum is still a useful hint, marked as stale. */
const MINIMUM_EVERY_MS = 600_000;
const MINIMUM_POLICY = prewarmed(DAY_MS, MINIMUM_EVERY_MS);
const ROOM_POLICY = { freshMs: 3_000, revalidateMs: 10_000, staleMs: 60_000, changedByOperations: true };

async function readMinimum(d: SwapMinimumDeps): Promise<Dated<string | null>> {
  const [quote, prices] = await Promise.all([readQuote(d, REFERENCE_AMOUNT, null), d.readPrices()]);
  const agreed = agreePrices(prices);
  if (!agreed.ok) throw new AppError('PRICE_UNAVAILABLE', 'No two price sources agree.');
  const smallest = smallestAmount({ amount: REFERENCE_AMOUNT, ...quote }, agreed.price, d.maxCostBps);
  return new Dated({ value: smallest?.toString() ?? null, asOf: quote.asOf });
}

const readSmallest = (d: SwapMinimumDeps, policy = MINIMUM_POLICY): Promise<Cached<string | null>> =>
  d.cache.read('swap:minimum', policy, () => readMinimum(d));

/** Reads the smallest swap again for all isolates when the stored one is old. */
export const prewarmMinimum = (d: SwapMinimumDeps): Promise<unknown> =>
  readSmallest(d, owned(MINIMUM_POLICY, d.now() - MINIMUM_EVERY_MS));

/** Smallest and largest swap now; if none is possible, also when the next one is. */
export async function getMinimum(d: SwapMinimumDeps) {
  const [minimum, room] = await Promise.all([
    readSmallest(d),
    // The minimum is useful without the balance.
    d.cache.read('swap:room', ROOM_POLICY, () => d.custody.swapRoom()).catch(() => null),
  ]);
  const smallest = minimum.value === null ? CONTRACT_MINIMUM : lamports(BigInt(minimum.value));
  const largest = lamports(room?.value.maximumLamports ?? 0n);
  const why = minimum.value === null ? 'QUOTE_REFUSED' : room === null ? 'UPSTREAM_FAILED' : null;
  const tooSmall = largest > 0n && largest < smallest ? 'SWAP_LIMIT_REACHED' : null;
  const reason = why ?? room?.value.refusal?.code ?? tooSmall;
  const next = room?.value.refusal?.details?.nextAvailableAt;
  return {
    minimum: smallest,
    maximum: largest,
    balance: room && lamports(room.value.balanceLamports),
    /** The part of the balance that one swap can take. */
    spendable: lamports(room?.value.spendableLamports ?? 0n),
    available: reason === null,
    /** Stable code of the reason why no swap can start now. */
    reason,
    nextAvailableAt: typeof next === 'string' ? next : null,
    asOf: Math.min(minimum.asOf, room?.asOf ?? minimum.asOf),
    stale: minimum.stale || (room?.stale ?? true),
  };
}
