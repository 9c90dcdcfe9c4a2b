/**
 * Lists as CSV (RFC 4180) for callers whose `Accept` prefers it.
 * @module
 */
import { z } from '@hono/zod-openapi';
import type { Context, TypedResponse } from 'hono';
import { accepts } from 'hono/accepts';
import { linkNext } from './page.ts';
import { jsonResponse } from './router.ts';

type Cell = string | number | boolean | null;

/** Whether the caller prefers CSV to JSON. Sets `Vary`, since both come from one URL. */
export function wantsCsv(c: Context): boolean {
  c.header('Vary', 'Accept', { append: true });
  const type = accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'text/csv'],
    default: 'application/json',
  });
  return type === 'text/csv';
}

/** A list in both forms. Its type is that of the JSON form, which typed clients request. */
export function listResponse<S extends z.ZodType>(schema: S, description: string) {
  const json = jsonResponse(schema, description);
  const content = { ...json.content, 'text/csv': { schema: z.string() } };
  return { ...json, content: content as typeof json.content };
}

const cellText = (value: Cell): string => {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A header row with the members' names, then one line per row. Null is an empty cell. */
export function toCsv(rows: readonly Readonly<Record<string, Cell>>[], columns: readonly string[]): string {
  const lines = rows.map((row) => columns.map((column) => cellText(row[column] ?? null)).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

/**
 * @param name of the file that a browser saves
 * @param next cursor of the next page, sent in the `Link` header
 */
export function csvList(
  c: Context,
  name: string,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, Cell>>[],
  next: string | null,
): Response & TypedResponse<never, 200, 'json'> {
  linkNext(c, next);
  c.header('Content-Disposition', `inline; filename="${name}.csv"`);
  const headers = { 'Content-Type': 'text/csv; charset=utf-8; header=present' };
  const response: Response = c.body(toCsv(rows, columns), 200, headers);
  return response as Response & TypedResponse<never, 200, 'json'>;
}
