/** Rows of the database as SQL that a new, empty database takes: `d1 export` refuses a database with a search index. */

export type Row = Readonly<Record<string, string | number | null>>;

/** Tables of a schema in its order; virtual ones are filled by triggers. */
export const tablesOf = (schema: string): string[] =>
  [...schema.matchAll(/^CREATE TABLE IF NOT EXISTS (\w+)/gm)].flatMap(([, name]) => (name ? [name] : []));

/** One statement for all tables, so that their first pages are of one moment. */
export const pageQuery = (tables: readonly string[], limit: number, offset: number): string =>
  tables.map((table) => `SELECT * FROM ${table} ORDER BY 1 LIMIT ${limit} OFFSET ${offset}`).join('; ');

export const insertOf = (table: string, row: Row): string =>
  `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')});`;

function literal(value: string | number | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  return `'${value.replaceAll("'", "''")}'`;
}
