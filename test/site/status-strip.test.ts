import { describe, expect, it } from 'vitest';
import { blocksOf, summaryOf } from '../../site/parts/status-strip.tsx';

const AS_OF = '2026-11-20T13:10:00.000Z';
const history = {
  periodSeconds: 1800,
  periods: [
    { startsAt: '2026-11-19T13:00:00.000Z', checks: 30, failures: [{ name: 'kraken', checks: 30 }] },
    { startsAt: '2026-11-20T12:30:00.000Z', checks: 30, failures: [{ name: 'kraken', checks: 2 }] },
    { startsAt: '2026-11-20T13:00:00.000Z', checks: 11, failures: [] },
  ],
};

describe('the last 24 hours of a part', () => {
  it('are 48 half hours up to the one under way, empty where no check is recorded', () => {
    const blocks = blocksOf(history, 'kraken', AS_OF);
    expect(blocks).toHaveLength(48);
    expect(blocks[0]).toEqual({ startsAt: '2026-11-19T13:30:00.000Z', checks: 0, failed: 0 });
    expect(blocks.slice(-2)).toEqual([
      { startsAt: '2026-11-20T12:30:00.000Z', checks: 30, failed: 2 },
      { startsAt: '2026-11-20T13:00:00.000Z', checks: 11, failed: 0 },
    ]);
  });

  it('are summed up in text', () => {
    expect(summaryOf(blocksOf(history, 'kraken', AS_OF))).toBe(
      '2 of 41 checks failed, last in the half hour from 2026-11-20 12:30 UTC',
    );
    expect(summaryOf(blocksOf(history, 'coinbase', AS_OF))).toBe('no failure in 41 checks');
    expect(summaryOf(blocksOf({ ...history, periods: [] }, 'kraken', AS_OF))).toBe('no check recorded yet');
  });
});
