/**
 * The reserve and its tokens: one sat per ABSR. Pure.
 * @module
 */
export type Supply = { readonly atoms: bigint; readonly decimals: number };

export type Backing = {
  /**
   * Sats in the reserve in excess of the supply; negative when tokens are not covered. A fraction of a sat
   * counts as a whole one.
   */
  readonly gapSats: bigint;
  /** Sats per ABSR, times 10^RATIO_DECIMALS, rounded down; null without tokens. */
  readonly ratio: bigint | null;
};

export const RATIO_DECIMALS = 8;

export function backingOf(reserveSats: bigint, supply: Supply): Backing {
  const scale = 10n ** BigInt(supply.decimals);
  const supplySats = (supply.atoms + scale - 1n) / scale;
  return {
    gapSats: reserveSats - supplySats,
    ratio: supply.atoms === 0n ? null : (reserveSats * scale * 10n ** BigInt(RATIO_DECIMALS)) / supply.atoms,
  };
}
