/**
 * Mixed traffic on a world whose upstreams fail in turn, and its results.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { startWorld, type World } from '../world/world.ts';
import { workerMegabytes } from './load-memory.ts';
import { createTraffic, type Sample } from './load-traffic.ts';
import { judgeMoney, type Money } from './load-verdict.ts';

export interface LoadReport extends Money {
  readonly seconds: number;
  readonly samples: readonly Sample[];
  /** Megabytes of the Worker's runtime, sampled evenly. */
  readonly megabytes: readonly number[];
  readonly faults: number;
  /** Log lines of unexpected events. */
  readonly unexpected: readonly string[];
}

/** As many readers as keep two cores busy. */
const READERS = 8;
/** Bridge quotes of the custodian are few: 60 in two hours. */
const SWAPS = 35;
const TOKENS = 60;
const REWARDS = 60;
const SHORTEST_PAUSE_MS = 1_000;
const SETTLED_BEFORE_END_MS = 100;

const KINDS = ['500', 'hang', 'drop', 'lost', 'html', 'truncate', '429', 'delay'] as const;
const UPSTREAMS: readonly UpstreamName[] = [
  'rpc1',
  'esplora1',
  'oneclick',
  'rpc2',
  'esplora2',
  'orca',
  ...VENUE_NAMES,
];

export const startLoadWorld = (): Promise<World> =>
  startWorld({
    blockMs: 500,
    settleDelayMs: 500,
    reserveLamports: 100_000_000_000n,
    vars: {
      SWAP_MAX_SOL_HOUR: '1000',
      SWAP_MAX_SOL_DAY: '1000',
      SWAP_MAX_UNSETTLED_SOL: '1000',
      SWAP_MAX_COST_SOL_DAY: '100',
      // Each reward goes to a new sender.
      DAILY_LIMITS: 'rent_day=10',
    },
  });

export async function runLoad(world: World, seconds: number): Promise<LoadReport> {
  const samples: Sample[] = [];
  const megabytes: number[] = [];
  const traffic = createTraffic(world, (sample) => samples.push(sample));
  const until = Date.now() + seconds * 1_000;
  const goesOn = (): boolean => Date.now() < until;
  let faults = 0;

  async function reader(): Promise<void> {
    while (goesOn()) await traffic.look();
  }
  async function spender(what: 'swap' | 'token' | 'reward', times: number): Promise<void> {
    const pause = Math.max((seconds * 1_000) / times, SHORTEST_PAUSE_MS);
    while (goesOn()) await traffic.spend(what, pause);
  }
  /** One upstream at a time fails, then works for as long. */
  async function bend(): Promise<void> {
    const turn = Math.min((seconds * 1_000) / 16, 3_000);
    for (; Date.now() < until - 2 * turn - SETTLED_BEFORE_END_MS; faults += 1) {
      const upstream = UPSTREAMS[faults % UPSTREAMS.length] ?? 'rpc1';
      const kind = KINDS[(faults + Math.floor(faults / UPSTREAMS.length)) % KINDS.length] ?? '500';
      world.faults.set(upstream, { kind, ms: 1_000 });
      await sleep(turn);
      world.faults.clear(upstream);
      await sleep(turn);
    }
  }
  async function weigh(): Promise<void> {
    for (; goesOn(); await sleep(1_000)) megabytes.push(workerMegabytes());
  }

  await Promise.all([
    ...Array.from({ length: READERS }, reader),
    spender('swap', SWAPS),
    spender('token', TOKENS),
    spender('reward', REWARDS),
    bend(),
    weigh(),
  ]);
  world.faults.clear();
  const taken = [...samples];
  const money = await judgeMoney(world, traffic);
  const unexpected = world.worker.logs().filter((line) => line.includes('"unexpected"'));
  return { ...money, seconds, samples: taken, megabytes, faults, unexpected };
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;

const middle = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Memory at the beginning, once everything has been used, and at the end. */
export function memoryGrowth(megabytes: readonly number[]): {
  readonly early: number;
  readonly late: number;
} {
  const fifth = Math.max(Math.floor(megabytes.length / 5), 1);
  return { early: middle(megabytes.slice(fifth, 2 * fifth)), late: middle(megabytes.slice(-fifth)) };
}

/** The report as a table. */
export function describeLoad(report: LoadReport): string {
  const kinds = [...new Set(report.samples.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const own = report.samples.filter((sample) => sample.kind === kind);
    const ms = own.map((sample) => sample.ms).sort((a, b) => a - b);
    const outcomes = Map.groupBy(own, ({ outcome }) => outcome);
    const summary = [...outcomes].map(([outcome, same]) => `${same.length} x ${outcome}`).join(', ');
    const at = (share: number): string => quantile(ms, share).toFixed(0);
    return `| ${kind} | ${own.length} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${at(1)} | ${summary} |`;
  });
  const { early, late } = memoryGrowth(report.megabytes);
  return [
    '| call | number | p50 ms | p95 | p99 | largest | answers |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `${report.samples.length} calls in ${report.seconds} s (${(report.samples.length / report.seconds).toFixed(0)}/s), ${report.faults} faults on and off`,
    `paid: ${report.swaps} swaps, ${report.tokens} tokens, ${report.rewards} rewards; ${report.pageviews} page views`,
    `lost: ${report.lost.length}, doubled: ${report.doubled.length}, unexpected: ${report.unexpected.length}`,
    ...report.lost.map((one) => `LOST ${one}`),
    ...report.doubled.map((one) => `DOUBLED ${one}`),
    `memory of the runtime: ${early.toFixed(0)} MB early, ${late.toFixed(0)} MB at the end`,
  ].join('\n');
}
