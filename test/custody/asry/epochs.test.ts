import { expect, it } from 'vitest';
import { type AsryProgram, missingEpochs, PROGRAM_TERMS } from '../../../src/custody/asry/epochs.ts';

const START = 1_000_000;
const PROGRAM: AsryProgram = {
  cap: 10n,
  depth: 7n,
  startsAt: START,
  epochSeconds: 100,
  price: 3n,
  minimumDeposit: 1n,
  maxAgeSeconds: 250,
};
const placesOf = (epochs: ReturnType<typeof missingEpochs>) =>
  epochs.map(({ number, startsAt, endsAt }) => [number, startsAt, endsAt]);

it('an epoch pays at most 1,000,000 ASRY in 30 days, for deposits of at least 1 dollar in the last 90 days', () => {
  expect(PROGRAM_TERMS).toEqual({
    startsAt: null,
    epochSeconds: 2_592_000,
    cap: 1_000_000n,
    depth: 90_000_000_000n,
    minimumDeposit: 1_000_000n,
    maxAgeSeconds: 7_776_000,
  });
});

it('missing epochs are created from the configured start; they have the configured parameters and no claims', () => {
  expect(missingEpochs(undefined, PROGRAM, START, START, 2)).toEqual([
    {
      number: 0,
      startsAt: START,
      endsAt: START + 100,
      cap: 1_000n,
      depth: 7n,
      price: 3n,
      decimals: 2,
      deposits: 0n,
      paid: 0n,
      claims: 0,
    },
  ]);
  expect(missingEpochs(undefined, PROGRAM, START - 1, START - 1, 2)).toEqual([]);
});

it('missing epochs are created after the newest stored epoch, up to the one that contains the current time', () => {
  const last = { number: 4, endsAt: START + 500 };
  const untilSecond = (second: number) =>
    placesOf(missingEpochs(last, PROGRAM, START + second, START + second, 2));
  const [fifth, sixth] = [
    [5, START + 500, START + 600],
    [6, START + 600, START + 700],
  ];
  expect(untilSecond(499)).toEqual([]);
  expect(untilSecond(500)).toEqual([fifth]);
  expect(untilSecond(699)).toEqual([fifth, sixth]);
  expect(untilSecond(700)).toEqual([fifth, sixth, [7, START + 700, START + 800]]);
});

it('if the configured start is too long ago, missing epochs start with the oldest one that can still be claimed', () => {
  const begin = (now: number) => placesOf(missingEpochs(undefined, PROGRAM, now, now, 2)).slice(0, 1);
  expect(begin(START + 1_049)).toEqual([[7, START + 700, START + 800]]);
  expect(begin(START + 1_050)).toEqual([[8, START + 800, START + 900]]);
});

it('missing epochs start at midnight UTC of the current day when no start is configured', () => {
  const midnight = 20_000 * 86_400;
  const program = { ...PROGRAM, startsAt: null, epochSeconds: 7 * 86_400 };
  const now = midnight + 86_399;
  expect(placesOf(missingEpochs(undefined, program, now, now, 2))).toEqual([
    [0, midnight, midnight + 7 * 86_400],
  ]);
});
