import { describe, expect, it } from 'vitest';
import { numberTicks, timeTicks } from '../../site/parts/ticks.ts';

it.each([
  [0, 1_100_000, 5, [0, 500_000, 1_000_000]],
  [0, 4.4, 5, [0, 1, 2, 3, 4]],
  [0, 1.1, 5, [0, 1]],
  [0, 99, 4, [0, 50]],
  [0, 2.31e15, 4, [0, 1e15, 2e15]],
])('divides an axis from %d to %d into at most %i parts with the marks %j', (from, to, parts, ticks) => {
  expect(numberTicks(from, to, parts)).toEqual(ticks);
});

describe('the marks of an axis of time', () => {
  const at = (iso: string): number => Date.parse(iso) / 1000;

  it('the marks of a time axis are hours, with the date below the first mark of each day', () => {
    const ticks = timeTicks(at('2026-11-22T17:10:00Z'), at('2026-11-23T17:10:00Z'), 5);
    expect(ticks.map(({ label, date }) => [label, date])).toEqual([
      ['18:00', '11-22'],
      ['00:00', '11-23'],
      ['06:00', null],
      ['12:00', null],
    ]);
  });

  it('the marks of a time axis are dates if it covers several days', () => {
    const ticks = timeTicks(at('2026-10-25T00:00:00Z'), at('2026-11-24T00:00:00Z'), 5);
    expect(ticks.every(({ label, date }) => /^\d\d-\d\d$/.test(label) && date === null)).toBe(true);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(timeTicks(at('2026-01-01T00:00:00Z'), at('2046-01-01T00:00:00Z'), 5).length).toBeLessThan(7);
  });

  it('a time axis for a single time has at most one mark', () => {
    expect(timeTicks(100, 100, 5).length).toBeLessThan(2);
  });
});
