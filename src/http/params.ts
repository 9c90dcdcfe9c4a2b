/**
 * Parameters that several routes take.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { formatAmount, parseWrittenAmount } from '../core/amount.ts';
import { ExactNumber, numberText } from '../core/json.ts';

const REASON = {
  not_a_decimal: 'must be a positive decimal number such as 0.5',
  too_many_digits: 'has more digits after the point than the unit has',
  too_large: 'is too large',
} as const;

type AmountRules = {
  /** Digits of the unit after the point. */
  readonly decimals: number;
  /** Smallest amount accepted, in atoms. */
  readonly minimum: bigint;
  /** Treatment of digits beyond the unit. */
  readonly excess: 'drop' | 'refuse';
  readonly description: string;
  readonly example: string;
};

/** An amount as a JSON number or decimal text, converted from its source digits into atoms. */
export function amountParam({ decimals, minimum, excess, description, example }: AmountRules) {
  return z
    .union([z.number(), z.string(), z.instanceof(ExactNumber)], { error: 'must be a number' })
    .transform((value, context) => {
      const parsed = parseWrittenAmount(numberText(value) ?? '', decimals, excess);
      if (!parsed.ok) context.addIssue(REASON[parsed.reason]);
      else if (parsed.atoms < minimum)
        context.addIssue(`must be at least ${formatAmount(minimum, decimals)}`);
      else return parsed.atoms;
      return z.NEVER;
    })
    .openapi({ type: 'number', description, example: Number(example) });
}

/** An integer in a body: a JSON number in any notation (`6`, `6.0`, `6e0`), or the same as text. */
export const integerMember = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  z
    .union([z.number(), z.string(), z.instanceof(ExactNumber)], { error: 'must be an integer' })
    .transform((value, context) => {
      const parsed = parseWrittenAmount(numberText(value) ?? '', 0, 'refuse');
      const integer = parsed.ok ? Number(parsed.atoms) : Number.NaN;
      if (!Number.isSafeInteger(integer)) context.addIssue('must be an integer');
      else if (integer < minimum || integer > maximum)
        context.addIssue(
          maximum === Number.MAX_SAFE_INTEGER
            ? `must be at least ${minimum}`
            : `must be ${minimum} to ${maximum}`,
        );
      else return integer;
      return z.NEVER;
    })
    .openapi({ type: 'integer', minimum, ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }) });

/**
 * An integer in a query: plain digits, refused outside its range and never clamped. Coercion would also
 * accept `0x1`, `1e1` and blanks. The route describes it.
 */
export const integerParam = (minimum: number, maximum = 999_999_999_999_999) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be an integer')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be ${minimum} to ${maximum}`);
