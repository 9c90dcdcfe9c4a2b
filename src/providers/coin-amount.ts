/**
 * Amounts of an upstream that uses whole coins and names no decimals: exact integers of 1e-18 coin.
 * @module
 */
import { numberText } from '../core/json.ts';

/** Digits after the point that an amount of any coin may have. */
export const COIN_DECIMALS = 18;
/** 1e-18 of a whole coin. */
export type AttoCoins = bigint;

/** Upstreams that print doubles write 0.00000001 as 1e-8. */
const NUMBER = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * An amount from parsed JSON: a number, an exact number or decimal text; undefined for anything else.
 *
 * @param rounding of digits beyond the 18th; `up` for minimum amounts
 */
export function readCoins(value: unknown, rounding: 'down' | 'up' = 'down'): AttoCoins | undefined {
  const match = NUMBER.exec(numberText(value) ?? '');
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const shift = COIN_DECIMALS + Number(exponent) - fraction.length;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const scale = 10n ** BigInt(-shift);
  return (digits + (rounding === 'up' ? scale - 1n : 0n)) / scale;
}
