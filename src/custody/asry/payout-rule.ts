/**
 * Decides how much of a claim one call pays. Any caller may claim for any deposit, so no request may waste a
 * reward. A reward is paid in a few parts and never lost; a third party can delay it three times at most.
 * @module
 */

/** After this number of parts the next one is the whole remainder, whatever amount is requested. */
export const MAX_PARTIAL_PAYOUTS = 3;

/** A part is at least this share of the whole, in percent. */
const LEAST_PERCENT = 1n;

export type PayoutPart =
  | { readonly ok: true; readonly atoms: bigint }
  /** The request names a value in dollars, but the epoch has no price. */
  | { readonly ok: false; readonly reason: 'no_price' };

/**
 * @param entitlement reward atoms of the whole claim, at least 1
 * @param left        part of it that is neither paid nor promised, at least 1
 * @param parts       payouts made or promised before
 * @param microUsd    requested value in millionths of a dollar; null for the whole remainder
 * @param price       price of one ASRY in trillionths of a dollar; null without a price
 * @param decimals    decimals of ASRY
 */
export function payoutPart(p: {
  readonly entitlement: bigint;
  readonly left: bigint;
  readonly parts: number;
  readonly microUsd: bigint | null;
  readonly price: bigint | null;
  readonly decimals: number;
}): PayoutPart {
  const { entitlement, left, microUsd, price } = p;
  if (microUsd === null || p.parts >= MAX_PARTIAL_PAYOUTS) return { ok: true, atoms: left };
  if (price === null) return { ok: false, reason: 'no_price' };
  const bought = (microUsd * 10n ** BigInt(p.decimals + 6)) / price;
  const least = (entitlement * LEAST_PERCENT + 99n) / 100n;
  const wanted = bought > least ? bought : least;
  return { ok: true, atoms: wanted < left ? wanted : left };
}
