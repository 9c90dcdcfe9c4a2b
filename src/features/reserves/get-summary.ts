/**
 * The reserve, its tokens (one sat per ABSR) and the prices in one view.
 * @module
 */
import { BTC_DECIMALS, toNumber } from '../../core/amount.ts';
import { type Coverage, coverageOf, type Supply } from '../../core/coverage.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { AppError, upstreamFailed } from '../../core/errors.ts';
import { agreePrices, isConfirmed, type PriceReport, USD_DECIMALS, valueUsd } from '../../core/price.ts';
import { prewarmed, refreshing } from '../../http/cache-policy.ts';
import { type Cache, type Cached, Dated } from '../../http/cached.ts';
import { CHAIN_POLICY } from './get-reserves.ts';
import { absent, attempt, bestOf, errorsOf, querySources } from './query-sources.ts';

export type ReadPriceDeps = {
  readonly cache: Cache;
  /** Reports of the venues that respond, the preferred one first. */
  readPrices(): Promise<PriceReport[]>;
};

/** Micro-dollars as decimal strings, so that they can be cached. */
export type VenuePrice = { readonly source: string; readonly btcUsd: string; readonly solUsd: string };

/** The venues' prices are shown only while they are fresh. */
const VENUES_POLICY = prewarmed(120_000);
/** A price can be shown for an hour, marked stale. */
const PRICE_POLICY = prewarmed(HOUR_MS);

/** The current prices of all venues. @throws AppError UPSTREAM_FAILED when none responds */
export function readVenues(deps: ReadPriceDeps, refresh: boolean): Promise<Cached<VenuePrice[]>> {
  return deps.cache.read('prices:venues', refreshing(VENUES_POLICY, refresh), async () => {
    const reports = await deps.readPrices();
    if (reports.length === 0) throw upstreamFailed('prices', 'no_venue');
    return reports.map(({ source, btcUsd, solUsd }) => ({
      source,
      btcUsd: btcUsd.toString(),
      solUsd: solUsd.toString(),
    }));
  });
}

/**
 * The first venue's price that another venue confirms, or the price of the only venue. If prices contradict each other,
 * the last confirmed price is shown as stale.
 * @throws AppError PRICE_DIVERGENT, UPSTREAM_FAILED if there is no recent price either
 */
export function readPrice(deps: ReadPriceDeps, refresh: boolean): Promise<Cached<VenuePrice>> {
  const policy = refreshing(PRICE_POLICY, refresh);
  return deps.cache.read('prices:agreed', policy, async () => {
    const venues = await readVenues(deps, false);
    return new Dated({ ...venues, value: choose(venues.value) });
  });
}

function choose(venues: readonly VenuePrice[]): VenuePrice {
  const [first, second] = venues;
  if (first && !second) return first;
  const agreed = agreePrices(venues.map(reportOf));
  const chosen = agreed.ok ? venues.find(({ source }) => source === agreed.price.source) : undefined;
  if (chosen) return chosen;
  throw new AppError('PRICE_DIVERGENT', 'The price venues differ by more than 1 %.');
}

export const reportOf = ({ source, btcUsd, solUsd }: VenuePrice): PriceReport => ({
  source,
  btcUsd: BigInt(btcUsd),
  solUsd: BigInt(solUsd),
});

export type SummaryDeps = ReadPriceDeps & {
  /** Null while no mint is configured. */
  readonly absrMint: string | null;
  readonly asryMint: string | null;
  /** Solana nodes, queried separately. */
  readonly supplySources: readonly {
    readonly name: string;
    tokenSupply(mint: string, commitment: 'finalized'): Promise<Supply & { readonly slot: bigint }>;
  }[];
  /** Confirmed sats of the reserve as a decimal string; null without a configured address. */
  readonly readReserve: ((refresh: boolean) => Promise<Cached<{ readonly confirmed: string }>>) | null;
  readonly sleep: (ms: number) => Promise<void>;
};

type StoredSupply = { readonly atoms: string; readonly decimals: number };
type Part = 'prices' | 'reserve' | 'supply';

/**
 * The highest finalized supply of the nodes that respond in time, so that one of them cannot make the reserve look
 * covered. Decimals never change, so a node that differs from most of them lies.
 * @throws AppError UPSTREAM_FAILED `nodes_disagree` if no decimals are those of most nodes
 */
