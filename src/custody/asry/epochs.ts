/**
 * Reward epochs, and the reward of a deposit. Epochs follow each other without a gap, and each keeps the parameters
 * configured at its start. A deposit's block time selects its epoch, whose capped curve sets the reward. Splitting a
 * deposit gains nothing, and the order of deposits does not change their total. An earlier claim earns more. All
 * figures are integers: deposits in the smallest unit of the dollar token, rewards in the smallest unit of ASRY.
 * @module
 */
import type { ClaimedDeposit } from '../api.ts';

/** Basis points of the received amount. The fee is rounded up; otherwise tiny deposits would pay no fee. */
export const RECEIVE_FEE_BPS = 5;

/** The maximum reward of an epoch and the depth of its curve. Fixed when the epoch starts. */
export type Curve = {
  /** Upper bound in reward atoms, at least 0; the curve never reaches it. */
  readonly cap: bigint;
  /** Deposit atoms that earn half of the cap, at least 1. */
  readonly depth: bigint;
};

export const receiveFee = (credited: bigint): bigint =>
  (credited * BigInt(RECEIVE_FEE_BPS) + 9_999n) / 10_000n;

/** Total reward after `deposits` net atoms: floor(cap * c / (c + depth)), concave, below the cap. */
export const rewardsAt = ({ cap, depth }: Curve, deposits: bigint): bigint =>
  (cap * deposits) / (deposits + depth);

/** Reward of the next `net` atoms. It is a difference of totals, so rounding errors do not accumulate. */
export const entitlementOf = (curve: Curve, before: bigint, net: bigint): bigint =>
  rewardsAt(curve, before + net) - rewardsAt(curve, before);

/**
 * Reward atoms for the next deposit atom, before rounding, times 10^digits, rounded down.
 * cap * (c + 1) / (c + 1 + depth) - cap * c / (c + depth) is cap * depth / ((c + depth) * (c + 1 + depth)).
 */
export const nextUnitRate = ({ cap, depth }: Curve, deposits: bigint, digits: number): bigint =>
  (cap * depth * 10n ** BigInt(digits)) / ((deposits + depth) * (deposits + 1n + depth));

export type AsryProgram = {
  /** Maximum total reward of an epoch, in whole ASRY. */
  readonly cap: bigint;
  /** Total deposits that earn half of the maximum, in atoms of the dollar token. */
  readonly depth: bigint;
  /** Start of the first epoch in Unix seconds; null means midnight UTC of the day on which the first epoch is created. */
  readonly startsAt: number | null;
  readonly epochSeconds: number;
  /** Price of one ASRY in trillionths of a dollar; null if none is configured. */
  readonly price: bigint | null;
  /** Smallest deposit that earns, in atoms of the dollar token. */
  readonly minimumDeposit: bigint;
  /** Maximum age of a deposit; an older one earns nothing. */
  readonly maxAgeSeconds: number;
};

export const PROGRAM_TERMS = {
  startsAt: null,
  epochSeconds: 30 * 86_400,
  cap: 1_000_000n,
  depth: 90_000_000_000n,
  minimumDeposit: 1_000_000n,
  maxAgeSeconds: 90 * 86_400,
} as const;

export type Epoch = Curve & {
  readonly number: number;
  /** Unix seconds. An epoch ends when the next one starts. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly price: bigint | null;
  readonly decimals: number;
  /** Net deposits claimed so far: the position on the curve. */
  readonly deposits: bigint;
  readonly paid: bigint;
  readonly claims: number;
};

const DAY_SECONDS = 86_400;

/** The epochs after `last` up to the one that contains `until`, oldest first. Times in Unix seconds. */
export function missingEpochs(
  last: Pick<Epoch, 'number' | 'endsAt'> | undefined,
  program: AsryProgram,
  until: number,
  now: number,
  decimals: number,
): Epoch[] {
  const epochs: Epoch[] = [];
  const first = last ? { number: last.number + 1, startsAt: last.endsAt } : firstEpoch(program, now);
  for (let { number, startsAt } = first; startsAt <= until; number += 1) {
    const endsAt = startsAt + program.epochSeconds;
    epochs.push(openEpoch(program, decimals, { number, startsAt, endsAt }));
    startsAt = endsAt;
  }
  return epochs;
}

/** If the configured start has passed, the first epoch is the oldest one whose deposits can still be claimed. */
function firstEpoch(program: AsryProgram, now: number): { number: number; startsAt: number } {
  const start = program.startsAt ?? now - (now % DAY_SECONDS);
  const passed = Math.floor((now - program.maxAgeSeconds - start) / program.epochSeconds);
  const number = Math.max(passed, 0);
  return { number, startsAt: start + number * program.epochSeconds };
}

function openEpoch(
  { cap, depth, price }: AsryProgram,
  decimals: number,
  span: Pick<Epoch, 'number' | 'startsAt' | 'endsAt'>,
): Epoch {
  const none = { deposits: 0n, paid: 0n, claims: 0 };
  return { ...span, cap: cap * 10n ** BigInt(decimals), depth, price, decimals, ...none };
}

/** After this many parts, the next part pays the entire remainder, regardless of the requested amount. */
const MAX_PARTIAL_PAYOUTS = 3;
/** Minimum size of a part, in percent of the entitlement. */
const LEAST_PERCENT = 1n;

/**
 * The atoms of a claim that one call pays; undefined if the call states dollars and the epoch has no price. Anyone can
 * claim for any deposit. A third party that claims small parts can only delay a reward, three times at most.
 * @param asked.parts payouts made or promised before
 */
export function atomsOfPart(
  { entitlementAtoms, remainingAtoms }: Pick<ClaimedDeposit, 'entitlementAtoms' | 'remainingAtoms'>,
  { price, decimals }: Pick<Epoch, 'price' | 'decimals'>,
  asked: { readonly parts: number; readonly microUsd: bigint | null },
): bigint | undefined {
  if (asked.microUsd === null || asked.parts >= MAX_PARTIAL_PAYOUTS) return remainingAtoms;
  if (price === null) return undefined;
  const bought = (asked.microUsd * 10n ** BigInt(decimals + 6)) / price;
  const least = (entitlementAtoms * LEAST_PERCENT + 99n) / 100n;
  const wanted = bought > least ? bought : least;
  return wanted < remainingAtoms ? wanted : remainingAtoms;
}
