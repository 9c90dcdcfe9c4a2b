/** The page with the rows of one table replaced. @param first the beginning of the table's heading line */
export function withRows(page: string, first: string, rows: readonly string[]): string {
  const table = page.split(/\n\n|\n$/).find((block) => block.startsWith(first));
  if (table === undefined) throw new Error(`no table that begins with ${first}`);
  const [heading, line] = table.split('\n');
  return page.replace(table, () => [heading, line, ...rows].join('\n'));
}
