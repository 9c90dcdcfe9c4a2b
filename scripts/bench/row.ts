/**
 * One line of the table, and how its times are measured.
 * @module
 */
export interface Row {
  readonly what: string;
  readonly ours: string;
  /** What the figure is compared with, and the value measured for it. */
  readonly limit: string;
  readonly ratio: number | null;
  /** The bound on the ratio: a minimum or a maximum. */
  readonly target: { readonly least: number } | { readonly most: number };
  /** A route's ratio to Hono without any middleware; null if it cannot be compared. */
  readonly bare?: number | null;
}

export const isMet = ({ ratio, target }: Row): boolean | null => {
  if (ratio === null) return null;
  return 'least' in target ? ratio >= target.least : ratio <= target.most;
};

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const wordTarget = (target: Row['target']): string =>
  'least' in target ? `>= ${target.least}` : `<= ${target.most}`;

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const met = isMet(row);
    const verdict = met === null ? '' : met ? 'met' : '**missed**';
    return `| ${row.what} | ${row.ours} | ${row.limit} | ${row.ratio?.toFixed(2) ?? ''} | ${wordTarget(row.target)} | ${verdict} | ${row.bare?.toFixed(2) ?? ''} |`;
  });
  const heads = ['what', 'ours', 'compared with', 'ratio', 'target', '', 'of bare Hono'];
  return [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...lines].join('\n');
}

/** The rows of docs/build/benchmarks.md. The routes that meet their target share one row. */
export function pageRowsOf(rows: readonly Row[]): Row[] {
  const isMetRoute = (row: Row): boolean => row.what.startsWith('GET ') && isMet(row) === true;
  const routes = rows.filter(isMetRoute);
  const ratios = routes.flatMap(({ ratio }) => ratio ?? []);
  const [first] = routes;
  const shared: Row[] = first
    ? [
        {
          ...first,
          what: `${routes.length} GET routes`,
          ours: `ratios ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
          limit: 'Hono with the same middleware, calls and bytes (ratios: the lowest)',
          ratio: Math.min(...ratios),
          bare: Math.min(...routes.flatMap(({ bare }) => bare ?? [])),
        },
      ]
    : [];
  return [...rows.filter((row) => row.ratio !== null && !isMetRoute(row)), ...shared];
}

/** Results of up to `rounds` rounds after a warm-up round. No round starts after `maximumMs`, but one always runs. */
export async function roundsWithin<T>(
  rounds: number,
  maximumMs: number,
  measure: () => Promise<T>,
): Promise<T[]> {
  await measure();
  const until = performance.now() + maximumMs;
  const results: T[] = [];
  while (results.length === 0 || (results.length < rounds && performance.now() < until))
    results.push(await measure());
  return results;
}
