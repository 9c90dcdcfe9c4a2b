/**
 * The Durable Objects of the page views.
 * @module
 */
import type { PageViewsApi } from '../features/analytics/page-views-object.ts';
import { BACKUP_TABLES, PAGE_VIEW_OBJECTS } from '../features/analytics/page-views-store.ts';
import type { PageViewBackup } from '../features/ops/routes.ts';

/** Rows per response: at most 0.6 MB, if all rows have the greatest length. */
const BACKUP_PAGE = 1_000;

export const pageViewObjects = (env: Env): readonly PageViewsApi[] =>
  Array.from({ length: PAGE_VIEW_OBJECTS }, (_, number) => env.PAGE_VIEWS.getByName(String(number)));

export function pageViewBackup(env: Env): PageViewBackup {
  const stub = (object: number) => env.PAGE_VIEWS.getByName(String(object));
  return {
    has: (object, table) => object < PAGE_VIEW_OBJECTS && BACKUP_TABLES.has(table),
    rowsAfter: (object, table, key) => stub(object).rowsAfter(table, key, BACKUP_PAGE),
    restore: (object, table, rows) => stub(object).restore(table, rows),
  };
}
