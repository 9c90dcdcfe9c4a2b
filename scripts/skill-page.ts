/** The tables of SKILL.md that follow from the error table and the API document. */
import type { ErrorTable } from '../src/core/errors.ts';
import { nextStep } from '../src/mcp/api-client.ts';
import { operationsOf } from './documents/api-document.ts';
import { type ApiDocument, codesOf } from './documents/shared-parts.ts';
import { withRows } from './table-rows.ts';

const STEPS = ['getSwapMinimum', 'getSwapEstimate', 'createSwap', 'getSwapStatus'];

/** The page with its codes and actions replaced. */
export function withCodes(page: string, errors: ErrorTable, document: ApiDocument): string {
  const named = operationsOf(document)
    .filter(({ operation }) => STEPS.includes(operation.operationId ?? ''))
    .flatMap(({ operation }) => Object.values(operation.responses))
    .flatMap((response) => codesOf(response?.content?.['application/json']?.schema));
  const codes = Object.entries(errors)
    .filter(([code]) => named.includes(code))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const actions = [...new Set(codes.map(([, { action }]) => action))].sort();
  return withRows(
    withRows(
      page,
      '| action |',
      actions.map((action) => `| \`${action}\` | ${nextStep(action)} |`),
    ),
    '| code |',
    codes.map(([code, { meaning, action }]) => `| \`${code}\` | ${meaning} | \`${action}\` |`),
  );
}
