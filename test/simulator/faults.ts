/**
 * The fault rates of each part of the world while faults last, and after they have ended.
 * @module
 */
import type { BitcoinFaults } from './bitcoin.ts';
import type { BridgeFaults, Fate } from './bridge-model.ts';
import type { D1Faults } from './d1-model.ts';
import type { HostFaults } from './host.ts';
import type { SendFates } from './ledger.ts';
import type { NodeFaults } from './nodes.ts';
import type { Random } from './random.ts';
import type { Crowd } from './wishes.ts';

export type Faults = {
  readonly sends: SendFates;
  readonly nodes: NodeFaults;
  readonly bridge: BridgeFaults;
  readonly bitcoin: BitcoinFaults;
  readonly d1: D1Faults;
  readonly host: HostFaults;
  /** Maximum milliseconds of a call, and the chance that a call is not immediate. */
  readonly latencyMs: number;
  readonly latent: number;
  /** Chance that price sources contradict each other or too few respond. */
  readonly prices: number;
};

const HOUR = 3_600_000;

const MANY: readonly Fate[] = ['delivered', 'delivered', 'delivered', 'delivered', 'batched', 'batched'];
const SAD: readonly Fate[] = ['partial', 'refunded', 'refunded', 'failed', 'failed_late'];
const WORST: readonly Fate[] = ['silent', 'untrue'];

/** Each seed has its own faults: most parts have none, and some have many. */
export function wildFaults(r: Random, hasCron: boolean, crowd: Crowd): Faults {
  const wild = weather(r, hasCron);
  if (crowd === 'pair') return lagging(wild);
  if (crowd === 'steady') return delivering(wild);
  return crowd === 'alike' ? batching(wild) : wild;
}

function weather(r: Random, hasCron: boolean): Faults {
  return {
    sends: {
      dropped: r.pick([0, 0.1, 0.4, 0.8]),
      late: r.pick([0, 0.1, 0.5, 0.9]),
      failing: r.pick([0, 0, 0.1, 0.4]),
      forked: r.pick([0, 0.4, 0.9]),
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
      lostAnswers: r.pick([0, 0, 0.02, 0.1, 0.3]),
    },
    bridge: {
      failing: r.pick([0, 0, 0.05, 0.2]),
      refusing: r.pick([0, 0, 0.05, 0.3]),
      dear: r.pick([0, 0.1]),
      reused: r.pick([0, 0.1, 0.3]),
      fates: [...MANY, ...(r.chance(0.5) ? SAD : []), ...(r.chance(0.04) ? WORST : [])],
      slownessMs: r.pick([500, 1_000, 3_000, 10_000, r.chance(0.15) ? 2 * HOUR : 30_000]),
      premature: r.pick([0, 0.3]),
    },
    bitcoin: {
      failing: r.pick([0, 0, 0.1, 0.4]),
      lagMs: r.pick([0, 500, 10_000]),
      lying: r.pick([0, 0, 0.5]),
    },
    d1: {
      failing: r.pick([0, 0, 0.05, 0.2]),
      outageMs: r.pick([200, 5_000, 90_000]),
      lostAnswers: r.pick([0, 0.1, 0.4]),
      lateCommits: r.pick([0, 0, 0.1, 0.3]),
      full: r.chance(0.05),
    },
    host: {
      crash: r.pick([0.003, 0.02, 0.1]),
      replace: r.pick([0.003, 0.02, 0.1]),
      flush: r.pick([0, 0.5, 1]),
      alarmLost: hasCron ? r.pick([0, 0.05, 0.3]) : 0,
      alarmRepeated: r.pick([0, 0.2]),
      alarmLateMs: r.pick([0, 0, 1_000, 30_000]),
      // Without cron, only the alarm wakes the object.
      alarmRetried: hasCron ? r.pick([0, 1]) : 1,
    },
    latencyMs: r.pick([5, 50, 400, 3_000]),
    latent: r.pick([0.2, 0.6]),
    prices: r.pick([0, 0, 0.05]),
  };
}

/** The only fault is the age of the nodes' responses. */
const lagging = (wild: Faults): Faults => ({
  ...wild,
  sends: { ...wild.sends, dropped: 0, late: 0, failing: 0, hidden: 0 },
  nodes: { ...wild.nodes, failing: 0, shifting: 0.3, lags: [0, 100, 200] },
  bridge: { ...wild.bridge, failing: 0, refusing: 0, dear: 0 },
  prices: 0,
});

/**
 * The bridge pays all swaps quickly, so that only the hourly and daily caps stop further swaps. Or it keeps some of
 * them, so that the cap on unsettled SOL stops them.
 */
const delivering = (wild: Faults): Faults => ({
  ...wild,
  sends: { ...wild.sends, dropped: 0, late: 0, failing: 0, hidden: 0, forked: 0 },
  nodes: { ...wild.nodes, lags: [0, 1, 2] },
  bridge: {
    ...wild.bridge,
    failing: 0,
    refusing: 0,
    dear: 0,
    fates: wild.bridge.fates.includes('failed') ? ['delivered', 'failed', 'failed'] : ['delivered'],
    slownessMs: 500,
  },
  prices: 0,
});

/** The bridge pays several swaps with one transaction, and reports this payment also for a swap that it did not pay. */
const batching = (wild: Faults): Faults => ({
  ...wild,
  sends: { ...wild.sends, dropped: 0, late: 0, failing: 0 },
  bridge: { ...wild.bridge, refusing: 0, dear: 0, fates: ['batched', 'batched', 'batched', 'untrue'] },
});

export const calm: Faults = {
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
  bitcoin: { failing: 0, lagMs: 0, lying: 0 },
  d1: { failing: 0, outageMs: 0, lostAnswers: 0, lateCommits: 0, full: false },
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
