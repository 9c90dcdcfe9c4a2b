/**
 * A place in the rows of several tables. A command that reads all rows stores its place with each page, so a repeated
 * command continues where the last command stopped.
 * @module
 */
import type { MirrorSource } from '../kernel/module.ts';
import type { Entity } from '../kernel/ports.ts';

export type TablePlace = { readonly table: Entity; readonly after: string };

/** The place after a page; undefined after the last table. */
export function placeAfterPage(
  tables: readonly Pick<MirrorSource, 'table'>[],
  { table }: TablePlace,
  page: readonly { readonly id: string }[],
): TablePlace | undefined {
  const last = page.at(-1);
  if (last) return { table, after: last.id };
  const next = tables[tables.findIndex((each) => each.table === table) + 1];
  return next && { table: next.table, after: '' };
}
