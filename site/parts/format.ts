/**
 * Formats amounts and times for display. Amounts are text of atoms and never become floats.
 * @module
 */
import { BTC_DECIMALS, formatAmount, grouped, SOL_DECIMALS } from '../../src/core/amount.ts';

export { grouped };

const isInteger = (text: string): boolean => /^-?\d{1,40}$/.test(text);

/** Atoms of a unit as grouped decimals; any other text is shown as it is. */
export const units = (atoms: string, decimals: number): string =>
  isInteger(atoms) ? grouped(formatAmount(BigInt(atoms), decimals)) : atoms;

export const sats = (atoms: string): string => units(atoms, 0);
export const btc = (atoms: string): string => {
  if (!isInteger(atoms)) return atoms;
  const [whole = '0', fraction = ''] = formatAmount(BigInt(atoms), BTC_DECIMALS).split('.');
  return `${grouped(whole)}.${fraction.padEnd(BTC_DECIMALS, '0')}`;
};
export const sol = (lamports: string): string => units(lamports, SOL_DECIMALS);

/** SOL with four decimals, or with the digits that a smaller amount needs. */
export function shortSol(lamports: string): string {
  if (!isInteger(lamports)) return lamports;
  const decimal = formatAmount(BigInt(lamports), SOL_DECIMALS);
  const short = rounded(decimal, 4);
  return grouped(short === '0' ? decimal : short);
}

/** `1 sat`, `61,975 sats`; any text that is not an amount is shown unchanged. */
export function amountOf(atoms: string | bigint, unit: string): string {
  const text = atoms.toString();
  return `${sats(text)} ${unit}${text === '1' || text === '-1' ? '' : 's'}`;
}

/** How signed sats have changed since; empty if they have not, or if the present ones are unknown or older. */
export function changeSince(
  signed: bigint,
  signedAt: string,
  now: string | null | undefined,
  at: string | null | undefined,
): string {
  if (!now || !at || at < signedAt) return '';
  const more = BigInt(now) - signed;
  if (more === 0n) return '';
  const change = more > 0n ? `${amountOf(more, 'sat')} more` : `${amountOf(-more, 'sat')} less`;
  return `; ${change} since, not signed yet`;
}

/** Fewer digits for a sentence, rounded down. */
export function rounded(decimal: string, digits: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const kept = fraction.slice(0, digits).replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

export const usd = (amount: number): string =>
  amount.toLocaleString('en-US', { style: 'currency', currency: 'USD' });

/** Dollars for sats. @param price USD for 1 BTC; a float, because the value is for information only */
export const worthText = (satoshis: string | null, price: number | null): string =>
  satoshis === null || price === null ? 'price unknown' : usd((Number(satoshis) / 1e8) * price);

export const count = (value: number): string => value.toLocaleString('en-US');

/** Digits kept after the point, so that this many significant ones remain. */
function placesFor(whole: string, fraction: string, digits: number): number {
  if (whole.replace(/^0+/, '') !== '') return Math.max(0, digits - whole.length);
  return (/^0*/.exec(fraction)?.[0].length ?? 0) + digits;
}

/** At most this many significant digits, rounded down; digits before the point always stay. */
export function significant(decimal: string, digits: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return rounded(decimal, placesFor(whole, fraction, digits));
}

/** Like `significant`, but rounded up: a minimum must not become too small. */
export function roundedUp(decimal: string, digits: number): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const places = placesFor(whole, fraction, digits);
  if (!/^\d+(\.\d+)?$/.test(decimal) || fraction.length <= places) return decimal;
  return formatAmount(BigInt(whole + fraction.slice(0, places)) + 1n, places);
}

const GREAT = [
  [15, 'quadrillion'],
  [12, 'trillion'],
  [9, 'billion'],
] as const;
/** `2,500.5`, `1.234 billion`: few digits after the point, rounded down. Any other text is shown unchanged. */
export function inWords(decimal: string): string {
  if (!/^\d+(\.\d+)?$/.test(decimal)) return decimal;
  const [whole = ''] = decimal.split('.');
  for (const [zeros, word] of GREAT)
    if (whole.length > zeros)
      return `${grouped(significant(`${whole.slice(0, -zeros)}.${whole.slice(-zeros)}`, 4))} ${word}`;
  return grouped(significant(decimal, 6));
}

/** The two ends of an address or signature; the whole text if it is short. */
export const shortened = (text: string, ends = 6): string =>
  text.length <= ends * 2 + 1 ? text : `${text.slice(0, ends)}…${text.slice(-ends)}`;

/** `1 claim`, `2 claims` */
export const counted = (amount: number, unit: string): string =>
  `${count(amount)} ${unit}${amount === 1 ? '' : 's'}`;

const AGES = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `3 minutes ago`, rounded down; times in the future are treated as now. */
export function ago(fromMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - fromMs) / 1000));
  if (seconds < 5) return 'just now';
  for (const [unit, length] of AGES)
    if (seconds >= length) return `${counted(Math.floor(seconds / length), unit)} ago`;
  return `${counted(seconds, 'second')} ago`;
}

/** `2026-11-20 17:44 UTC`: UTC, whatever the visitor's time zone. */
export function instant(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : iso;
}

export function fromUnixSeconds(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** 95 seconds is `1:35`. */
export const clock = (seconds: number): string =>
  `${Math.floor(Math.max(0, seconds) / 60)}:${String(Math.floor(Math.max(0, seconds)) % 60).padStart(2, '0')}`;
