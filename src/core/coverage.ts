/**
 * Whether the reserve covers the ABSR supply: the one comparison behind every figure, badge, sentence and alarm.
 * @module
 */
import { toNumber } from './amount.ts';

export type Supply = { readonly atoms: bigint; readonly decimals: number };

const RATIO_DECIMALS = 8;

/** Decimal text; null if unknown. */
export type Coverage = {
  /** `unknown`: a figure is missing, or is stale and does not show a shortage. */
  readonly state: 'covered' | 'short' | 'unknown' | 'no_token';
  /** Confirmed sats of the reserve. */
  readonly reserveSatoshis: string | null;
  /** Whole ABSR; a fraction is treated as a whole one. */
  readonly supplySatoshis: string | null;
  readonly supplyAtoms: string | null;
  /** Reserve minus supply. */
  readonly gapSatoshis: string | null;
  /** Sats per ABSR, rounded down; null without tokens. */
  readonly ratio: number | null;
  /** When the older of both figures was read, ISO 8601. */
  readonly as_of: string | null;
  readonly stale: boolean;
};

/** A figure with the time of its read in Unix milliseconds. */
type Dated<T> = { readonly value: T; readonly asOf: number; readonly stale: boolean };

export const UNKNOWN_COVERAGE: Coverage = {
  state: 'unknown',
  reserveSatoshis: null,
  supplySatoshis: null,
  supplyAtoms: null,
  gapSatoshis: null,
  ratio: null,
  as_of: null,
  stale: false,
};

/** @param hasToken false while no mint is configured */
export function coverageOf(
  reserve: Dated<{ readonly confirmed: string }> | null,
  supply: Dated<{ readonly atoms: string; readonly decimals: number }> | null,
  hasToken: boolean,
): Coverage {
  const parts = [reserve, supply].filter((part) => part !== null);
  const stale = parts.some((part) => part.stale);
  const known = {
    ...UNKNOWN_COVERAGE,
    reserveSatoshis: reserve?.value.confirmed ?? null,
    supplyAtoms: supply?.value.atoms ?? null,
    as_of: parts.length === 0 ? null : new Date(Math.min(...parts.map(({ asOf }) => asOf))).toISOString(),
    stale,
  };
  if (!hasToken) return { ...known, state: 'no_token' };
  if (!reserve || !supply) return known;
  const sats = BigInt(reserve.value.confirmed);
  const atoms = BigInt(supply.value.atoms);
  const scale = 10n ** BigInt(supply.value.decimals);
  const supplySats = (atoms + scale - 1n) / scale;
  const gap = sats - supplySats;
  const ratio = atoms === 0n ? null : (sats * scale * 10n ** BigInt(RATIO_DECIMALS)) / atoms;
  return {
    ...known,
    state: gap < 0n ? 'short' : stale ? 'unknown' : 'covered',
    supplySatoshis: supplySats.toString(),
    gapSatoshis: gap.toString(),
    ratio: ratio === null ? null : toNumber(ratio, RATIO_DECIMALS),
  };
}
