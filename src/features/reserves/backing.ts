/**
 * The reserve against the tokens on it: one sat for one ABSR. Pure.
 * @module
 */
export type Supply = { readonly atoms: bigint; readonly decimals: number };

export type Backing = {
  /** Sats in the reserve beyond the supply, below zero when tokens are not covered. A part of a sat counts whole. */
  readonly gapSats: bigint;
  /** Sats for each ABSR, times 10^RATIO_DECIMALS, rounded down; null while there is no token. */
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
