/**
 * Epochs follow each other without a gap. Each takes the parameters of the configuration as they are when it starts,
 * and keeps them: a deposit earns by the epoch of its block, whenever it is claimed.
 * @module
 */
import type { Curve } from './reward-curve.ts';

/** The rewards programme as it is configured now. */
export type AsryProgram = Curve & {
  /** Unix seconds of the first epoch; null for midnight UTC of the day on which the programme first runs. */
  readonly startsAt: number | null;
  readonly epochSeconds: number;
  /** Trillionths of a dollar for a whole ASRY; null while it has no price. */
  readonly price: bigint | null;
  /** Digits of ASRY after the point. */
  readonly decimals: number;
  /** Smallest deposit that earns, in atoms of the dollar token. */
  readonly minimumDeposit: bigint;
  /** Older deposits earn nothing. */
  readonly maxAgeSeconds: number;
  /** Lamports a day for opening accounts of receivers. */
  readonly rentBudget: bigint;
  /** No new claim is taken; what is owed is still paid. */
  readonly disabled: boolean;
};

export type Epoch = Curve & {
  /** From 0. */
  readonly number: number;
  /** Unix seconds; the end is the next one's start. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly price: bigint | null;
  readonly decimals: number;
  /** Net deposits claimed so far: where the curve stands. */
  readonly deposits: bigint;
  /** Reward atoms that have reached their receivers. */
  readonly paid: bigint;
  readonly claims: number;
  /** Counts up with every change of the row. */
  readonly changes: number;
};

const DAY_SECONDS = 86_400;

/**
 * The rows that are missing up to the epoch of `until`, oldest first.
 *
 * @param last  the newest row there is
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

/** A programme that began long ago opens with the oldest epoch in which a deposit can still be claimed. */
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
