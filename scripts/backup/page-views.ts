/**
 * The page views of a service, through its operator's route: one line of JSON for each row.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { BACKUP_TABLES, PAGE_VIEW_OBJECTS } from '../../src/features/analytics/page-views-store.ts';

export type Service = { readonly url: string; readonly secret: string };

export const Rows = z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])));
const Answer = z.object({
  ok: z.boolean().optional(),
  message: z.string().optional(),
  rows: Rows.optional(),
});
const Line = z.object({ object: z.int(), table: z.string(), row: Rows.element });
type Line = z.output<typeof Line>;

/** Rows in one restore request: its body has at most 16 KiB, and the longest rows have 0.6 KB. */
const RESTORED_ROWS = 25;

/** @throws Error when the service refuses */
async function ask({ url, secret }: Service, command: object): Promise<z.output<typeof Rows>> {
  for (;;) {
    const response = await fetch(`${url.replace(/\/+$/, '')}/api/ops`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(command),
    }).catch(() => {
      throw new Error(`${url} does not respond.`);
    });
    if (response.status === 429) {
      await sleep(1_000 * Number(response.headers.get('retry-after') ?? 60));
      continue;
    }
    const answer = Answer.parse(await response.json().catch(() => ({})));
    if (response.status === 401) throw new Error(`${url} refused this OPS_SECRET.`);
    if (!response.ok || answer.ok !== true)
      throw new Error(`${url}: status ${response.status} ${answer.message ?? ''}`);
    return answer.rows ?? [];
  }
}

/** @throws Error unless the service would give its page views */
export async function askForPageViews(service: Service): Promise<void> {
  const [[table] = ['']] = BACKUP_TABLES;
  await ask(service, { name: 'export-page-views', object: 0, table, after: [] });
}

/**
 * Walks each table along its key, so that views that arrive meanwhile move no row to another page.
 * @param write receives the lines of a page
 * @returns the number of rows
 */
export async function dumpPageViews(service: Service, write: (lines: string) => void): Promise<number> {
  let count = 0;
  for (let object = 0; object < PAGE_VIEW_OBJECTS; object += 1)
    for (const [table, key] of BACKUP_TABLES) {
      let after: unknown[] = [];
      for (;;) {
        const rows = await ask(service, { name: 'export-page-views', object, table, after });
        const last = rows.at(-1);
        if (!last) break;
        write(rows.map((row) => `${JSON.stringify({ object, table, row } satisfies Line)}\n`).join(''));
        count += rows.length;
        after = key.map((column) => last[column]);
      }
    }
  return count;
}

/** Puts rows in place of those with the same key. @returns the number of rows */
export async function restorePageViews(service: Service, text: string): Promise<number> {
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => Line.parse(JSON.parse(line)));
  for (const one of Map.groupBy(lines, ({ object, table }) => `${object} ${table}`).values())
    for (let from = 0; from < one.length; from += RESTORED_ROWS) {
      const part = one.slice(from, from + RESTORED_ROWS);
      const [{ object, table } = { object: 0, table: '' }] = part;
      await ask(service, { name: 'restore-page-views', object, table, rows: part.map(({ row }) => row) });
    }
  return lines.length;
}
