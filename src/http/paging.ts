/**
 * Lists in pages (`limit`, an opaque `cursor`, and `next_cursor`) and as CSV (RFC 4180). A cursor contains the sort key
 * of the last row shown. So new rows neither repeat nor hide a row, and every page costs the same.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { base64urlnopad } from '@scure/base';
import type { Context, TypedResponse } from 'hono';
import { accepts } from 'hono/accepts';
import { AppError } from '../core/errors.ts';
import { integerParam } from './params.ts';
import { withGiven } from './validation-messages.ts';

/** Longest cursor that is decoded, in characters. */
const MAX_CURSOR = 800;
export const MAX_PAGE = 100;

/** Query parameters of every list. */
export const pageParams = (byDefault = MAX_PAGE) => ({
  limit: integerParam(1, { maximum: MAX_PAGE, description: 'Rows of one page' })
    .optional()
    .transform((limit) => limit ?? byDefault)
    .openapi({ default: byDefault }),
  cursor: z
    .string()
    .max(MAX_CURSOR)
    .optional()
    .openapi({ pattern: '^[A-Za-z0-9_-]+$', description: 'next_cursor of the previous page; opaque' }),
});

export type CursorKey = readonly (string | number)[];

/** @param list name of the list: a cursor of another list is refused */
export const encodeCursor = (list: string, key: CursorKey): string =>
  base64urlnopad.encode(new TextEncoder().encode(JSON.stringify([list, ...key])));

/**
 * The sort key in a cursor; null without a cursor.
 * @param key shape of the list's sort key
 * @throws AppError INVALID_INPUT for a cursor that this list did not issue
 */
export function decodeCursor<K extends CursorKey>(
  list: string,
  key: z.ZodType<K>,
  cursor: string | undefined,
): K | null {
  if (cursor === undefined) return null;
  const parts = z
    .tuple([z.literal(list)])
    .rest(z.union([z.string(), z.number()]))
    .safeParse(decoded(cursor));
  const found = key.safeParse(parts.data?.slice(1));
  if (found.success) return found.data;
  const message = withGiven('must be a next_cursor of this list', cursor);
  throw new AppError('INVALID_INPUT', `cursor ${message}`, {
    details: { issues: [{ in: 'query', path: 'cursor', message }] },
  });
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(base64urlnopad.decode(text)),
    );
  } catch {
    return undefined;
  }
}

export type Page<Row> = { readonly rows: readonly Row[]; readonly next: string | null };

/**
 * A page of at most `limit` rows.
 * @param read  up to `limit + 1` rows: one row over the limit means that there is a next page
 * @param keyOf sort key of a row
 */
export function pageOf<Row>(
  list: string,
  read: readonly Row[],
  limit: number,
  keyOf: (row: Row) => CursorKey,
): Page<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: read.length > limit && last ? encodeCursor(list, keyOf(last)) : null };
}

/** Adds the next page to the `Link` header, for bodies without `next_cursor`. */
export function linkNext(c: Context, next: string | null): void {
  if (next === null) return;
  const url = new URL(c.req.url);
  url.searchParams.set('cursor', next);
  c.header('Link', `<${url.pathname}${url.search}>; rel="next"`);
}

type Cell = string | number | boolean | null;

/** Whether the caller prefers CSV to JSON. Sets `Vary`, because both come from one URL. */
export function wantsCsv(c: Context): boolean {
  c.header('Vary', 'Accept', { append: true });
  const type = accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'text/csv'],
    default: 'application/json',
  });
  return type === 'text/csv';
}

const cellText = (value: Cell): string => {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A header row with the members' names, then one line per row. Null is an empty cell. */
function toCsv(rows: readonly Readonly<Record<string, Cell>>[], columns: readonly string[]): string {
  const lines = rows.map((row) => columns.map((column) => cellText(row[column] ?? null)).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

/**
 * @param name of the file that a browser saves
 * @param row  schema of a row; its members are the columns
 * @param next cursor of the next page, sent in the `Link` header
 */
export function csvList(
  c: Context,
  name: string,
  row: z.ZodObject,
  rows: readonly Readonly<Record<string, Cell>>[],
  next: string | null,
): Response & TypedResponse<never, 200, 'json'> {
  linkNext(c, next);
  c.header('Content-Disposition', `inline; filename="${name}.csv"`);
  const headers = { 'Content-Type': 'text/csv; charset=utf-8; header=present' };
  const response: Response = c.body(toCsv(rows, Object.keys(row.shape)), 200, headers);
  return response as Response & TypedResponse<never, 200, 'json'>;
}
