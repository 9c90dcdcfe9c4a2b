import { expect, it } from 'vitest';

/** The lines of a text table as their cells: one scene a line, bars between the cells. A line continues its scene if it begins with a bar, or follows a semicolon. */
export const scenes = (table: string): string[][] =>
  table
    .trim()
    .replaceAll(/\n\s*\|/g, ' |')
    .replaceAll(/;\n\s*/g, '; ')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/** A cell as JSON, a bigint, or else its text. */
function cellValue(cell: string): unknown {
  if (cell === 'undefined') return undefined;
  if (/^-?[\d_]+n$/.test(cell)) return BigInt(cell.slice(0, -1).replaceAll('_', ''));
  return /^([[{"\d-]|(true|false|null)$)/.test(cell) ? JSON.parse(cell) : cell;
}

/** The lines of a text table as their values: text without quotes, else JSON, a bigint or undefined. */
export const rows = <Row extends readonly unknown[]>(table: string): Row[] =>
  scenes(table).map((cells) => cells.map(cellValue) as unknown as Row);

/** `it.each` over the scenes of a text table, their cells as text. */
export const eachScene = (table: string) => it.each(scenes(table));

/** `it.each` over the cells of a text table. */
export const eachText = (table: string) => it.each(scenes(table).flat());

/** `it.each` over `[text, result]` of a text table whose lines are a result and the texts that have it. */
export const eachResult = (table: string) =>
  it.each(scenes(table).flatMap(([result = '', ...texts]) => texts.map((text) => [text, result] as const)));

/** `it.each` over the rows of a text table. */
export const eachRow = <Row extends readonly unknown[]>(table: string) => it.each(rows<Row>(table));

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a time such as `40m1ms` or `-30s`. */
export function msOf(text: string): number {
  const parts = [...text.matchAll(/(\d+)(ms|[smhd])/g)];
  if (parts.length === 0) throw new Error(`no time: ${text}`);
  const sum = parts.reduce((ms, [, count, unit]) => ms + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
  return text.startsWith('-') ? -sum : sum;
}

/** What the steps of a scene may do and look at, by name. */
type Verbs = Readonly<Record<string, (...words: never[]) => unknown>>;

/**
 * Runs steps such as `wait 5s; detail a = expired`, each a verb and its words.
 * @param compare gets what a step with ` = ` returns
 */
export async function playSteps(
  steps: string,
  verbs: Verbs,
  compare = (actual: string, expected: string, step: string): void => expect(actual, step).toBe(expected),
): Promise<void> {
  for (const step of steps.split(';').map((text) => text.trim())) {
    const [act = '', expected] = step.split(' = ');
    if (act.endsWith(' =') || expected === '') throw new Error(`nothing is expected: ${step}`);
    const [name = '', ...words] = act.split(' ');
    const verb = verbs[name] as ((...words: string[]) => unknown) | undefined;
    if (!verb) throw new Error(`no verb: ${step}`);
    const actual = await verb(...words);
    if (expected !== undefined) compare(String(actual), expected, step);
  }
}

/** A test for each `title | steps` of a text table, over verbs that are made for it. */
export const playScenes = (table: string) => (createVerbs: () => Verbs | Promise<Verbs>) =>
  eachScene(table)('%s', async (_title, steps = '') => playSteps(steps, await createVerbs()));
