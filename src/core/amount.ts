/**
 * Amounts are bigint atoms with the unit in the type; decimals exist only as strings in requests and responses.
 * @module
 */
declare const unit: unique symbol;
type Atoms<U extends string> = bigint & { readonly [unit]: U };

/** 1 SOL = 1,000,000,000 lamports. */
export type Lamports = Atoms<'lamports'>;
/** 1 BTC = 100,000,000 sats. */
export type Sats = Atoms<'sats'>;

export const SOL_DECIMALS = 9;
export const BTC_DECIMALS = 8;

export const lamports = (atoms: bigint): Lamports => atoms as Lamports;
export const sats = (atoms: bigint): Sats => atoms as Sats;

export type ParsedAmount =
  | { ok: true; atoms: bigint }
  | { ok: false; reason: 'not_a_decimal' | 'too_many_digits' | 'too_large' };

/**
 * Maximum characters of an amount. No asset needs more, and a longer string would exploit BigInt's quadratic parser.
 */
const MAX_TEXT = 64;

/**
 * Exact atoms of a plain decimal: no sign, no exponent, never rounded.
 *
 * @param text     such as `2.01`
 * @param decimals digits of the unit after the point: 9 for SOL, 8 for BTC
 */
export const parseAmount = (text: string, decimals: number): ParsedAmount =>
  text.length <= MAX_TEXT && /e/i.test(text)
    ? { ok: false, reason: 'not_a_decimal' }
    : parseWrittenAmount(text, decimals, 'refuse');

/** A decimal in the notation of JSON and JavaScript: `5e-1`, `1E+3`, `1e-7`. */
const WRITTEN = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Atoms of a number that may have an exponent. A sign is refused.
 *
 * @param excess treatment of decimal places smaller than one atom. `drop` rounds down, because a sum of doubles such as
 * `0.30000000000000004` has digits that the caller did not intend. `raise` rounds up. `refuse` is for amounts that are
 * compared
 */
export function parseWrittenAmount(
  text: string,
  decimals: number,
  excess: 'drop' | 'raise' | 'refuse',
): ParsedAmount {
  if (text.length > MAX_TEXT) return { ok: false, reason: /^\d/.test(text) ? 'too_large' : 'not_a_decimal' };
  const match = WRITTEN.exec(text);
  if (!match) return { ok: false, reason: 'not_a_decimal' };
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (/^0+$/.test(digits)) return { ok: true, atoms: 0n };
  // Number of digits of the whole amount in atoms.
  const length = whole.length + Number(exponent) + decimals;
  if (length > 2 * MAX_TEXT) return { ok: false, reason: 'too_large' };
  const hasExcess = /[1-9]/.test(digits.slice(Math.max(length, 0)));
  if (hasExcess && excess === 'refuse') return { ok: false, reason: 'too_many_digits' };
  const atoms = length <= 0 ? 0n : BigInt(digits.slice(0, length).padEnd(length, '0'));
  return { ok: true, atoms: hasExcess && excess === 'raise' ? atoms + 1n : atoms };
}

/** A plain decimal string without trailing zeros: 2010000000 lamports is `2.01`. */
export function formatAmount(atoms: bigint, decimals: number): string {
  const digits = (atoms < 0n ? -atoms : atoms).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${atoms < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

/**
 * The nearest JSON number, for the contract's numeric fields. The string of atoms in the same response is
 * exact.
 */
export const toNumber = (atoms: bigint, decimals: number): number => Number(formatAmount(atoms, decimals));

/** Rounds up to `digits` significant digits: 123456 at 3 is 124000. */
export function ceilSignificant(atoms: bigint, digits: number): bigint {
  const unit = 10n ** BigInt(Math.max(atoms.toString().length - digits, 0));
  return ((atoms + unit - 1n) / unit) * unit;
}

/** Groups digits for display: 1234567.05 becomes 1,234,567.05. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const sign = whole.startsWith('-') ? '−' : '';
  const digits = whole.replace('-', '').replace(/\B(?=(\d{3})+$)/g, ',');
  return `${sign}${digits}${fraction === undefined ? '' : `.${fraction}`}`;
}
