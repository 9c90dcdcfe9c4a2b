/**
 * docs/scale.md: what a request costs, as test/e2e/route-costs.test.ts counted it, and what a month costs at list prices.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from './bench/counting-worker.ts';

/** Calls per backend, rows that D1 bills, JSON text in KB, and the calls that wait for each other. */
type Uses = { readonly [K in Backend | 'kvWrites' | 'read' | 'written' | 'json']?: number };
export type Cost = Uses & { readonly steps: number };
export type RouteCosts = {
  readonly reads: readonly { readonly route: string; readonly cold: Cost; readonly warm: Cost }[];
  readonly writes: readonly { readonly route: string; readonly steps: readonly string[] }[];
  /** One run of the minute's trigger. */
  readonly cron: Uses;
};
/** Rows that a transaction of page views writes, if its visitors are known, and if all are new. */
type ViewRows = { readonly views: number; readonly known: number; readonly new: number };

const fixture = <T>(name: string): T =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../test/fixtures', name), 'utf8')) as T;

const NAMES: readonly (readonly [keyof Uses, string])[] = [
  ['d1', 'D1'],
  ['read', 'read'],
  ['written', 'written'],
  ['kv', 'KV'],
  ['kvWrites', 'KV written'],
  ['custodian', 'custodian'],
  ['pageViews', 'page-view object'],
  ['upstream', 'upstream'],
  ['assets', 'assets'],
  ['json', 'KB JSON'],
];

const costText = (cost: Uses): string =>
  NAMES.flatMap(([key, name]) => (cost[key] ? [`${cost[key]} ${name}`] : [])).join(', ') || 'nothing';

function cell(cost: Cost): string {
  const text = costText(cost);
  return text === 'nothing' ? text : `${cost.steps}: ${text}`;
}

/** One row for all routes with the same costs. */
function readRows(reads: RouteCosts['reads']): string[] {
  const routes = new Map<string, string[]>();
  for (const { route, cold, warm } of reads) {
    const [first, later] = [cell(cold), cell(warm)];
    const costs = `${first} | ${later === first ? 'the same' : later}`;
    routes.set(costs, [
      ...(routes.get(costs) ?? []),
      `\`${route.replace('GET ', '').replaceAll('|', '\\|')}\``,
    ]);
  }
  return [...routes].map(([costs, names]) => `| ${names.join(', ')} | ${costs} |`);
}

/** USD a million, and what a month includes. Workers Paid, 2026. */
const PRICES = {
  requests: { included: 10, price: 0.3 },
  'CPU ms': { included: 30, price: 0.02 },
  'D1 rows read': { included: 25_000, price: 0.001 },
  'D1 rows written': { included: 50, price: 1 },
  'object rows written': { included: 50, price: 1 },
  'KV reads': { included: 10, price: 0.5 },
  'KV writes': { included: 1, price: 5 },
  'object calls': { included: 1, price: 0.15 },
  'object GB-s': { included: 0.4, price: 12.5 },
  'log lines': { included: 20, price: 0.6 },
} as const;
type Resource = keyof typeof PRICES;

const BASE_USD = 5;
const DAYS = 30;
const MINUTES = DAYS * 1_440;
/** A day of one request a second. */
const SECONDS = 86_400;
/** One in this many reads is the first one of its isolate for that value. */
const READS_PER_COLD = 100;
/** Assumed: the platform bills no time in which a request waits. */
const CPU_MS = 1;
const LINES_PER_REQUEST = 1 / 100;
/** An object that is never evicted: 128 MB for a month. */
const AWAKE_GB_S = 0.125 * SECONDS * DAYS;
/** Page views a day that one object takes, at three times their mean rate. */
const VIEWS_PER_OBJECT = 20_000_000;
const GROUP_SECONDS = 0.2;
const NEW_VISITORS = 0.2;

type Load = { readonly reads: number; readonly views: number };

const LOADS: readonly (readonly [string, Load])[] = [
  ['1,000 requests', { reads: 1_000, views: 0 }],
  ['100,000 requests', { reads: 100_000, views: 0 }],
  ['10 million requests', { reads: 10_000_000, views: 0 }],
  ['100 million page views', { reads: 0, views: 100_000_000 }],
];

/** The mean over all reads. */
function meanOf(reads: RouteCosts['reads'], key: keyof Uses): number {
  const sum = reads.reduce(
    (total, { cold, warm }) =>
      total + ((cold[key] ?? 0) + (READS_PER_COLD - 1) * (warm[key] ?? 0)) / READS_PER_COLD,
    0,
  );
  return sum / reads.length;
}

/** Rows of one view, its later deletion from the log included. */
function rowsOfView([one, many]: readonly [ViewRows, ViewRows], viewsADay: number, objects: number): number {
  const together = Math.min(many.views, Math.max(1, (viewsADay / objects / SECONDS) * GROUP_SECONDS));
  const known = one.known + ((many.known - one.known) / (many.views - one.views)) * (together - 1);
  return known / together + NEW_VISITORS + 1;
}

/** Millions of each resource in a month. */
function usageOf(
  { reads, cron }: RouteCosts,
  viewRows: readonly [ViewRows, ViewRows],
  load: Load,
): Record<Resource, number> {
  const [read, views] = [load.reads * DAYS, load.views * DAYS];
  const objects = Math.max(1, Math.ceil(load.views / VIEWS_PER_OBJECT));
  const all = read + views;
  const used: Record<Resource, number> = {
    requests: all + MINUTES,
    'CPU ms': all * CPU_MS + MINUTES * 100,
    'D1 rows read': read * meanOf(reads, 'read') + MINUTES * (cron.read ?? 0),
    'D1 rows written': MINUTES * (cron.written ?? 0),
    'object rows written': views * rowsOfView(viewRows, load.views, objects),
    'KV reads': read * meanOf(reads, 'kv') + MINUTES * (cron.kv ?? 0),
    'KV writes': MINUTES * (cron.kvWrites ?? 0),
    'object calls':
      read * (meanOf(reads, 'custodian') + meanOf(reads, 'pageViews')) +
      views +
      MINUTES * (cron.custodian ?? 0),
    'object GB-s': (1 + objects) * AWAKE_GB_S,
    'log lines': all * LINES_PER_REQUEST,
  };
  return Object.fromEntries(Object.entries(used).map(([name, value]) => [name, value / 1_000_000])) as Record<
    Resource,
    number
  >;
}

