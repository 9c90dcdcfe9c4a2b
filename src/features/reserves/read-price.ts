import { AppError, upstreamFailed } from '../../core/errors.ts';
import { HOUR_MS } from '../../core/limits.ts';
import { agreePrices, MAX_DIVERGENCE_BPS, type PriceReport } from '../../core/price.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import { prewarmed, refreshing } from '../../http/prewarmed.ts';

export type ReadPriceDeps = {
  readonly cache: Cache;
  /** Reports of the venues that answer, the preferred one first. */
  readPrices(): Promise<PriceReport[]>;
};

/** Micro-dollars as decimal text, for a cache. */
export type VenuePrice = { readonly source: string; readonly btcUsd: string; readonly solUsd: string };

/** The venues' prices are shown only while they are fresh. */
const VENUES_POLICY = prewarmed(120_000);
/** A price of the last hour may still be shown, marked stale. */
const PRICE_POLICY = prewarmed(HOUR_MS);

/** The current prices of all venues. @throws AppError UPSTREAM_FAILED when none answers */
export function readVenues(d: ReadPriceDeps, refresh: boolean): Promise<Cached<VenuePrice[]>> {
  return d.cache.read('prices:venues', refreshing(VENUES_POLICY, refresh), async () => {
    const reports = await d.readPrices();
    if (reports.length === 0) throw upstreamFailed('prices', 'no_venue');
    return reports.map(({ source, btcUsd, solUsd }) => ({
      source,
      btcUsd: btcUsd.toString(),
      solUsd: solUsd.toString(),
    }));
  });
}

/**
 * The first venue's price that another one confirms, or the only venue's price. Contradicting prices are
 * refused: the last good price is then shown as stale.
 * @throws AppError PRICE_DIVERGENT, UPSTREAM_FAILED when no recent price is known either
 */
export function readPrice(d: ReadPriceDeps, refresh: boolean): Promise<Cached<VenuePrice>> {
  const policy = refreshing(PRICE_POLICY, refresh);
  return d.cache.read('prices:agreed', policy, async () => choose((await readVenues(d, false)).value));
}

function choose(venues: readonly VenuePrice[]): VenuePrice {
  const [first, second] = venues;
  if (first && !second) return first;
  const agreed = agreePrices(venues.map(reportOf), MAX_DIVERGENCE_BPS);
  const chosen = agreed.ok ? venues.find(({ source }) => source === agreed.price.source) : undefined;
  if (chosen) return chosen;
  throw new AppError('PRICE_DIVERGENT', 'The price venues contradict each other.');
}

export const reportOf = ({ source, btcUsd, solUsd }: VenuePrice): PriceReport => ({
  source,
  btcUsd: BigInt(btcUsd),
  solUsd: BigInt(solUsd),
});
