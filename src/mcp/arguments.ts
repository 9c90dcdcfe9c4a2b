/**
 * Arguments of the tools: what is published for a model, and what is taken beside it.
 * @module
 */
import * as z from 'zod';
import { formatAmount, parseAmount, SOL_DECIMALS } from '../core/amount.ts';

/** Other spellings that prompts for services of this kind use; never published. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['amount_sol', 'amountSol'],
  ['dryRun', 'dry_run'],
  ['idempotency_key', 'idempotencyKey'],
]);

const REASONS = {
  not_a_decimal: 'is not a plain decimal number without sign or exponent',
  too_many_digits: `has more than ${SOL_DECIMALS} digits after the point`,
  too_large: 'is too large',
} as const;

/** A JSON number loses its exponent, since the API takes plain digits only: 1e-3 is `0.001`. */
function decimalText(value: string | number): string {
  if (typeof value === 'string') return value.trim();
  const text = String(value);
  const [digits = '', exponent] = text.split('e-');
  return exponent === undefined ? text : `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
}

export const amountSol = z
  .union([z.number(), z.string()])
  .describe(
    'SOL to swap, at least 0.001, at most 9 digits after the point, as a number (0.5) or as text ("0.5") to keep every digit. ' +
      'The bounds that hold now are minAmountSol and maxAmountSol of swap_min.',
  )
  .transform((value, context) => {
    const parsed = parseAmount(decimalText(value), SOL_DECIMALS);
    // One spelling an amount: by it a creation whose answer was lost is known again.
    if (parsed.ok) return formatAmount(parsed.atoms, SOL_DECIMALS);
    context.addIssue(REASONS[parsed.reason]);
    return z.NEVER;
  });

/** The same value under the published name; a value under both names is left for the schema to refuse. */
export function canonical(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const published = ALIASES.get(name);
      return [published === undefined || published in given ? name : published, value];
    }),
  );
}
