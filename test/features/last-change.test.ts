import { describe, expect, it } from 'vitest';
import { type LastChangeDeps, refreshFor } from '../../src/features/reserves/last-change.ts';
import { Cache, prewarmed, refreshing } from '../../src/http/cached.ts';

const START = Date.parse('2026-11-20T10:00:00.000Z');
const NO_CACHE = 'no-cache';

/** One isolate whose figures are read from a chain, and operations that change it. */
function isolate() {
  const clock = { ms: START };
  const counts = { chain: 0, database: 0 };
  let lastChange = 0;
  const cache = () => new Cache({ now: () => clock.ms, defer: () => undefined });
  const figures = cache();
  const deps: LastChangeDeps = {
    memory: cache(),
    now: () => clock.ms,
    absr: {
      async lastChange() {
        counts.database += 1;
        if (Number.isNaN(lastChange)) throw new Error('D1 is down');
        return lastChange;
      },
    },
  };
  return {
    clock,
    counts,
    change: () => {
      lastChange = clock.ms;
    },
    breakDatabase: () => {
      lastChange = Number.NaN;
    },
    async read(cacheControl?: string) {
      const policy = refreshing(prewarmed(900_000), await refreshFor(deps, cacheControl));
      return figures.read('figures', policy, async () => {
        counts.chain += 1;
        return clock.ms;
      });
    },
  };
}

describe('figures of the reserve', () => {
  it('reads the reserve again for a caller that demands current figures after an operation has changed', async () => {
    const { clock, change, counts, read } = isolate();
    await read();
    clock.ms += 10_000;
    change();
    clock.ms += 3_500;
    expect((await read()).value).toBe(START);
    expect((await read(NO_CACHE)).value).toBe(clock.ms);
    expect((await read('max-age=0')).value).toBe(clock.ms);
    expect((await read()).value).toBe(clock.ms);
    expect(counts.chain).toBe(2);
  });

  it('makes no upstream call for the reserve while no operation changes, for any number of requests', async () => {
    const { clock, change, counts, read } = isolate();
    change();
    clock.ms += 3_000;
    await read();
    for (let request = 0; request < 500; request++) {
      clock.ms += 100;
      await read(NO_CACHE);
    }
    expect(counts.chain).toBe(1);
    expect(counts.database).toBeLessThanOrEqual(50);
  });

  it('reads the reserve at most once a second while an operation changes', async () => {
    const { clock, change, counts, read } = isolate();
    await read();
    change();
    for (let request = 0; request < 100; request++) {
      clock.ms += 50;
      await read(NO_CACHE);
    }
    expect(counts.chain).toBeGreaterThan(1);
    expect(counts.chain).toBeLessThanOrEqual(4);
  });

  it('reads the reserve again if the last read was made while an operation was changing the chain', async () => {
    const { clock, change, read } = isolate();
    await read();
    change();
    clock.ms += 1_500;
    await read(NO_CACHE);
    clock.ms += 2_000;
    expect((await read(NO_CACHE)).value).toBe(clock.ms);
  });

  it('keeps the usual freshness of the reserve figures while the database is down', async () => {
    const { clock, breakDatabase, read } = isolate();
    await read();
    breakDatabase();
    clock.ms += 10_000;
    expect((await read(NO_CACHE)).value).toBe(START);
  });
});

it('serves an outdated reserve figure as stale when it cannot be read again', async () => {
  const clock = { ms: START };
  const cache = new Cache({ now: () => clock.ms, defer: () => undefined });
  await cache.read('figures', prewarmed(900_000), async () => 1);
  clock.ms += 5_000;
  const again = cache.read('figures', refreshing(prewarmed(900_000), clock.ms), async () => {
    throw new Error('down');
  });
  expect(await again).toEqual({ value: 1, asOf: START, stale: true });
});
