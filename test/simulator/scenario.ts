/**
 * The scenario of a seed: fault rates of each part of the world, the callers' requests with their times, and
 * events. It is plain data, so that a failing run can be reduced by omitting parts.
 * @module
 */

import { type PlannedEvent, planEvents, planRetries, planRotation, withOutage } from './events.ts';
import { calm, type Faults, wildFaults } from './faults.ts';
import { type Flood, floodOf, lateDeposit, lateOrders, lateSwap } from './flood.ts';
import { LIES, type Lies, type NodeSpec } from './nodes.ts';
import { createRandom, type Random } from './random.ts';
import {
  type Attack,
  type Deposit,
  type Order,
  planAttacks,
  planDeposits,
  planOrders,
  planSwaps,
  type SwapWish,
  withPayers,
} from './wishes.ts';

export type Scenario = {
  readonly seed: number;
  /** Unix milliseconds at virtual time zero. */
  readonly epoch: number;
  readonly slotMs: number;
  readonly nodes: readonly NodeSpec[];
  /** Requests that each node serves in a second; absent if that is not limited. */
  readonly nodeRate?: number;
  /** Strangers who call as often as the limiter allows; absent without them. */
  readonly flood?: Flood;
  readonly lies: Lies | undefined;
  /** Whether the key is in a key service, which has its own faults. */
  readonly remoteKey: boolean;
  readonly startLamports: bigint;
  readonly treasuryIsReserve: boolean;
  /**
   * Limits: SOL of swaps per hour, per day and unsettled, divided by `scale`; SOL of refunds and costs per day;
   * payouts and creations per day.
   */
  readonly caps: {
    readonly scale: bigint;
    readonly hourSol: bigint;
    readonly daySol: bigint;
    readonly unsettledSol: bigint;
    readonly refundsSol: string;
    readonly costSol: string;
    readonly payouts: string;
    readonly creations: string;
  };
  readonly swaps: readonly SwapWish[];
  readonly orders: readonly Order[];
  readonly deposits: readonly Deposit[];
  readonly attacks: readonly Attack[];
  readonly events: readonly PlannedEvent[];
  /** The journal is lost after this number of partial deliveries to D1; absent if it is not lost for this reason. */
  readonly lostAfterParts?: number;
  /** When the faults end. */
  readonly calmAt: number;
  readonly crashes: number;
  readonly replacements: number;
  /** Milliseconds between cron runs; infinite if cron does not run before the end of the faults. */
  readonly cronMs: number;
  /** Cron runs after the faults have ended. Without it only the alarm runs all work. */
  readonly cronReturns: boolean;
  readonly wild: Faults;
  readonly calm: Faults;
};

export const SOL = 1_000_000_000n;

/**
 * Later additions to the model have their own random stream, so that they change no other part of a seed. The numbers
 * keep the seeds that broke an invariant before unchanged.
 */
const SALTS = {
  payers: 0x7061_799d,
  crumbs: 0x6372_7564,
  widest: 0x7769_6468,
  early: 0x6561_7278,
  outage: 0x6f75_7461,
  noops: 0x6e6f_6f70,
  liar: 0x6c69_6172,
  rotation: 0x726f_7461,
  flood: 0x666c_6f6f,
};
const later = (seed: number, salt: number, chance: number): boolean =>
  createRandom(seed ^ salt).chance(chance);

const MINUTE = 60_000;
const MORNING = Date.UTC(2027, 0, 15, 8);
const BEFORE_MIDNIGHT = Date.UTC(2027, 0, 15, 23, 58, 30);

/** A part of the seeds has scarce nodes and a flood of strangers. */
export function scenarioOf(seed: number): Scenario {
  const scenario = withoutFlood(seed);
  return later(seed, SALTS.flood, 0.05) ? withFlood(scenario) : scenario;
}

/** The rate of each node, as a public one has it. */
const NODE_RATE = 50;

function withFlood(scenario: Scenario): Scenario {
  const flood = floodOf(scenario.calmAt);
  return {
    ...scenario,
    nodeRate: NODE_RATE,
    flood,
    swaps: [...scenario.swaps, lateSwap(flood)],
    orders: [...scenario.orders, ...lateOrders(flood)],
    deposits: [...scenario.deposits, lateDeposit(flood)],
  };
}

