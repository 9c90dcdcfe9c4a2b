import { parseAmount } from '../../src/core/amount.ts';
import { units } from './format.ts';

/**
 * The fault in a typed amount; null while it is empty or valid.
 * @param most largest possible amount, in atoms; null while it is not known
 */
export function amountFault(
  text: string,
  decimals: number,
  unit: string,
  most: bigint | null = null,
): string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const parsed = parseAmount(trimmed, decimals);
  if (parsed.ok) {
    if (parsed.atoms === 0n) return `Enter more than 0 ${unit}.`;
    return most !== null && parsed.atoms > most
      ? `At most ${units(most.toString(), decimals)} ${unit}.`
      : null;
  }
  switch (parsed.reason) {
    case 'not_a_decimal':
      return trimmed.includes(',')
        ? 'Write a point instead of the comma, such as 0.5, and do not group digits.'
        : 'Digits and one point, such as 0.5';
    case 'too_many_digits':
      return `At most ${decimals} digits after the point.`;
    case 'too_large':
      return 'That is too much.';
  }
}

export const isAmount = (text: string, decimals: number, unit: string, most: bigint | null = null): boolean =>
  text.trim() !== '' && amountFault(text, decimals, unit, most) === null;
