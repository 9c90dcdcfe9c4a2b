/**
 * Rows of the database as SQL for a new, empty database: `d1 export` refuses a database with a search index.
 */

export type Row = Readonly<Record<string, string | number | null>>;

/** Tables of a schema, in its order. Virtual tables are left out, because triggers fill them. */
export const tablesOf = (schema: string): string[] =>
  [...schema.matchAll(/^CREATE TABLE IF NOT EXISTS (\w+)/gm)].flatMap(([, name]) => (name ? [name] : []));

/** Columns of a table's primary key, in order. @throws Error when the schema has none */
export function keyOf(schema: string, table: string): string[] {
  const columns =
    new RegExp(`^CREATE TABLE IF NOT EXISTS ${table} \\(\\n([^]*?)^\\)`, 'm').exec(schema)?.[1] ?? '';
  const key =
    /^ *PRIMARY KEY \(([^)]+)\)/m.exec(columns)?.[1] ?? /^ *(\w+) .*\bPRIMARY KEY\b/m.exec(columns)?.[1];
  if (key === undefined) throw new Error(`no primary key of ${table}`);
  return key.split(', ');
}

/** The rows of each query, in the order of the queries. */
type Rows = readonly (readonly Row[])[];

type What = {
  readonly schema: string;
  /** Rows per query. */
  readonly page: number;
  /** Called after each page with the rows of its table that were read so far. */
  readonly onProgress?: (table: string, rows: number) => void;
};

/**
 * Every row as a statement. Pages follow the primary key, so a row that is inserted or deleted meanwhile moves no
 * other row. None is missed or repeated.
 *
 * @param read returns the rows of the queries in order; the first pages of all tables are read in one call
 */
export async function dumpRows(
  { schema, page, onProgress }: What,
  read: (queries: readonly string[]) => Rows | Promise<Rows>,
): Promise<string[]> {
  const statements: string[] = [];
  type Walk = {
    readonly table: string;
    readonly key: readonly string[];
    readonly read: number;
    readonly last?: Row;
  };
  let open: Walk[] = tablesOf(schema).map((table) => ({ table, key: keyOf(schema, table), read: 0 }));
  while (open.length > 0) {
    const answers = await read(open.map(({ table, key, last }) => pageQuery(table, key, page, last)));
    if (answers.length !== open.length) throw new Error('not one result for each table');
    open = open.flatMap(({ table, key, read: before }, at) => {
      const rows = answers[at] ?? [];
      for (const row of rows) statements.push(insertOf(table, row));
      const last = rows.at(-1);
      const count = before + rows.length;
      if (count > 0) onProgress?.(table, count);
      return last && rows.length === page ? [{ table, key, read: count, last }] : [];
    });
  }
  return statements;
}

function pageQuery(table: string, key: readonly string[], limit: number, last: Row | undefined): string {
  const columns = key.join(', ');
  const behind = key.map((column) => literal(last?.[column] ?? null)).join(', ');
  return `SELECT * FROM ${table}${last ? ` WHERE (${columns}) > (${behind})` : ''} ORDER BY ${columns} LIMIT ${limit}`;
}

export const insertOf = (table: string, row: Row): string =>
  `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')});`;

function literal(value: string | number | null): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  return `'${value.replaceAll("'", "''")}'`;
}
