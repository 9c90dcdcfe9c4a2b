/**
 * docs/metrics.md: the fields of each metric and queries for a dashboard, generated from the field table of
 * the code.
 */
import { METRICS, type Metric } from '../src/wiring/telemetry.ts';

type Field<M extends Metric> = (typeof METRICS)[M]['labels'][number] | (typeof METRICS)[M]['values'][number];

const WRITTEN: { readonly [M in Metric]: string } = {
  request: 'each API request',
  operation: 'an operation of the custodian that begins or changes its state',
  signing: 'each signature, and each attempt that failed',
  upstream: 'each HTTP request to an upstream',
  alarm: 'each alarm',
};

const FIELDS: { readonly [M in Metric]: Readonly<Record<Field<M>, string>> } = {
  request: {
    route: 'template of the route, such as `/api/swap/status/:id`; `/*` for an unknown path',
    method: '`GET`, `HEAD`, `POST`, `OPTIONS` or `other`',
    status: 'HTTP status',
    code: '`error_code` of a failure, else empty',
    ms: 'milliseconds to the response',
  },
  operation: {
    kind: '`swap`, `token`, `asry`, `absr` or `refund`',
    state: '`planned`, `signed`, `settling`, `done` or `failed`',
    detail: 'more precise than the state, such as `sent` or `refunded`',
    reason: 'code of a failure, else empty',
    lamports: 'SOL that it moves, in lamports; 0 once it was refused',
    satoshis: 'BTC that arrived for a swap, in sats',
    ms: 'milliseconds since it began',
  },
  signing: { kind: 'kind of the operation', outcome: '`signed` or `failed`', reason: 'code of a failure' },
  upstream: {
    upstream: 'name, such as `solana-rpc-1` or `near-intents`',
    outcome: '`ok`, `rate_limited`, `status_4xx`, `status_5xx`, `timeout`, `unreachable` or `too_large`',
    ms: 'milliseconds to the end of the body',
  },
  alarm: {
    alarm: 'name of an alarm or event',
    change: '`raised`, `cleared`, or `logged` for an event that does not clear',
  },
};

/** Columns of a metric in Analytics Engine, by field. */
export function columnsOf(metric: Metric): Record<string, string> {
  const { labels, values } = METRICS[metric];
  return Object.fromEntries([
    ...labels.map((field, at) => [field, `blob${at + 1}`]),
    ...values.map((field, at) => [field, `double${at + 1}`]),
  ]);
}

const COUNT = 'SUM(_sample_interval)';
const quantile = (level: number, column: string | undefined): string =>
  `quantileExactWeighted(${level})(${column}, _sample_interval)`;
const countIf = (condition: string): string => `SUM(IF(${condition}, _sample_interval, 0))`;

type Query = {
  readonly title: string;
  readonly metric: Metric;
  readonly since: string;
  /** Columns of the result by name, in order. Those of `groupBy` come first. */
  readonly groupBy: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, string>>;
  readonly where?: string;
  readonly orderBy: string;
};

const request = columnsOf('request');
const operation = columnsOf('operation');
const signing = columnsOf('signing');
const upstream = columnsOf('upstream');
const alarm = columnsOf('alarm');
const every = (interval: string): string => `toStartOfInterval(timestamp, INTERVAL ${interval})`;

