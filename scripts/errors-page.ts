/** The tables of docs/use/errors.md, from the table of codes and the API document. */
import { ERROR_ACTIONS, type ErrorTable } from '../src/core/errors.ts';
import { operationsOf } from './documents/api-document.ts';
import { type ApiDocument, codesOf } from './documents/shared-parts.ts';
import { withRows } from './table-rows.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The page with its actions and codes replaced. */
export function withErrors(page: string, errors: ErrorTable, document: ApiDocument): string {
  const statuses = new Map<string, Set<string>>();
  for (const { operation } of operationsOf(document))
    for (const [status, response] of Object.entries(operation.responses))
      for (const code of codesOf(response?.content?.['application/json']?.schema))
        statuses.set(code, (statuses.get(code) ?? new Set()).add(status));
  const actions = [...new Set(Object.values(errors).map(({ action }) => action))].sort();
  const rows = Object.entries(errors)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { status, action, meaning }]) => {
      const sent = [...(statuses.get(code) ?? [String(status)])].sort().join(', ');
      return `| \`${code}\` | ${sent} | \`${action}\` | ${cell(meaning)} |`;
    });
  const steps = actions.map((action) => `| \`${action}\` | ${cell(ERROR_ACTIONS[action])} |`);
  return withRows(withRows(page, '| action |', steps), '| code |', rows);
}
