/**
 * What a seed means: how wild each part of the world is, who asks for what and when, what goes wrong on purpose.
 * @module
 */
import type { RouteName } from '../../src/bridges/route.ts';
import { lamports } from '../../src/core/amount.ts';
import type { CustodyLimits } from '../../src/custody/custody-deps.ts';
import { batching, calm, type Faults, keeping, lagging, wildFaults } from './faults.ts';
import { type Incident, planIncidents } from './incident-plan.ts';
import { createRandom, type Random } from './random.ts';
import {
  type Crowd,
  laterWish,
  type PayoutWish,
  payoutWishes,
  type SwapWish,
  solBetween,
  swapWishes,
} from './wishes.ts';

export type Scenario = {
  readonly seed: number;
  readonly slotMs: number;
  /** Slots that each node keeps. */
  readonly nodes: readonly { readonly retention: number }[];
  /** Where quotes come from, in order. */
  readonly routes: readonly RouteName[];
  /** Nodes are reached through their JSON-RPC. */
  readonly wire: boolean;
  readonly startLamports: bigint;
  readonly limits: CustodyLimits;
  /** Creates of one client in an hour. */
  readonly maxCreatesPerClientHour: number;
  readonly swaps: readonly SwapWish[];
  readonly payouts: readonly PayoutWish[];
  readonly incidents: readonly Incident[];
  /** When faults end. */
  readonly calmAt: number;
  readonly crashes: number;
  readonly replacements: number;
  /** Milliseconds between wakes by cron; infinite when cron is not there. */
  readonly cronMs: number;
  /** Instances of a version that knows no payouts come up at first. */
  readonly oldVersion: boolean;
  readonly wild: Faults;
  readonly calm: Faults;
};

const SOL = 1_000_000_000n;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Every so many seeds the nodes are reached through their JSON-RPC, which is slower to run. */
const WIRE_EVERY = 12;

/** @param routes do not change what else a seed means */
export function scenarioOf(seed: number, routes: readonly RouteName[] = ['near-intents']): Scenario {
  const random = createRandom(seed);
  const r = random.fork();
  const spread = r.pick([20_000, MINUTE, MINUTE, MINUTE, 3 * MINUTE, 3 * MINUTE, 5 * HOUR, 26 * HOUR]);
  const hasCron = r.chance(0.7);
  const crowd = crowdOf(r);
  const asked = swapWishes(r.fork(), crowd, spread);
  const incidents = planIncidents(r.fork(), spread, asked);
  const wild = wildFaults(r.fork(), hasCron);
  // After a loss somebody new asks: a journal that should be frozen would sign for it.
  const loss = incidents.find(({ type }) => type === 'journal_lost');
  const greedy = { ...laterWish(r, r.between(0, spread)), most: crowd === 'few' && r.chance(0.15) };
  const swaps = [
    ...asked,
    ...(loss ? [laterWish(r, loss.at + r.between(2_000, 30_000))] : greedy.most ? [greedy] : []),
  ];
  return {
    seed,
    routes,
    slotMs: crowd === 'pair' ? 50 : r.pick([50, 50, 50, 100, 200, 400]),
    nodes: nodesOf(r),
    wire: seed % WIRE_EVERY === 0,
    startLamports: reserveOf(r, crowd, swaps),
    limits: limitsOf(r),
    maxCreatesPerClientHour: 6,
    swaps,
    payouts: r.chance(0.3) ? payoutWishes(r.fork(), spread) : [],
    incidents,
    calmAt: spread + 2 * MINUTE,
    crashes: r.pick([0, 1, 2, 4]),
    replacements: r.pick([0, 0, 1, 2]),
    cronMs: hasCron ? (spread > HOUR ? 20 * MINUTE : MINUTE) : Number.POSITIVE_INFINITY,
    oldVersion: r.chance(0.03),
    wild: worldOf(crowd, wild),
    calm,
  };
}

function crowdOf(r: Random): Crowd {
  const dice = r.next();
  if (dice < 0.1) return 'burst';
  if (dice < 0.22) return 'pair';
  if (dice < 0.25) return 'alike';
  return dice < 0.28 ? 'unlucky' : 'few';
}

/** What each kind of crowd is there to meet. */
const worldOf = (crowd: Crowd, wild: Faults): Faults =>
  ({
    few: wild,
    burst: wild,
    pair: lagging(wild),
    alike: batching(wild),
    unlucky: keeping(wild),
  })[crowd];

/** For a pair there is just enough for both, or not quite. */
function reserveOf(r: Random, crowd: Crowd, swaps: readonly SwapWish[]): bigint {
  if (crowd === 'unlucky') return 10n * SOL;
  if (crowd !== 'pair') return solBetween(r, r.chance(0.5) ? 0.3 : 4, r.chance(0.5) ? 3 : 15);
  return swaps.reduce((sum, { amount }) => sum + amount, solBetween(r, 0, 0.12));
}

function limitsOf(r: Random): CustodyLimits {
  const scale = r.pick([1n, 1n, 2n]);
  return {
    maxOperation: lamports((2n * SOL) / scale),
    maxHour: lamports((4n * SOL) / scale),
    maxDay: lamports((10n * SOL) / scale),
    maxUnsettled: lamports((r.pick([4n, 2n, 1n]) * SOL) / scale),
    maxCostDay: lamports(SOL / r.pick([10n, 10n, 50n])),
    maxCostBps: 200,
    floor: lamports(SOL / 10n),
    operatingFloat: lamports(0n),
    maxRefundsDay: lamports(10n * SOL),
    maxCreationsDay: 10_000n,
    maxPayoutsDay: 10_000n,
  };
}

/** The second node may keep little of the past; now and then all do, and then no absence can be proven. */
function nodesOf(r: Random): { retention: number }[] {
  const allForget = r.chance(0.002);
  return Array.from({ length: r.pick([1, 2, 2, 3]) }, (_none, index) => ({
    retention: allForget || (index === 1 && r.chance(0.3)) ? r.pick([200, 400]) : Number.POSITIVE_INFINITY,
  }));
}
