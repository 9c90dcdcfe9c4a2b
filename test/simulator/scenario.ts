/**
 * What a seed means: how wild each part of the world is, who asks for what and when, what goes wrong on purpose.
 * @module
 */

import { lamports } from '../../src/core/amount.ts';
import type { Limits } from '../../src/custody/ledger.ts';
import type { BitcoinFaults } from './bitcoin-model.ts';
import type { BridgeFaults, Fate } from './bridge-model.ts';
import type { SendFates } from './chain-model.ts';
import type { D1Faults } from './d1-model.ts';
import type { HostFaults } from './host.ts';
import type { NodeFaults } from './node-model.ts';
import { createRandom, type Random } from './random.ts';

export type Faults = {
  readonly sends: SendFates;
  readonly nodes: NodeFaults;
  readonly bridge: BridgeFaults;
  readonly bitcoin: BitcoinFaults;
  readonly d1: D1Faults;
  readonly host: HostFaults;
  /** Milliseconds that a call may take, and the chance that it takes more than none. */
  readonly latencyMs: number;
  readonly latent: number;
  /** Chance that the price sources do not agree or are too few. */
  readonly prices: number;
};

export type SwapWish = {
  readonly at: number;
  readonly amount: bigint;
  readonly key: string | null;
  readonly client: string;
  /** Milliseconds after the first call at which the same call comes again. */
  readonly repeats: readonly number[];
  /** Tries of the client while it gets no answer. */
  readonly patience: number;
};

export type PayoutWish = {
  readonly at: number;
  readonly id: string;
  readonly amount: bigint;
  readonly twice: boolean;
};

export type Incident =
  | { readonly at: number; readonly type: 'deploy' | 'pause' | 'resume' | 'look' | 'old_rows' }
  | { readonly at: number; readonly type: 'clock'; readonly ms: number }
  | { readonly at: number; readonly type: 'fork'; readonly depth: number }
  | { readonly at: number; readonly type: 'remember' }
  | {
      readonly at: number;
      readonly type: 'journal_lost';
      readonly to: 'nothing' | 'older' | 'nothing, D1 too';
    };

