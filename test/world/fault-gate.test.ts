import { expect, it, vi } from 'vitest';
import { text } from '../kit/transport.ts';
import { createFaultBook } from './fault-book.ts';
import { startUpstream } from './fault-gate.ts';
import { createRequestCounts } from './request-counts.ts';

it('an upstream refuses requests above its limit per second', async () => {
  let now = 5_000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now);
  const upstream = await startUpstream({
    name: 'rated',
    faults: createFaultBook(),
    counts: createRequestCounts(),
    ratePerSecond: 3,
    handle: () => text(200, 'ok'),
  });
  try {
    const statuses = async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(upstream.url)));
      return answers.map(({ status }) => status).toSorted();
    };
    expect(await statuses()).toEqual([200, 200, 200, 429, 429]);
    now += 1_000;
    expect(await statuses()).toEqual([200, 200, 200, 429, 429]);
  } finally {
    clock.mockRestore();
    await upstream.stop();
  }
});
