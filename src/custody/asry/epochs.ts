/**
 * Epochs follow each other without a gap. Each epoch stores the configured parameters when it starts and
 * keeps them. A deposit earns by the epoch of its block, regardless of when it is claimed.
 * @module
 */
import type { Curve } from './reward-curve.ts';

/** The configuration of the rewards programme. */
export type AsryProgram = Curve & {
  /**
   * Start of the first epoch in Unix seconds; null means midnight UTC of the day on which the programme first
   * runs.
   */
  readonly startsAt: number | null;
  readonly epochSeconds: number;
  /** Price of one ASRY in trillionths of a dollar; null without a price. */
  readonly price: bigint | null;
  /** Decimals of ASRY. */
  readonly decimals: number;
  /** Smallest deposit that earns, in atoms of the dollar token. */
  readonly minimumDeposit: bigint;
  /** Older deposits earn nothing. */
  readonly maxAgeSeconds: number;
  /** Lamports per day for opening receivers' accounts. */
  readonly rentBudget: bigint;
  /** Refuses new claims; owed payouts are still paid. */
  readonly disabled: boolean;
};

export type Epoch = Curve & {
  /** From 0. */
  readonly number: number;
  /** Unix seconds. An epoch ends when the next one starts. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly price: bigint | null;
  readonly decimals: number;
  /** Net deposits claimed so far: the position on the curve. */
  readonly deposits: bigint;
  /** Reward atoms paid to receivers. */
  readonly paid: bigint;
  readonly claims: number;
  /** Incremented with every change of the row. */
  readonly changes: number;
};

const DAY_SECONDS = 86_400;

/**
 * The missing epochs up to the one that contains `until`, oldest first.
 *
 * @param last  the newest stored epoch
 * @param until Unix seconds
 * @param now   Unix seconds
 */
export function missingEpochs(
  last: Pick<Epoch, 'number' | 'endsAt'> | undefined,
  program: AsryProgram,
  until: number,
  now: number,
): Epoch[] {
  const epochs: Epoch[] = [];
  const first = last ? { number: last.number + 1, startsAt: last.endsAt } : firstEpoch(program, now);
  for (let { number, startsAt } = first; startsAt <= until; number += 1) {
    const endsAt = startsAt + program.epochSeconds;
    epochs.push(openEpoch(program, { number, startsAt, endsAt }));
    startsAt = endsAt;
  }
  return epochs;
}

/** A programme with a past start opens at the oldest epoch whose deposits can still be claimed. */
function firstEpoch(program: AsryProgram, now: number): { number: number; startsAt: number } {
  const start = program.startsAt ?? now - (now % DAY_SECONDS);
  const passed = Math.floor((now - program.maxAgeSeconds - start) / program.epochSeconds);
  const number = Math.max(passed, 0);
  return { number, startsAt: start + number * program.epochSeconds };
}

function openEpoch(
  { cap, depth, price, decimals }: AsryProgram,
  span: Pick<Epoch, 'number' | 'startsAt' | 'endsAt'>,
): Epoch {
  return { ...span, cap, depth, price, decimals, deposits: 0n, paid: 0n, claims: 0, changes: 0 };
}