export type Scenario = {
  readonly seed: number;
  readonly slotMs: number;
  readonly nodes: readonly { readonly retention: number }[];
  /** Nodes are reached through their JSON-RPC. */
  readonly wire: boolean;
  readonly startLamports: bigint;
  readonly limits: Limits;
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

export function scenarioOf(seed: number): Scenario {
  const random = createRandom(seed);
  const r = random.fork();
  const spread = r.pick([20_000, MINUTE, MINUTE, MINUTE, 3 * MINUTE, 3 * MINUTE, 5 * HOUR, 26 * HOUR]);
  const isLong = spread > HOUR;
  const calmAt = spread + 2 * MINUTE;
  const hasCron = r.chance(0.7);
  const isBurst = r.chance(0.1);
  const limits = limitsOf(r);
  const swaps = swapsOf(r.fork(), { spread, isBurst, isLong });
  // Sometimes there is just enough for two, or not quite.
  const isTight = r.chance(0.2);
  const [first, second] = swaps;
  const tight = (first?.amount ?? 0n) + (second?.amount ?? 0n) + lamportsOf(r, 0, 0.12);
  return {
    seed,
    slotMs: r.pick([50, 50, 50, 100, 200, 400]),
    nodes: nodesOf(r),
    wire: seed % 12 === 0,
    startLamports: isTight ? tight : lamportsOf(r, r.chance(0.5) ? 0.3 : 4, r.chance(0.5) ? 3 : 15),
    limits,
    swaps,
    payouts: r.chance(0.3) ? payoutsOf(r.fork(), spread) : [],
    incidents: incidentsOf(r.fork(), spread),
    calmAt,
    crashes: r.pick([0, 1, 2, 4]),
    replacements: r.pick([0, 0, 1, 2]),
    cronMs: hasCron ? (isLong ? 20 * MINUTE : MINUTE) : Number.POSITIVE_INFINITY,
    oldVersion: r.chance(0.03),
    wild: wildFaults(r.fork(), hasCron),
    calm: CALM,
  };
}

const lamportsOf = (r: Random, low: number, high: number): bigint =>
  BigInt(r.between(Math.round(low * 1e6), Math.round(high * 1e6))) * 1_000n;

function limitsOf(r: Random): Limits {
  const scale = r.pick([1n, 1n, 2n]);
  return {
    maxOperation: lamports((2n * SOL) / scale),
    maxHour: lamports((4n * SOL) / scale),
    maxDay: lamports((10n * SOL) / scale),
    maxUnsettled: lamports((r.pick([4n, 4n, 2n]) * SOL) / scale),
    maxCostDay: lamports(SOL / r.pick([10n, 10n, 50n])),
    maxCostBps: 200,
    floor: lamports(SOL / 10n),
  };
}

/** The second node may keep little of the past; now and then all do, and then no absence can be proven. */
function nodesOf(r: Random): { retention: number }[] {
  const allForget = r.chance(0.002);
  return Array.from({ length: r.pick([1, 2, 2, 3]) }, (_none, index) => ({
    retention: allForget || (index === 1 && r.chance(0.3)) ? r.pick([200, 400]) : Number.POSITIVE_INFINITY,
  }));
}

function swapsOf(r: Random, p: { spread: number; isBurst: boolean; isLong: boolean }): SwapWish[] {
  const count = p.isBurst ? r.between(3, 8) : r.pick([1, 1, 1, 1, 2, 2, 3]);
  const burstAt = r.between(0, p.spread / 2);
  const big = r.chance(0.6);
  const alike = r.chance(0.2) ? lamportsOf(r, 0.1, 0.9) : undefined;
  return Array.from({ length: count }, (_none, index) => {
    // The last digits make every sum unlike any other, so that the chain tells whose it is.
    const amount = (alike ?? lamportsOf(r, big ? 0.5 : 0.01, big ? 2.05 : 0.6)) + BigInt(index + 1);
    const keyed = r.chance(0.7);
    return {
      at: p.isBurst ? burstAt + r.between(0, r.pick([0, 5, 2_000])) : r.between(0, p.spread),
      amount,
      key: keyed ? `key-${index}` : null,
      client: r.pick(['ip-1', 'ip-2', 'ip-3']),
      repeats:
        keyed && r.chance(0.5)
          ? Array.from({ length: r.between(1, 3) }, () =>
              r.pick([0, r.between(1, 300), r.between(300, 20_000), r.between(20_000, 2 * HOUR)]),
            )
          : [],
      patience: keyed ? r.between(0, 3) : 0,
    };
  });
}

const payoutsOf = (r: Random, spread: number): PayoutWish[] =>
  Array.from({ length: r.pick([1, 1, 2]) }, (_none, index) => ({
    at: r.between(0, spread),
    id: `asry:${index}`,
    amount: lamportsOf(r, 0.001, r.chance(0.2) ? 2 : 0.05),
    twice: r.chance(0.4),
  }));

function incidentsOf(r: Random, spread: number): Incident[] {
  const list: Incident[] = [];
  const at = () => r.between(0, spread);
  const some = (chance: number, add: () => void) => {
    if (r.chance(chance)) add();
  };
  some(0.2, () => list.push({ at: at(), type: 'deploy' }));
  some(0.15, () => list.push({ at: at(), type: 'old_rows' }));
  some(0.4, () => list.push({ at: at(), type: 'fork', depth: r.between(1, 31) }));
  some(0.3, () => list.push({ at: at(), type: 'look' }));
  some(0.12, () => {
    const from = at();
    list.push({ at: from, type: 'pause' }, { at: from + r.between(1_000, 30_000), type: 'resume' });
  });
  some(0.05, () => {
    list.push({ at: at(), type: 'clock', ms: r.pick([-1, 1]) * r.pick([5_000, HOUR, 24 * HOUR]) });
  });
  some(0.1, () => {
    const to = r.pick(['nothing', 'older', 'older', 'nothing, D1 too'] as const);
    const lostAt = at();
    if (to === 'older') list.push({ at: r.between(0, lostAt), type: 'remember' });
    list.push({ at: lostAt, type: 'journal_lost', to });
  });
  return list;
}

const MANY: readonly Fate[] = ['delivered', 'delivered', 'delivered', 'delivered', 'batched', 'batched'];
const SAD: readonly Fate[] = ['partial', 'refunded', 'refunded', 'failed', 'failed_late'];

function wildFaults(r: Random, hasCron: boolean): Faults {
  const level = () => r.pick([0, 0, 0.02, 0.1, 0.3]);
  return {
    sends: {
      dropped: r.pick([0, 0.1, 0.4, 0.8]),
      late: r.pick([0, 0.1, 0.5, 0.9]),
      failing: r.pick([0, 0, 0.1, 0.4]),
      forked: r.pick([0, 0, 0.2, 0.6]),
      hidden: r.pick([0, 0, 0.2]),
      returning: r.pick([0, 0.5, 1]),
    },
    nodes: {
      failing: r.pick([0, 0, 0.02, 0.1]),
      shifting: r.pick([0, 0.05, 0.3]),
      lags: r.pick([
        [0, 1, 2],
        [0, 0, 1, 5, 30, 200],
        [0, 100, 200],
        [0, 3, 40],
      ]),
      balanced: r.chance(0.25),
      lostAnswers: level(),
    },
    bridge: {
      failing: r.pick([0, 0, 0.05, 0.2]),
      refusing: r.pick([0, 0, 0.05, 0.3]),
      dear: r.pick([0, 0.1]),
      reused: r.pick([0, 0.1, 0.3]),
      fates: [
        ...MANY,
        ...(r.chance(0.5) ? SAD : []),
        ...(r.chance(0.04) ? (['silent', 'untrue'] as const) : []),
      ],
      slownessMs: r.pick([500, 1_000, 3_000, 10_000, r.chance(0.15) ? 2 * HOUR : 30_000]),
      premature: r.pick([0, 0.3]),
    },
    bitcoin: { failing: r.pick([0, 0, 0.1, 0.4]), lagMs: r.pick([0, 500, 10_000]) },
    d1: {
      failing: r.pick([0, 0, 0.05, 0.2]),
      outageMs: r.pick([200, 5_000, 90_000]),
      lostAnswers: r.pick([0, 0.1, 0.4]),
      lateCommits: r.pick([0, 0, 0.1, 0.3]),
    },
    host: {
      crash: r.pick([0.003, 0.02, 0.1]),
      replace: r.pick([0.003, 0.02, 0.1]),
      flush: r.pick([0, 0.5, 1]),
      alarmLost: hasCron ? r.pick([0, 0.05, 0.3]) : 0,
      alarmRepeated: r.pick([0, 0.2]),
      alarmLateMs: r.pick([0, 0, 1_000, 30_000]),
      alarmRetried: hasCron ? r.pick([0, 1]) : 1,
    },
    latencyMs: r.pick([5, 50, 400, 3_000]),
    latent: r.pick([0.2, 0.6]),
    prices: r.pick([0, 0, 0.05]),
  };
}

const CALM: Faults = {
  sends: { dropped: 0, late: 0, failing: 0, forked: 0, hidden: 0, returning: 1 },
  nodes: { failing: 0, shifting: 1, lags: [0, 1], balanced: false, lostAnswers: 0 },
  bridge: {
    failing: 0,
    refusing: 0,
    dear: 0,
    reused: 0,
    fates: ['delivered'],
    slownessMs: 5_000,
    premature: 0,
  },
  bitcoin: { failing: 0, lagMs: 0 },
  d1: { failing: 0, outageMs: 0, lostAnswers: 0, lateCommits: 0 },
  host: {
    crash: 0,
    replace: 0,
    flush: 1,
    alarmLost: 0,
    alarmRepeated: 0,
    alarmLateMs: 0,
    alarmRetried: 1,
  },
  latencyMs: 5,
  latent: 0,
  prices: 0,
};
