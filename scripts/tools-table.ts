/** The table of tools in docs/use/agents.md. */
import { TOOLS } from '../src/mcp/tools/all-tools.ts';
import { withRows } from './table-rows.ts';

const rows = TOOLS.map(({ name, title, annotations }) => {
  const { readOnlyHint, destructiveHint } = annotations;
  const effect = readOnlyHint ? 'reads' : destructiveHint ? 'spends' : 'creates a record';
  return `| \`${name}\` | ${title} | ${effect} |`;
});

/** The page with the rows of its table of tools replaced. */
export const withTools = (page: string): string => withRows(page, '| tool | purpose |', rows);
