/** @module-tag deep */
import { expect, it } from 'vitest';
import { describeLoad, runLoad, startLoadWorld } from './load-run.ts';

it('mixed traffic loses no operation and executes none twice while upstreams fail in turn', async () => {
  const world = await startLoadWorld();
  try {
    const report = await runLoad(world, 12);
    const table = describeLoad(report);
    expect(report.lost, table).toEqual([]);
    expect(report.doubled, table).toEqual([]);
    expect(report.unexpected, table).toEqual([]);
    for (const done of [report.swaps, report.tokens, report.rewards, report.pageviews, report.faults])
      expect(done, table).toBeGreaterThan(0);
    expect(report.samples.filter(({ outcome }) => outcome === '500 INTERNAL')).toEqual([]);
  } finally {
    await world.stop();
  }
});
