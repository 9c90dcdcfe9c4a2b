/**
 * The reserve, its tokens (one sat per ABSR) and the prices in one view.
 * @module
 */
import { BTC_DECIMALS, toNumber } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { AppError, upstreamFailed } from '../../core/errors.ts';
import { agreePrices, isConfirmed, type PriceReport, USD_DECIMALS, valueUsd } from '../../core/price.ts';
import { type Cache, type Cached, Dated, prewarmed, refreshing } from '../../http/cached.ts';
import { CHAIN_POLICY } from './get-reserves.ts';
import { absent, attempt, bestOf, errorsOf, isNewer, querySources } from './query-sources.ts';

export type Supply = { readonly atoms: bigint; readonly decimals: number };

export const RATIO_DECIMALS = 8;

export function backingOf(reserveSats: bigint, supply: Supply) {
  const scale = 10n ** BigInt(supply.decimals);
  const supplySats = (supply.atoms + scale - 1n) / scale;
  return {
    /**
     * Sats in the reserve in excess of the supply; negative when tokens are not covered. A fraction of a sat is
     * treated as a whole one.
     */
    gapSats: reserveSats - supplySats,
    /** Sats per ABSR, times 10^RATIO_DECIMALS, rounded down; null without tokens. */
    ratio: supply.atoms === 0n ? null : (reserveSats * scale * 10n ** BigInt(RATIO_DECIMALS)) / supply.atoms,
  };
}

export type ReadPriceDeps = {
  readonly cache: Cache;
  /** Reports of the venues that respond, the preferred one first. */
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
  return d.cache.read('prices:agreed', policy, async () => {
    const { value, asOf } = await readVenues(d, false);
    return new Dated({ value: choose(value), asOf });
  });
}

function choose(venues: readonly VenuePrice[]): VenuePrice {
  const [first, second] = venues;
  if (first && !second) return first;
  const agreed = agreePrices(venues.map(reportOf));
  const chosen = agreed.ok ? venues.find(({ source }) => source === agreed.price.source) : undefined;
  if (chosen) return chosen;
  throw new AppError('PRICE_DIVERGENT', 'The price venues contradict each other.');
}

export const reportOf = ({ source, btcUsd, solUsd }: VenuePrice): PriceReport => ({
  source,
  btcUsd: BigInt(btcUsd),
  solUsd: BigInt(solUsd),
});

export type SummaryDeps = ReadPriceDeps & {
  /** Null while no mint is configured. */
  readonly absrMint: string | null;
  /** Solana nodes, queried separately. */
  readonly supplySources: readonly {
    readonly name: string;
    tokenSupply(mint: string, commitment: 'finalized'): Promise<Supply & { readonly slot: bigint }>;
  }[];
  /** Confirmed sats of the reserve as decimal text; null without a configured address. */
  readonly readReserve: ((refresh: boolean) => Promise<Cached<{ readonly confirmed: string }>>) | null;
  readonly sleep: (ms: number) => Promise<void>;
};

type StoredSupply = { readonly atoms: string; readonly decimals: number };
type Part = 'prices' | 'reserve' | 'supply';

/** The finalized supply from the node at the highest slot. */
function readSupply(d: SummaryDeps, mint: string, refresh: boolean): Promise<Cached<StoredSupply>> {
  return d.cache.read('absr:supply', refreshing(CHAIN_POLICY, refresh), async () => {
    const ask = (node: (typeof d.supplySources)[number]) => node.tokenSupply(mint, 'finalized');
    const { value } = bestOf(await querySources(d.supplySources, d.sleep, ask), isNewer);
    return { atoms: value.atoms.toString(), decimals: value.decimals };
  });
}

/**
 * Reserve, supply and prices. A part that cannot be read has its last good value, marked stale, or is null
 * with its error.
 * @returns all venues' prices, the agreed price, the reserve, the supply, and the errors
 * @throws AppError UPSTREAM_FAILED (503) when no part is known
 */
