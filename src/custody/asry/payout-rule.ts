/**
 * How much of a claim one call pays. Anyone may call for anyone, so nothing that a caller says may waste a reward: it
 * can be taken in a few parts, never lost, and a third party can delay it three times at most.
 * @module
 */

/** After so many parts the next one is all that is left, whatever is asked. */
export const MAX_PARTIAL_PAYOUTS = 3;

/** A part is at least this share of the whole, in percent. */
const LEAST_PERCENT = 1n;

export type PayoutPart =
  | { readonly ok: true; readonly atoms: bigint }
  /** A value in dollars was asked for, and the epoch has no price. */
  | { readonly ok: false; readonly reason: 'no_price' };

/**
 * @param entitlement reward atoms of the whole claim, at least 1
 * @param left        of them not yet paid or promised, at least 1
 * @param parts       payouts made or promised before
 * @param microUsd    value asked for in millionths of a dollar; null for all
 * @param price       trillionths of a dollar for a whole ASRY; null when there is none
 * @param decimals    digits of ASRY after the point
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
