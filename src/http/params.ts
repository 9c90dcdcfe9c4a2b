/**
 * Parameters that several routes take.
 * @module
 */
import { z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { formatAmount, type ParsedAmount, parseWrittenAmount } from '../core/amount.ts';
import { AppError } from '../core/errors.ts';
import { ExactNumber, numberText } from '../core/json.ts';

const fault = (reason: Extract<ParsedAmount, { ok: false }>['reason'], decimals: number): string => {
  switch (reason) {
    case 'not_a_decimal':
      return 'must be a positive decimal number such as 0.5';
    case 'too_many_digits':
      return `must have at most ${decimals} digits after the point`;
    case 'too_large':
      return 'must have at most 64 characters and at most 128 digits when written out';
  }
};

type AmountRules = {
  /** Decimal places of the unit. */
  readonly decimals: number;
  /** Smallest amount accepted, in atoms. */
  readonly minimum: bigint;
  /** Whether decimal places beyond one atom are dropped or refused. */
  readonly excess: 'drop' | 'refuse';
  readonly description: string;
  readonly example: string;
  /** The pattern of an amount that the API document declares as a string. */
  readonly pattern?: string;
};

/** An amount as a JSON number or decimal string, converted from its source digits into atoms. */
export function amountParam({ decimals, minimum, excess, description, example, pattern }: AmountRules) {
  return z
    .union([z.number(), z.string(), z.instanceof(ExactNumber)], { error: 'must be a number' })
    .transform((value, context) => {
      const parsed = parseWrittenAmount(numberText(value) ?? '', decimals, excess);
      if (!parsed.ok) context.addIssue(fault(parsed.reason, decimals));
      else if (parsed.atoms < minimum)
        context.addIssue(`must be at least ${formatAmount(minimum, decimals)}`);
      else return parsed.atoms;
      return z.NEVER;
    })
    .openapi(
      pattern === undefined
        ? {
            type: 'number',
            minimum: Number(formatAmount(minimum, decimals)),
            description,
            example: Number(example),
          }
        : { type: 'string', pattern, description, example },
    );
}

const integerRule = (minimum: number, maximum: number): string =>
  `must be an integer from ${minimum} to ${maximum}`;

const hasValue = (parameter: string): boolean => {
  const at = parameter.indexOf('=');
  return at !== -1 && at < parameter.length - 1;
};

/** Longest query in characters. A query of this length is cheap to parse, whatever it contains. */
export const MAX_QUERY = 8_192;

/**
 * Removes empty parameters from the query in one pass: forms send one for each empty field.
 * @throws AppError INVALID_INPUT for a query that is longer than any documented one
 */
export const emptyIsAbsent: MiddlewareHandler = async function emptyIsAbsent(c, next) {
  const { url } = c.req;
  const at = url.indexOf('?');
  const query = at === -1 ? '' : url.slice(at + 1);
  if (query.length > MAX_QUERY)
    throw new AppError('INVALID_INPUT', `The query is over ${MAX_QUERY} characters.`);
  const kept = query.split('&').filter(hasValue).join('&');
  if (kept !== query) c.req.raw = new Request(`${url.slice(0, at)}${kept && '?'}${kept}`, c.req.raw);
  await next();
};

/** The largest integer in a query. Every integer of at most 15 digits is exact as a double. */
const MAX_QUERY_INTEGER = 999_999_999_999_999;

/** An integer in a body: a JSON number in any notation (`6`, `6.0`, `6e0`), or the same as a string. */
export function integerMember(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  const rule = integerRule(minimum, maximum);
  return z
    .union([z.number(), z.string(), z.instanceof(ExactNumber)], { error: rule })
    .transform((value, context) => {
      const parsed = parseWrittenAmount(numberText(value) ?? '', 0, 'refuse');
      const integer = parsed.ok ? Number(parsed.atoms) : Number.NaN;
      if (Number.isSafeInteger(integer) && integer >= minimum && integer <= maximum) return integer;
      context.addIssue(rule);
      return z.NEVER;
    })
    .openapi({ type: 'integer', minimum, maximum });
}

/**
 * An integer in a query: plain digits, refused outside its range and never clamped. Coercion would also
 * accept `0x1`, `1e1` and blanks.
 */
export function integerParam(
  minimum: number,
  {
    maximum = MAX_QUERY_INTEGER,
    description,
  }: { readonly maximum?: number; readonly description?: string } = {},
) {
  const rule = integerRule(minimum, maximum);
  return z
    .string()
    .regex(/^\d{1,15}$/, rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule)
    .openapi({ type: 'integer', minimum, maximum, ...(description === undefined ? {} : { description }) });
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';

/** The document's schema of a Solana address: base58 of 32 bytes. */
export const ADDRESS = {
  type: 'string',
  pattern: `^${BASE58}{32,44}$`,
  example: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
} as const;

/** The document's schema of a Solana signature: base58 of 64 bytes. */
export const SIGNATURE = {
  type: 'string',
  pattern: `^${BASE58}{64,88}$`,
  example: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
} as const;

/** The numeric id of a token, or its mint address. */
export const TOKEN_ID = {
  type: 'string',
  pattern: `^([1-9]\\d{0,14}|${BASE58}{32,44})$`,
  example: '1',
} as const;

/** A body whose members are also accepted in camel case: `txSignature` for `tx_signature`. */
export const snakeCased = <S extends z.ZodType>(schema: S) =>
  z.preprocess(
    (body) =>
      typeof body !== 'object' || body === null || Array.isArray(body)
        ? body
        : {
            ...Object.fromEntries(
              Object.entries(body).map(([name, value]) => [
                name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
                value,
              ]),
            ),
            ...body,
          },
    schema,
  );