function withoutFlood(seed: number): Scenario {
  const random = createRandom(seed);
  const r = random.fork();
  const drawn = r.pick([15_000, 30_000, 30_000, MINUTE, MINUTE, r.chance(0.1) ? 10 * MINUTE : MINUTE]);
  const hasCron = r.chance(0.75);
  const crowd = r.pick(['few', 'few', 'few', 'burst', 'pair', 'alike', 'greedy', 'steady'] as const);
  // Steady swaps need this time: each one follows after the earlier ones have arrived.
  const spread = crowd === 'steady' ? Math.max(drawn, MINUTE) : drawn;
  const swaps = planSwaps(random.fork(), crowd, spread);
  const planned = planOrders(random.fork(), spread);
  const orders = later(seed, SALTS.payers, 0.2) ? withPayers(createRandom(seed), planned) : planned;
  const deposits = planDeposits(random.fork(), spread);
  const nodes = nodesOf(r);
  const weather = wildFaults(random.fork(), hasCron, crowd);
  const wild: Faults = {
    ...weather,
    sends: { ...weather.sends, ...(later(seed, SALTS.noops, 0.2) ? { noop: 0.5 } : {}) },
    bridge: {
      ...weather.bridge,
      fates: later(seed, SALTS.crumbs, 0.05) ? ['crumbs', ...weather.bridge.fates] : weather.bridge.fates,
    },
    d1: { ...weather.d1, ...(later(seed, SALTS.widest, 0.1) ? { widest: 3 + (seed % 4) } : {}) },
  };
  const lies = liesOf(random.fork(), nodes.length);
  const remoteKey = seed % 4 === 3;
  const epoch = r.chance(0.15) ? BEFORE_MIDNIGHT : MORNING;
  const slotMs = slotMsOf(r, remoteKey);
  // Unused. Without this draw every seed would become another scenario, also those that broke an invariant before.
  r.chance(0.2);
  return {
    seed,
    epoch,
    slotMs,
    nodes,
    lies: lies && later(seed, SALTS.early, 0.2) ? { ...lies, about: [...lies.about, 'early'] } : lies,
    remoteKey,
    startLamports: reserveOf(r, crowd),
    treasuryIsReserve: r.chance(0.15),
    caps: {
      scale: r.pick([1n, 1n, 2n]),
      unsettledSol: r.pick([4n, 2n, 1n]),
      refundsSol: r.pick(['0.5', '0.02', '0.006']),
      costSol: r.pick(['0.1', '0.1', '0.03']),
      payouts: r.pick(['2000', '2000', '2']),
      creations: createRandom(seed ^ 0x63617073).pick(['500', '500', '2', '1']),
      // The hourly or the daily limit stops an endless stream of requests.
      ...r.pick([
        { hourSol: 4n, daySol: 10n },
        { hourSol: 9n, daySol: 6n },
      ]),
    },
    swaps,
    orders,
    deposits,
    attacks: planAttacks(random.fork(), spread, orders, deposits),
    events: [
      ...withOutage(
        createRandom(seed ^ SALTS.outage),
        planEvents(
          random.fork(),
          spread,
          swaps.map(({ at }) => at),
        ),
        spread,
      ),
      ...planRetries(createRandom(seed ^ 0x72657472), spread),
      ...planRotation(createRandom(seed ^ SALTS.rotation), spread),
    ],
    ...(wild.d1.widest !== undefined && seed % 2 === 1 ? { lostAfterParts: 1 + ((seed >> 3) % 3) } : {}),
    calmAt: spread + 30_000,
    crashes: r.pick([0, 1, 2, 4]),
    replacements: r.pick([0, 0, 1, 2]),
    cronMs: hasCron ? 20_000 : Number.POSITIVE_INFINITY,
    cronReturns: hasCron || seed % 2 === 0,
    wild,
    calm,
  };
}

/**
 * Fast slots, so that a run contains many events; slots of mainnet's length if the custodian uses a key
 * service.
 */
function slotMsOf(r: Random, remoteKey: boolean): number {
  const fast = r.pick([50, 50, 50, 100, 200]);
  return remoteKey ? 400 : fast;
}

const LIAR_NODES: readonly NodeSpec[] = Array.from({ length: 3 }, () => ({
  retention: Number.POSITIVE_INFINITY,
}));

/** One of three may keep little history; of two, both are needed and keep all of it. */
function nodesOf(r: Random): NodeSpec[] {
  const count = r.pick([1, 2, 2, 3, 3]);
  return Array.from({ length: count }, (_none, index) => ({
    retention: count === 3 && index === 1 && r.chance(0.3) ? 400 : Number.POSITIVE_INFINITY,
  }));
}

/** One of two or three may lie; a single node is trusted, as docs/build/custody.md states. */
function liesOf(r: Random, nodes: number): Lies | undefined {
  if (nodes < 2 || !r.chance(0.5)) return undefined;
  const drawn = LIES.filter((lie) => lie !== 'early');
  const about = r.chance(0.5) ? [r.pick(drawn)] : drawn.filter(() => r.chance(0.4));
  // Most often the first, which is called before the others.
  return { node: r.chance(0.7) ? 0 : r.between(1, nodes - 1), about, rate: r.pick([1, 1, 0.5, 0.1]) };
}

/** The same scenario with three nodes, of which one lies in every response about its subjects. */
export function withLiar(scenario: Scenario): Scenario {
  const random = createRandom(scenario.seed ^ SALTS.liar);
  const about = random.chance(0.5) ? [random.pick(LIES)] : LIES.filter(() => random.chance(0.4));
  const nodes = scenario.nodes.length === 3 ? scenario.nodes : LIAR_NODES;
  return { ...scenario, nodes, lies: { node: random.between(0, 2), about, rate: 1 } };
}

function reserveOf(r: Random, crowd: string): bigint {
  if (crowd === 'steady') return 25n * SOL;
  if (crowd === 'greedy') return BigInt(r.between(500, 3_000)) * 1_000_000n;
  return BigInt(r.between(r.chance(0.3) ? 150 : 3_000, r.chance(0.3) ? 3_000 : 15_000)) * 1_000_000n;
}