const QUERIES: readonly Query[] = [
  {
    title: 'Requests and failures over time',
    metric: 'request',
    since: "'1' DAY",
    groupBy: { time: every("'5' MINUTE") },
    columns: {
      requests: COUNT,
      server_errors: countIf(`${request.status} >= '500'`),
      rate_limited: countIf(`${request.status} = '429'`),
    },
    orderBy: 'time',
  },
  {
    title: 'Duration of each route',
    metric: 'request',
    since: "'1' DAY",
    groupBy: { route: request.route ?? '', method: request.method ?? '' },
    columns: {
      requests: COUNT,
      p50_ms: quantile(0.5, request.ms),
      p95_ms: quantile(0.95, request.ms),
      p99_ms: quantile(0.99, request.ms),
    },
    orderBy: 'requests DESC',
  },
  {
    title: 'Failures by code',
    metric: 'request',
    since: "'1' DAY",
    groupBy: { code: request.code ?? '', route: request.route ?? '', status: request.status ?? '' },
    columns: { requests: COUNT },
    where: `${request.code} != ''`,
    orderBy: 'requests DESC',
  },
  {
    title: 'Swaps per day: outcome, SOL out, BTC in and duration',
    metric: 'operation',
    since: "'30' DAY",
    groupBy: { day: every("'1' DAY"), detail: operation.detail ?? '' },
    columns: {
      swaps: COUNT,
      sol: `SUM(_sample_interval * ${operation.lamports}) / 1000000000`,
      btc: `SUM(_sample_interval * ${operation.satoshis}) / 100000000`,
      p50_seconds: `${quantile(0.5, operation.ms)} / 1000`,
    },
    where: `${operation.kind} = 'swap' AND (${operation.state} = 'done' OR ${operation.state} = 'failed')`,
    orderBy: 'day',
  },
  {
    title: 'Signatures',
    metric: 'signing',
    since: "'7' DAY",
    groupBy: {
      day: every("'1' DAY"),
      kind: signing.kind ?? '',
      outcome: signing.outcome ?? '',
      reason: signing.reason ?? '',
    },
    columns: { signatures: COUNT },
    orderBy: 'day',
  },
  {
    title: 'Duration and failures of each upstream',
    metric: 'upstream',
    since: "'1' DAY",
    groupBy: { upstream: upstream.upstream ?? '' },
    columns: {
      calls: COUNT,
      failed: countIf(`${upstream.outcome} != 'ok'`),
      p50_ms: quantile(0.5, upstream.ms),
      p95_ms: quantile(0.95, upstream.ms),
    },
    orderBy: 'calls DESC',
  },
  {
    title: 'Alarms',
    metric: 'alarm',
    since: "'30' DAY",
    groupBy: { alarm: alarm.alarm ?? '', change: alarm.change ?? '' },
    columns: { times: COUNT, last: 'MAX(timestamp)' },
    orderBy: 'last DESC',
  },
];

function sqlOf({ metric, since, groupBy, columns, where, orderBy }: Query): string {
  const selected = Object.entries({ ...groupBy, ...columns }).map(
    ([name, column]) => `  ${column} AS ${name}`,
  );
  return [
    'SELECT',
    selected.join(',\n'),
    'FROM sluice',
    `WHERE index1 = '${metric}' AND timestamp > NOW() - INTERVAL ${since}`,
    ...(where === undefined ? [] : [`  AND ${where}`]),
    `GROUP BY ${Object.keys(groupBy).join(', ')}`,
    `ORDER BY ${orderBy}`,
  ].join('\n');
}

function tableOf(metric: Metric): string {
  const texts: Readonly<Record<string, string>> = FIELDS[metric];
  return [
    `### ${metric}`,
    '',
    `Written for ${WRITTEN[metric]}. \`index1\` is \`${metric}\`.`,
    '',
    '| column | field | meaning |',
    '|---|---|---|',
    ...Object.entries(columnsOf(metric)).map(
      ([field, column]) => `| \`${column}\` | ${field} | ${texts[field]} |`,
    ),
  ].join('\n');
}

export const metricsPage = (): string => `# Metrics

With the optional binding \`METRICS\` the service writes data points to Analytics Engine: requests, operations, signatures, upstream calls and
alarms. Without it nothing is written. A point is derived from a log line, except for upstream calls, which are not logged.

A point contains no id, no address, and no amount or text that a caller chose. Labels are names from the code: a route is its
template, and anything else is \`other\`. If the binding fails, its points are lost and a line \`metrics_failed\` is logged, but no request fails.

## Switch on

1. Open Analytics Engine in the dashboard once (Workers & Pages). Until then, a deployment with the binding fails with code 10089.
2. Remove the \`#\` before the \`METRICS\` block in \`wrangler.toml\`, and before that of \`[env.staging]\`. Each has a dataset of its own, which is
   created by the first point.
3. Deploy.

The platform keeps points for three months, and takes 250 from one invocation. It samples at high volume: each row counts for
\`_sample_interval\` points, so the queries below sum that column.

## Fields

${(Object.keys(METRICS) as Metric[]).map(tableOf).join('\n\n')}

## Queries

\`TOKEN\` needs the permission Account Analytics (read). Staging's table is \`sluice_staging\`. Grafana reads the same API with its ClickHouse
data source.

\`\`\`sh
curl -sS "https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/analytics_engine/sql" -H "Authorization: Bearer $TOKEN" --data-binary @query.sql
\`\`\`

${QUERIES.map((query) => `### ${query.title}\n\n\`\`\`sql\n${sqlOf(query)}\n\`\`\``).join('\n\n')}
`;
