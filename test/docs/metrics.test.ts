import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { columnsOf } from '../../scripts/metrics-page.ts';
import { METRICS, type Metric, pointsOf } from '../../src/wiring/telemetry.ts';
import { blocksOf } from './markdown.ts';

const queries = blocksOf('docs/metrics.md').filter(({ language }) => language === 'sql');
/** Functions that Analytics Engine documents. */
const FUNCTIONS = ['SUM', 'MAX', 'IF', 'NOW', 'quantileExactWeighted', 'toStartOfInterval'];

/** Lines as the service logs them, each metric once or more. */
const LINES = [
  { level: 'info', method: 'GET', route: '/api/tokens/:id', status: 200, ms: 4 },
  { level: 'error', method: 'POST', route: '/api/swap/create', status: 503, ms: 9, code: 'UPSTREAM_FAILED' },
  {
    event: 'operation_changed',
    kind: 'swap',
    state: 'done',
    detail: 'done',
    lamports: 5n,
    satoshis: '7',
    ms: 61_000,
  },
  { event: 'operation_changed', kind: 'token', state: 'failed', detail: 'refused', reason: 'limit_day' },
  { event: 'sign_failed', kind: 'swap', reason: 'timeout' },
  { event: 'upstream_called', upstream: 'solana-rpc-1', outcome: 'ok', ms: 80 },
  { level: 'alarm', event: 'alarms_changed', raised: ['sol_low'], cleared: [] },
];

/** The dataset as a SQLite table with the columns of Analytics Engine. */
function dataset(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  const names = (name: string) => Array.from({ length: 20 }, (_, at) => `${name}${at + 1}`);
  const columns = ['index1', '_sample_interval', 'timestamp', ...names('blob'), ...names('double')];
  db.exec(`CREATE TABLE sluice (${columns.join(', ')})`);
  for (const { indexes, blobs, doubles } of LINES.flatMap(pointsOf)) {
    const row = [
      indexes[0],
      1,
      1,
      ...names('blob').map((_, at) => blobs[at] ?? ''),
      ...names('double').map((_, at) => doubles[at] ?? 0),
    ];
    db.prepare(`INSERT INTO sluice VALUES (${row.map(() => '?').join(', ')})`).run(...row);
  }
  return db;
}

/** Translates ClickHouse SQL to SQLite. */
const translated = (sql: string): string =>
  sql
    .replaceAll(/quantileExactWeighted\([\d.]+\)\((\w+), _sample_interval\)/g, 'MAX($1)')
    .replaceAll(/toStartOfInterval\(timestamp, INTERVAL '\d+' \w+\)/g, 'timestamp')
    .replaceAll(/NOW\(\) - INTERVAL '\d+' \w+/g, '0')
    .replaceAll('IF(', 'iif(');

it.each(queries.map((query) => [`${query.file}:${query.line}`, query.text] as const))(
  '%s reads columns of its metric, and finds rows that the service writes',
  (_name, sql) => {
    const metric = /index1 = '(\w+)'/.exec(sql)?.[1] as Metric;
    const columns = Object.values(columnsOf(metric));
    const used = [...sql.matchAll(/\b(?:blob|double)\d+/g)].map(([column]) => column);
    for (const column of used) expect(columns).toContain(column);
    for (const [, name] of sql.matchAll(/\b([a-z]\w*)\(/gi)) expect(FUNCTIONS).toContain(name);
    expect(sql).toContain('_sample_interval');
    expect(dataset().prepare(translated(sql)).all().length).toBeGreaterThan(0);
  },
);

it('a column that is selected unchanged has the name of its field', () => {
  for (const { text } of queries) {
    const columns = columnsOf(/index1 = '(\w+)'/.exec(text)?.[1] as Metric);
    for (const [, column, name] of text.matchAll(/^ {2}((?:blob|double)\d+) AS (\w+)/gm))
      expect(columns[name ?? ''], name).toBe(column);
  }
});

it('every metric has a query', () => {
  for (const metric of Object.keys(METRICS))
    expect(
      queries.filter(({ text }) => text.includes(`index1 = '${metric}'`)).length,
      metric,
    ).toBeGreaterThan(0);
});
