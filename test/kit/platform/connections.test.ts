import { expect, it } from 'vitest';
import { Connections, connect, onConnections } from './connections.ts';

/** Requests that wait for their headers until a test sends them. */
function pending() {
  const waiting: (() => void)[] = [];
  const fetch = (signal?: AbortSignal) =>
    connect(
      () =>
        new Promise<void>((resolve) => {
          waiting.push(resolve);
        }),
      signal,
    );
  return { waiting, fetch };
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

it('opens the seventh connection of an invocation once one of the six has received its response headers', async () => {
  const { waiting, fetch } = pending();
  const all = onConnections(new Connections(), () => times(7, () => fetch()));
  expect(waiting).toHaveLength(6);
  waiting[2]?.();
  await all[2];
  await expect.poll(() => waiting.length).toBe(7);
});

it('ends a queued request when its time limit has passed', async () => {
  const { waiting, fetch } = pending();
  const limit = new AbortController();
  const seventh = onConnections(new Connections(), () => {
    times(6, () => fetch());
    return fetch(limit.signal);
  });
  limit.abort(new Error('late'));
  await expect(seventh).rejects.toThrow('late');
  expect(waiting).toHaveLength(6);
});

it('gives each invocation its own connections', () => {
  const { waiting, fetch } = pending();
  for (const connections of [new Connections(), new Connections()])
    onConnections(connections, () => times(6, () => fetch()));
  expect(waiting).toHaveLength(12);
});