const millions = (value: number): string =>
  value >= 10 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : value.toFixed(2);

function billOf(usage: Readonly<Record<Resource, number>>): { parts: string[]; sum: number } {
  let sum = BASE_USD;
  const parts: string[] = [];
  for (const [name, { included, price }] of Object.entries(PRICES)) {
    const usd = Math.max(0, usage[name as Resource] - included) * price;
    sum += usd;
    if (usd >= 0.5) parts.push(`${usd.toFixed(0)} ${name}`);
  }
  return { parts, sum };
}

const monthRow = (costs: RouteCosts, viewRows: readonly [ViewRows, ViewRows]) => {
  return ([name, load]: (typeof LOADS)[number]): string => {
    const usage = usageOf(costs, viewRows, load);
    const { parts, sum } = billOf(usage);
    const rows = usage['D1 rows written'] + usage['object rows written'];
    return `| ${name} | ${millions(usage['D1 rows read'])} | ${millions(rows)} | ${millions(usage['KV writes'])} | ${parts.join(', ') || 'nothing above what is included'} | ${sum.toFixed(0)} USD |`;
  };
};

export function scalePage(): string {
  const costs = fixture<RouteCosts>('route-costs.json');
  const viewRows = fixture<[ViewRows, ViewRows]>('page-view-rows.json');
  return `# Scale: costs, growth and the first limits

## What a read costs

\`test/e2e/route-costs.test.ts\` counts these calls on the offline world with 1,000 swaps, tokens and proofs. The first number is the critical
path: calls that wait for each other. \`D1\` counts statements or batches, \`read\` and \`written\` the rows that D1 bills, and \`KB JSON\` the
text that is parsed and written, if it is at least 20 KB. The rate limiter runs in the same location and is not counted.

| \`GET\` | first read of an isolate | further reads |
|---|---|---|
${readRows(costs.reads).join('\n')}

The status asks five of its sources at a time. An estimate without a stored quote first takes a share of the bridge's quota in D1. One run
of the minute's trigger costs ${costText(costs.cron)}.

## The steps of a write

| route | steps, in order |
|---|---|
${costs.writes.map(({ route, steps }) => `| \`${route}\` | ${steps.map((step, at) => `${at + 1}. ${step}`).join('<br>')} |`).join('\n')}

All nodes, venues and indexes of a step are called at once. The last \`D1\` reads the bookmark of [read replicas](options.md#read-replicas).

## A month

At list prices of Workers Paid in 2026 (${BASE_USD} USD a month). Assumed: each read is equally frequent, one of ${READS_PER_COLD} is the first of its
isolate, a request takes ${CPU_MS} ms of processor time, one of 100 successes is logged, and neither object sleeps.

| a day | rows read, million | rows written, million | KV writes, million | above what is included, USD | sum |
|---|---|---|---|---|---|
${LOADS.map(monthRow(costs, viewRows)).join('\n')}

The page-view object writes the views of 200 ms, at most 100, in one transaction. A view of a known visitor costs
${viewRows.map(({ views, known }) => `${(known / views).toFixed(1)} rows in a group of ${views}`).join(', ')}; a new visitor and the deletion of the view add one row each. From ${VIEWS_PER_OBJECT / 1_000_000} million
views a day, raise \`PAGE_VIEW_OBJECTS\` in \`src/features/analytics/page-views-store.ts\`: the row above has ${Math.ceil(100_000_000 / VIEWS_PER_OBJECT)} objects.

${GROWTH}`;
}

const GROWTH = `## What grows

[storage.md](storage.md) has the lifetime of each table.

| data | growth | bound |
|---|---|---|
| \`views\`, the log of the page views | about 120 bytes a view, at most 0.6 KB | 0.1 GB, at most 0.6 GB; 5,000 deletions a second |
| \`names\` | a row for each path and referrer | 1,000 new paths and 1,000 new referrers a day, at most 1.1 MB; further ones count as \`other\` |
| \`visitors\` | a row per visitor | 1,000,000 a day |
| all other rows, in D1 and in the custodian's journal | 1 to 2 KB each: thousands a year, and 24 proofs a day | 10 GB for each |

## Limits that are reached first

| limit | what reaches it |
|---|---|
| Durable Object: one thread, 500 to 1,000 calls a second | page views, from 20 million a day. Swaps at hundreds per second; the caps are reached much earlier |
| 6 connections at once, 10,000 calls per request | at most 5 upstream calls of a request or of the custodian run at once, 2 to each host; others wait up to 15 seconds. 40 in one run of the custodian |
| 75 to 200 bridge quotes in two hours | 80 for reads, which share one quote within each amount band (1, 2 or 5 times a power of ten); creates and dry runs have [their own](custody.md#limits) |

## Ten times the load

Up to 100,000 requests a day nothing changes. Above that, use your own Solana node, and [read replicas](options.md#read-replicas) for callers on
several continents. For more swaps than the caps allow, raise \`SWAP_MAX_*\` and the bridge's quota. Beyond one custodian, run a second
reserve with its own key, bindings and name.
`;
