/**
 * Prices as integers: micro-dollars (1e-6 USD) per whole coin. Decides when independent sources agree.
 * @module
 */
import { type Lamports, lamports, parseAmount, type Sats, sats } from './amount.ts';

export const USD_DECIMALS = 6;

/** One source's prices, in micro-dollars per coin. */
export type PriceReport = { readonly source: string; readonly btcUsd: bigint; readonly solUsd: bigint };

/** Converts a venue's decimal string to micro-dollars, rounded down; undefined for zero and for any other string. */
export function parsePrice(text: string): bigint | undefined {
  const [whole = '', fraction = ''] = text.split('.');
  const parsed = parseAmount(fraction ? `${whole}.${fraction.slice(0, USD_DECIMALS)}` : text, USD_DECIMALS);
  return parsed.ok && parsed.atoms > 0n && /^\d+(\.\d+)?$/.test(text) ? parsed.atoms : undefined;
}

/** |a - b| in basis points of the smaller, rounded up. */
export function divergenceBps(a: bigint, b: bigint): bigint {
  const [low, high] = a < b ? [a, b] : [b, a];
  return low <= 0n ? 1_000_000n : ((high - low) * 10_000n + low - 1n) / low;
}

/** Tolerated difference of two venues: a perpetual's mid and a spot price differ by a few bps. */
const MAX_DIVERGENCE_BPS = 100n;

/** Whether two reports agree for both coins. */
export const isConfirmed = (a: PriceReport, b: PriceReport): boolean =>
  divergenceBps(a.btcUsd, b.btcUsd) <= MAX_DIVERGENCE_BPS &&
  divergenceBps(a.solUsd, b.solUsd) <= MAX_DIVERGENCE_BPS;

export type AgreedPrice =
  | { ok: true; price: PriceReport }
  | { ok: false; reason: 'price_unavailable' | 'price_divergent' };

/**
 * The first report that a second one confirms for both coins. A single source is not enough, because it could make any
 * quote look fair.
 */
export function agreePrices(reports: readonly PriceReport[]): AgreedPrice {
  const price = reports.find((one, index) =>
    reports.slice(index + 1).some((other) => isConfirmed(one, other)),
  );
  if (price) return { ok: true, price };
  return { ok: false, reason: reports.length < 2 ? 'price_unavailable' : 'price_divergent' };
}

/** The value of `amount` lamports in sats, rounded up: the output of a fair swap without cost. */
export function fairSats(amount: Lamports, price: PriceReport): Sats {
  const numerator = amount * price.solUsd * 100_000_000n;
  const denominator = price.btcUsd * 1_000_000_000n;
  return sats((numerator + denominator - 1n) / denominator);
}

/** The value of `amount` sats in lamports, rounded down. */
export function fairLamports(amount: Sats, price: PriceReport): Lamports {
  return lamports((amount * price.btcUsd * 1_000_000_000n) / (price.solUsd * 100_000_000n));
}

/** The value of `atoms` of a coin with `decimals`, in micro-dollars, rounded down. */
export const valueUsd = (atoms: bigint, decimals: number, coinUsd: bigint): bigint =>
  (atoms * coinUsd) / 10n ** BigInt(decimals);
