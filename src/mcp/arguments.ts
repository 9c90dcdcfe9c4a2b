/**
 * Arguments of the tools: the published schemas, the accepted aliases, and the messages of refusals.
 * @module
 */
import * as z from 'zod';
import { formatAmount, parseWrittenAmount, SOL_DECIMALS } from '../core/amount.ts';

/** Spellings from prompts for similar services; accepted, never published. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['amount_sol', 'amountSol'],
  ['idempotency_key', 'idempotencyKey'],
]);

const REASONS = {
  not_a_decimal: 'must be a plain decimal number without sign',
  too_many_digits: 'has too many digits after the point',
  too_large: 'is too large',
} as const;

/**
 * A string. A number is also accepted, but not published, because some hosts refuse all tools if one argument has
 * several types. A number that has lost digits is refused.
 */
export const textOrNumber = <Schema extends z.ZodType<unknown, string>>(schema: Schema) =>
  z.preprocess(
    (value) => (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? `${value}` : value),
    schema,
  );

/** A decimal string in canonical form, so that equal amounts in repeated calls are recognised. */
const decimalAmount = (decimals: number, description: string) =>
  textOrNumber(
    z
      .string()
      .describe(`${description}, such as "0.5", with up to ${decimals} decimals`)
      .transform((value, context) => {
        const parsed = parseWrittenAmount(value.trim(), decimals, 'refuse');
        if (parsed.ok) return formatAmount(parsed.atoms, decimals);
        const reason = REASONS[parsed.reason];
        context.addIssue(
          parsed.reason === 'too_many_digits' ? `${reason}: at most ${decimals} digits` : reason,
        );
        return z.NEVER;
      }),
  );

export const amountSol = decimalAmount(SOL_DECIMALS, 'SOL within the bounds of swap_min');
export const coinAmount = decimalAmount(18, 'Whole coins of `from`');
export const dollarAmount = decimalAmount(6, 'Expected payment in whole USDC or USDT');

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{16,128}$/, 'must be 16 to 128 visible ASCII characters')
  .optional()
  .describe('Of an earlier call with the same arguments: returns its outcome');

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
export const solanaAddress = z.string().trim().regex(ADDRESS, 'must be a Solana address (base58)');
export const solanaSignature = z
  .string()
  .trim()
  .regex(SIGNATURE, 'must be a Solana transaction signature (base58)');
/** An id of this service, which becomes one segment of a path. */
export const recordId = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters');
export const currency = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9._-]{2,32}$/, 'must be a currency code such as btc, sol or usdterc20');

/** Renames aliases to the published names. Where both are given, the schema refuses the alias. */
export function canonical(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const published = ALIASES.get(name);
      return [published === undefined || published in given ? name : published, value];
    }),
  );
}

/** Names with which callers request a dry run. */
const DRY_RUN = /^dry[\s_-]*run$/i;
const HOW_TO_CHECK =
  'this tool really spends or creates. To only check, use swap_estimate, exchange_estimate, or skipReward of asry_claim';

const MAX_ISSUES = 5;

/** Names each refused argument and the reason. @param issues with the texts of `issueText` */
export const refusalText = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, MAX_ISSUES)
    .map(({ code, path, message }) =>
      code === 'unrecognized_keys' ? message : `${path.join('.') || 'the arguments'} ${message}`,
    )
    .join('; ');

/** The reason for a refusal, if the schema has no message. */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    const unknown = `unknown argument ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
    return issue.keys.some((key) => DRY_RUN.test(key)) ? `${unknown}: ${HOW_TO_CHECK}` : unknown;
  }
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'one JSON object',
};