function readSupply(deps: SummaryDeps, mint: string, refresh: boolean): Promise<Cached<StoredSupply>> {
  return deps.cache.read('absr:supply', refreshing(CHAIN_POLICY, refresh), async () => {
    const ask = (node: (typeof deps.supplySources)[number]) => node.tokenSupply(mint, 'finalized');
    const results = await querySources(deps.supplySources, deps.sleep, ask);
    const shown = results.flatMap((result) => (result.ok ? [result.value.decimals] : []));
    const isOfMost = (decimals: number) =>
      shown.filter((other) => other === decimals).length * 2 > shown.length;
    if (shown.length > 0 && !shown.some(isOfMost)) throw upstreamFailed('solana-read', 'nodes_disagree');
    const honest = results.filter((result) => !result.ok || isOfMost(result.value.decimals));
    const { value } = bestOf(honest, (a, b) => a.atoms > b.atoms);
    return { atoms: value.atoms.toString(), decimals: value.decimals };
  });
}

/**
 * Reserve, supply and prices. A part that cannot be read has its last known value, marked stale, or is null with its
 * error.
 * @throws AppError UPSTREAM_FAILED (503) when no part is known
 */
export async function readSummary(deps: SummaryDeps, refresh = false) {
  const { absrMint, readReserve } = deps;
  // The venues are read first: the price is chosen from their newest responses.
  const venuesRead = readVenues(deps, refresh).catch(() => null);
  const [venues, price, reserve, supply] = await Promise.all([
    venuesRead,
    venuesRead.then(() => attempt('prices', readPrice(deps, refresh))),
    readReserve === null ? absent : attempt('reserve', readReserve(refresh)),
    absrMint === null ? absent : attempt('supply', readSupply(deps, absrMint, refresh)),
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
  const coverage = coverageOf(reserve.value, supply.value, absrMint !== null);
  return {
    absrMint,
    asryMint: deps.asryMint,
    venues,
    price: price.value,
    supply: supply.value,
    coverage,
    errors: errorsOf<Part>(parts),
  };
}

const isoOf = (part: Cached<unknown> | null): string | null => part && new Date(part.asOf).toISOString();

/** Combines the parts; at least one of them is known. */
export function summaryOf({
  absrMint,
  asryMint,
  venues,
  price,
  supply,
  coverage,
  errors,
}: Awaited<ReturnType<typeof readSummary>>) {
  const report = price && reportOf(price.value);
  const { reserveSatoshis, gapSatoshis, ratio } = coverage;
  const usd =
    reserveSatoshis !== null && report
      ? valueUsd(BigInt(reserveSatoshis), BTC_DECIMALS, report.btcUsd)
      : null;
  const times = [isoOf(venues), isoOf(price), coverage.as_of].filter((at) => at !== null).sort();
  return {
    absrMint,
    asryMint,
    btcPriceUsd: report && toNumber(report.btcUsd, USD_DECIMALS),
    solPriceUsd: report && toNumber(report.solUsd, USD_DECIMALS),
    priceSource: report?.source ?? null,
    price_as_of: isoOf(price),
    priceVenues: (venues?.value ?? []).map((venue, _, all) => shownVenue(venue, all)),
    absrSupplySats: reserveSatoshis === null ? null : Number(reserveSatoshis),
    absrSupplySatoshis: reserveSatoshis,
    absrSupplyUsd: usd === null ? null : toNumber(usd, USD_DECIMALS),
    absrTokenSupply: supply && toNumber(BigInt(supply.value.atoms), supply.value.decimals),
    absrTokenSupplyAtoms: supply?.value.atoms ?? null,
    absrDecimals: supply?.value.decimals ?? null,
    ratio,
    gapSats: gapSatoshis === null ? null : Number(gapSatoshis),
    gapSatoshis,
    coverage,
    as_of: times[0] ?? null,
    stale: coverage.stale || (price?.stale ?? false) || (venues?.stale ?? false),
    ...(errors.length > 0 ? { errors: [...errors] } : {}),
  };
}

/** @throws like {@link readSummary} */
export const getSummary = async (deps: SummaryDeps, refresh = false) =>
  summaryOf(await readSummary(deps, refresh));

/** Whether the reserve covers the supply; unknown if one of the two cannot be read. */
export async function readCoverage(deps: SummaryDeps): Promise<Coverage> {
  const { absrMint, readReserve } = deps;
  const [reserve, supply] = await Promise.all([
    readReserve?.(false).catch(() => null) ?? null,
    absrMint === null ? null : readSupply(deps, absrMint, false).catch(() => null),
  ]);
  return coverageOf(reserve, supply, absrMint !== null);
}

/** A venue, and whether any other venue confirms its price; null if it is the only venue. */
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
 * Reads the summary again, and alerts the operator if tokens are not covered. For the next minute, callers get the same
 * summary.
 */
export async function alertUndercollateralized(deps: AlertDeps): Promise<void> {
  const { state, gapSatoshis, reserveSatoshis, supplyAtoms } = (await readSummary(deps, true)).coverage;
  if (state === 'short')
    deps.log({ level: 'alarm', event: 'supply_above_reserve', gapSatoshis, reserveSatoshis, supplyAtoms });
}