export async function readSummary(d: SummaryDeps, refresh = false) {
  const { absrMint, readReserve } = d;
  // The venues are read first: the price is chosen from their newest responses.
  const venuesRead = readVenues(d, refresh).catch(() => null);
  const [venues, price, reserve, supply] = await Promise.all([
    venuesRead,
    venuesRead.then(() => attempt('prices', readPrice(d, refresh))),
    readReserve === null ? absent : attempt('reserve', readReserve(refresh)),
    absrMint === null ? absent : attempt('supply', readSupply(d, absrMint, refresh)),
  ]);
  const parts = [price, reserve, supply];
  if (parts.every(({ value }) => value === null)) {
    throw new AppError(
      'UPSTREAM_FAILED',
      'No part of the summary can be read, and no earlier value is known.',
      {
        status: 503,
        retryAfterSeconds: 15,
      },
    );
  }
  return [venues, price.value, reserve.value, supply.value, errorsOf<Part>(parts)] as const;
}

/** The parts in one view; at least one of them is known. */
export function summaryOf(
  ...[venues, price, reserve, supply, errors]: Awaited<ReturnType<typeof readSummary>>
) {
  const known = [price, reserve, supply].filter((part) => part !== null);
  const report = price && reportOf(price.value);
  const sats = reserve && BigInt(reserve.value.confirmed);
  const tokens = supply && { atoms: BigInt(supply.value.atoms), decimals: supply.value.decimals };
  const backing = sats !== null && tokens ? backingOf(sats, tokens) : null;
  const usd = sats !== null && report ? valueUsd(sats, BTC_DECIMALS, report.btcUsd) : null;
  return {
    btcPriceUsd: report && toNumber(report.btcUsd, USD_DECIMALS),
    solPriceUsd: report && toNumber(report.solUsd, USD_DECIMALS),
    priceSource: report?.source ?? null,
    priceVenues: (venues?.value ?? []).map((venue, _, all) => shownVenue(venue, all)),
    absrSupplySats: sats === null ? null : Number(sats),
    absrSupplySatoshis: sats?.toString() ?? null,
    absrSupplyUsd: usd === null ? null : toNumber(usd, USD_DECIMALS),
    absrTokenSupply: tokens && toNumber(tokens.atoms, tokens.decimals),
    absrTokenSupplyAtoms: tokens?.atoms.toString() ?? null,
    absrDecimals: tokens?.decimals ?? null,
    ratio: backing === null || backing.ratio === null ? null : toNumber(backing.ratio, RATIO_DECIMALS),
    gapSats: backing && Number(backing.gapSats),
    gapSatoshis: backing?.gapSats.toString() ?? null,
    as_of: new Date(Math.min(...known.map(({ asOf }) => asOf))).toISOString(),
    stale: known.some(({ stale }) => stale),
    ...(errors.length > 0 ? { errors: [...errors] } : {}),
  };
}

/** @throws like {@link readSummary} */
export const getSummary = async (d: SummaryDeps, refresh = false) =>
  summaryOf(...(await readSummary(d, refresh)));

/** A venue, and whether any other one confirms it; null when it is the only one. */
function shownVenue(venue: VenuePrice, all: readonly VenuePrice[]) {
  const report = reportOf(venue);
  const { source, btcUsd, solUsd } = report;
  const others = all.filter((other) => other.source !== source).map(reportOf);
  return {
    name: source,
    btcPriceUsd: toNumber(btcUsd, USD_DECIMALS),
    solPriceUsd: toNumber(solUsd, USD_DECIMALS),
    agreed: all.length < 2 ? null : others.some((other) => isConfirmed(report, other)),
  };
}

export type AlertDeps = SummaryDeps & {
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
};

/**
 * Reads the summary again and alerts the operator when tokens are not covered. Callers of the next minute get the same
 * summary.
 */
export async function alertUndercollateralized(d: AlertDeps): Promise<void> {
  const { gapSatoshis, absrSupplySatoshis, absrTokenSupplyAtoms } = await getSummary(d, true);
  if (gapSatoshis !== null && BigInt(gapSatoshis) < 0n) {
    d.log({
      level: 'alarm',
      event: 'supply_above_reserve',
      gapSatoshis,
      reserveSatoshis: absrSupplySatoshis,
      supplyAtoms: absrTokenSupplyAtoms,
    });
  }
}
