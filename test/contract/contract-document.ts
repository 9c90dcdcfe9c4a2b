import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A table of the contract, as parsed from its text. */
export interface DocumentTable {
  /** Headings down to the table, and its number when one heading has several: `Errors (2)`. */
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Every table of a Markdown text, in order. */
export function readTables(markdown: string): DocumentTable[] {
  const found: { heading: string; rows: string[][] }[] = [];
  const headings: string[] = [];
  const lines = markdown.split('\n');
  for (const [at, line] of lines.entries()) {
    const heading = /^(#+) (.*)$/.exec(line);
    if (heading) headings.splice((heading[1] ?? '').length - 1, Number.POSITIVE_INFINITY, heading[2] ?? '');
    if (/^\|(-+\|)+$/.test(line)) found.push({ heading: headings.slice(1).join(' > '), rows: [] });
    else if (line.startsWith('|') && !/^\|-/.test(lines[at + 1] ?? '')) found.at(-1)?.rows.push(cells(line));
  }
  return found.map(({ heading, rows }, at) => {
    const same = found.filter((table) => table.heading === heading);
    const number = found.slice(0, at + 1).filter((table) => table.heading === heading).length;
    return { title: same.length === 1 ? heading : `${heading} (${number})`, rows };
  });
}

export const contractTables = (): DocumentTable[] =>
  readTables(readFileSync(join(import.meta.dirname, 'interface-specification.md'), 'utf8'));
