/**
 * Parameters that several routes take.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { formatAmount, parseAmount } from '../core/amount.ts';
import { ExactNumber, numberText } from '../core/json.ts';

const REASON = {
  not_a_decimal: 'must be a plain decimal number without sign or exponent',
  too_many_digits: 'has more digits after the point than the unit has',
  too_large: 'is too large',
} as const;

/**
 * An amount as a JSON number or decimal text, read from its source digits into atoms.
 *
 * @param decimals digits of the unit after the point
 * @param minimum  smallest amount accepted, in atoms
 */
export function amountParam(decimals: number, minimum: bigint, description: string, example: string) {
  return z
    .union([z.number(), z.string(), z.instanceof(ExactNumber)], { error: 'must be a number' })
    .transform((value, context) => {
      const parsed = parseAmount(numberText(value) ?? '', decimals);
      if (!parsed.ok) context.addIssue(REASON[parsed.reason]);
      else if (parsed.atoms < minimum)
        context.addIssue(`must be at least ${formatAmount(minimum, decimals)}`);
      else return parsed.atoms;
      return z.NEVER;
    })
    .openapi({ type: 'number', description, example: Number(example) });
}

/**
 * An integer of a query, in plain digits and refused outside its range, never clamped. Coercion would take `0x1`, `1e1`,
 * a blank and what surrounds it. What is left to the route is to describe it.
 */
export const integerParam = (minimum: number, maximum = 999_999_999_999_999) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be ${minimum} to ${maximum}`);
