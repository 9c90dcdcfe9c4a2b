/** The table of tools in docs/agents.md. */
import { TOOLS } from '../src/mcp/tools/all-tools.ts';

const HEAD = '| tool | does | effect | dry run |\n|---|---|---|---|\n';

const rows = TOOLS.map(({ name, title, annotations, input }) => {
  const { readOnlyHint, destructiveHint } = annotations;
  const effect = readOnlyHint ? 'reads' : destructiveHint ? 'spends' : 'creates a record';
  return `| \`${name}\` | ${title} | ${effect} | ${'dry_run' in input.shape ? 'yes' : ''} |\n`;
});

/** The page with the rows of its table of tools replaced. */
export function withTools(page: string): string {
  const [before, after] = page.split(HEAD);
  if (after === undefined) throw new Error('docs/agents.md has no table of tools');
  return `${before}${HEAD}${rows.join('')}${after.replace(/^(\|.*\n)*/, '')}`;
}
