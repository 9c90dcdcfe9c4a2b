import { describe, expect, it } from 'vitest';
import { blocksOf, DAYS, HALF_HOURS, summaryOf } from '../../site/parts/status-strip.tsx';

const AS_OF = '2026-11-20T13:10:00.000Z';
const periods = [
  { startsAt: '2026-11-19T13:00:00.000Z', checks: 30, failures: [{ name: 'kraken', checks: 30 }] },
  { startsAt: '2026-11-20T12:30:00.000Z', checks: 30, failures: [{ name: 'kraken', checks: 2 }] },
  { startsAt: '2026-11-20T13:00:00.000Z', checks: 11, failures: [] },
];

describe('the last 24 hours of a part', () => {
  it('divides the last 24 hours of a row of the status page into 48 half hours; one without a check has 0 checks', () => {
    const blocks = blocksOf(periods, HALF_HOURS, 'kraken', AS_OF);
    expect(blocks).toHaveLength(48);
    expect(blocks[0]).toEqual({ startsAt: '2026-11-19T13:30:00.000Z', checks: 0, failed: 0 });
    expect(blocks.slice(-2)).toEqual([
      { startsAt: '2026-11-20T12:30:00.000Z', checks: 30, failed: 2 },
      { startsAt: '2026-11-20T13:00:00.000Z', checks: 11, failed: 0 },
    ]);
  });

  it('summarizes in text the checks of the last 24 hours for a row of the status page', () => {
    const summary = (of: typeof periods, name: string) =>
      summaryOf(blocksOf(of, HALF_HOURS, name, AS_OF), HALF_HOURS);
    expect(summary(periods, 'kraken')).toBe(
      '2 of 41 checks failed, last in the half hour from 2026-11-20 12:30 UTC',
    );
    expect(summary(periods, 'coinbase')).toBe('no failure in 41 checks');
    expect(summary([], 'kraken')).toBe('no check recorded yet');
  });
});

it('shows 90 days of a row of the status page with one bar per day', () => {
  const days = [
    { startsAt: '2026-08-22T00:00:00.000Z', checks: 9, failures: [{ name: 'kraken', checks: 9 }] },
    { startsAt: '2026-11-19T00:00:00.000Z', checks: 1440, failures: [{ name: 'kraken', checks: 3 }] },
    { startsAt: '2026-11-20T00:00:00.000Z', checks: 790, failures: [] },
  ];
  const blocks = blocksOf(days, DAYS, 'kraken', AS_OF);
  expect(blocks).toHaveLength(90);
  expect(blocks[0]).toEqual({ startsAt: '2026-08-23T00:00:00.000Z', checks: 0, failed: 0 });
  expect(summaryOf(blocks, DAYS)).toBe('3 of 2,230 checks failed, last on 2026-11-19');
});
