/**
 * The tables of docs/run/scale.md: what a request costs, as test/e2e/route-costs.test.ts counted it, and what a month costs at
 * list prices.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from './bench/counting-worker.ts';
import { withRows } from './table-rows.ts';

/** Calls per backend, and rows that D1 bills. */
type Uses = { readonly [K in Backend | 'kvWrites' | 'read' | 'written']?: number };
export type Cost = Uses & { readonly steps: number };
export type RouteCosts = {
  readonly reads: readonly { readonly route: string; readonly cold: Cost; readonly warm: Cost }[];
  readonly writes: readonly { readonly route: string; readonly steps: readonly string[] }[];
  /** One run of the trigger that fires every minute. */
  readonly cron: Uses;
};
/** Rows that one transaction writes for `views` page views: if all visitors are known, and if all are new. */
type ViewRows = { readonly views: number; readonly known: number; readonly new: number };

const fixture = <T>(name: string): T =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../test/fixtures', name), 'utf8')) as T;

export const routeCosts = (): RouteCosts => fixture('route-costs.json');

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
];

export const costText = (cost: Uses): string =>
  NAMES.flatMap(([key, name]) => (cost[key] ? [`${cost[key]} ${name}`] : [])).join(', ') || 'nothing';

function cell(cost: Cost): string {
  const text = costText(cost);
  return text === 'nothing' ? text : `${cost.steps}: ${text}`;
}

const isCheap = ({ cold: { read = 0, upstream = 0 } }: RouteCosts['reads'][number]): boolean =>
  read <= 10 && upstream === 0;

/** One row for all routes with the same costs, and one for all cheap routes. */
function readRows(reads: RouteCosts['reads']): string[] {
  const groups = Map.groupBy(
    reads.filter((each) => !isCheap(each)),
    ({ cold, warm }) => {
      const [first, later] = [cell(cold), cell(warm)];
      return `${first} | ${later === first ? 'the same' : later}`;
    },
  );
  const rows = [...groups].map(([costs, same]) => {
    const names = same.map(({ route }) => `\`${route.replace('GET ', '').replaceAll('|', '\\|')}\``);
    return `| ${names.join(', ')} | ${costs} |`;
  });
  const cheap = reads.filter(isCheap);
  return [...rows, `| each of ${cheap.length} others | ${mostOf(cheap.map(({ cold }) => cold))} | |`];
}

function mostOf(costs: readonly Cost[]): string {
  const most = NAMES.map(([key]) => [key, Math.max(...costs.map((cost) => cost[key] ?? 0))] as const);
  return `at most ${costText(Object.fromEntries(most))}`;
}

/** USD per million, and the millions that a month includes. Workers Paid, 2026. */
const PRICES = {
  requests: { included: 10, price: 0.3 },
  'processor time': { included: 30, price: 0.02 },
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

const MILLION = 1_000_000;
const BASE_USD = 5;
const DAYS = 30;
const MINUTES = DAYS * 1_440;
/** Seconds of a day. */
const SECONDS = 86_400;
/** One read in this many is cold: the first read of its value in an isolate. */
const READS_PER_COLD = 100;
/** Assumed: the platform bills no time in which a request waits. */
const CPU_MS = 1;
const LINES_PER_REQUEST = 1 / 100;
/** GB-s of an object that is never evicted: 128 MB for a month. */
const AWAKE_GB_S = 0.125 * SECONDS * DAYS;
/** Page views per day that one object can write, even at three times their mean rate. */
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

/** Units of each resource in a month. */
function usageOf(
  { reads, cron }: RouteCosts,
  viewRows: readonly [ViewRows, ViewRows],
  load: Load,
): Record<Resource, number> {
  const [read, views] = [load.reads * DAYS, load.views * DAYS];
  const objects = Math.max(1, Math.ceil(load.views / VIEWS_PER_OBJECT));
  const all = read + views;
  return {
    requests: all + MINUTES,
    'processor time': all * CPU_MS + MINUTES * 100,
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
}

function millions(count: number): string {
  const value = count / MILLION;
  return value >= 10 ? value.toFixed(0) : value >= 0.1 ? value.toFixed(1) : value.toFixed(2);
}

function billOf(usage: Readonly<Record<Resource, number>>): { parts: string[]; sum: number } {
  let sum = BASE_USD;
  const parts: string[] = [];
  for (const [name, { included, price }] of Object.entries(PRICES)) {
    const usd = Math.max(0, usage[name as Resource] / MILLION - included) * price;
    sum += usd;
    if (usd >= 0.5) parts.push(`${name} ${usd.toFixed(0)}`);
  }
  return { parts, sum };
}

function monthRow(name: string, usage: Readonly<Record<Resource, number>>): string {
  const { parts, sum } = billOf(usage);
  const rows = usage['D1 rows written'] + usage['object rows written'];
  return `| ${name} | ${millions(usage['D1 rows read'])} | ${millions(rows)} | ${millions(usage['KV writes'])} | ${parts.join(', ') || 'nothing above what is included'} | ${sum.toFixed(0)} USD |`;
}

/** The page with the rows of its tables replaced. */
export function withCosts(page: string): string {
  const costs = routeCosts();
  const viewRows = fixture<[ViewRows, ViewRows]>('page-view-rows.json');
  const tables: Readonly<Record<string, readonly string[]>> = {
    '| `GET` |': [
      ...readRows(costs.reads),
      `| a run of the minute cron | ${costText(costs.cron)} | the same |`,
    ],
    '| a day |': LOADS.map(([name, load]) => monthRow(name, usageOf(costs, viewRows, load))),
  };
  return Object.entries(tables).reduce((text, [first, rows]) => withRows(text, first, rows), page);
}
