import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { Cache } from '../../src/http/cached.ts';
import { createWaiting, MAX_WAITING } from '../../src/http/wait.ts';

/** Interval between reads of a record. */
const POLL_MS = 1_000;
const WAITERS = 500;

/** A record whose state changes at set times, read under a clock that only `sleep` advances. */
function scene(changes: readonly (readonly [atMs: number, state: string])[], maximum?: number) {
  let time = 0;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const reads: number[] = [];
  let failure: Error | undefined;
  const now = () => time;
  const waiting = createWaiting({
    memory: new Cache({ now, defer: () => undefined }),
    now,
    sleep: (ms) => new Promise((wake) => sleepers.push({ at: time + ms, wake })),
    ...(maximum === undefined ? {} : { maximum }),
  });
  const poll = {
    key: 'swap:a',
    read: async () => {
      reads.push(time);
      if (failure) throw failure;
      return { state: changes.findLast(([at]) => at <= time)?.[1] ?? 'sent' };
    },
    stateOf: ({ state }: { state: string }) => (state === 'finished' ? null : state),
  };
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  return {
    waiting,
    poll,
    reads,
    now,
    fail: (error: Error | undefined) => {
      failure = error;
    },
    /** Lets all promises settle, then moves the clock to the next sleeper until `ms`. */
    async runTo(ms: number) {
      await settle();
      for (;;) {
        sleepers.sort((a, b) => a.at - b.at);
        const next = sleepers[0];
        if (!next || next.at > ms) break;
        time = next.at;
        for (const { wake } of sleepers.splice(0, sleepers.filter(({ at }) => at <= time).length)) wake();
        await settle();
      }
      time = ms;
    },
  };
}

describe('waiting for a change', () => {
  it('ends 500 waiting requests within a second of the change, with one read per interval', async () => {
    const { waiting, poll, reads, now, runTo } = scene([[10_150, 'finished']]);
    const answeredAt: number[] = [];
    const calls = [];
    for (let begun = 0; begun < WAITERS; begun++) {
      // Ten groups begin in the first second.
      if (begun % (WAITERS / 10) === 0) await runTo((begun / WAITERS) * 1_000);
      calls.push(
        waiting.nextChange(poll, 55_000).then(({ value, applied }) => {
          answeredAt.push(now());
          expect([value.state, applied]).toEqual(['finished', true]);
        }),
      );
    }
    await runTo(60_000);
    await Promise.all(calls);
    expect(answeredAt).toHaveLength(WAITERS);
    expect(Math.min(...answeredAt)).toBeGreaterThanOrEqual(10_150);
    expect(Math.max(...answeredAt) - 10_150).toBeLessThanOrEqual(2 * POLL_MS);
    expect(reads.length).toBeLessThanOrEqual(Math.ceil(11_000 / POLL_MS) + 1);
  });

  it.each<
    [title: string, changes: [atMs: number, state: string][], maxMs: number, state: string, at: number]
  >([
    ['a final state at once', [[0, 'finished']], 55_000, 'finished', 0],
    ['another state, even if it is not final', [[1_000, 'landed']], 55_000, 'landed', 1_000],
    ['the unchanged state when its time is over', [], 3_100, 'sent', 3_100],
  ])('a waiting request returns %s', async (_title, changes, maxMs, state, at) => {
    const { waiting, poll, now, runTo } = scene(changes);
    let answeredAt = 0;
    const call = waiting.nextChange(poll, maxMs).finally(() => {
      answeredAt = now();
    });
    await runTo(10_000);
    expect(await call).toEqual({ value: { state }, applied: true });
    expect(answeredAt).toBe(at);
  });

  it('keeps waiting while reads fail, and rejects only if the first read fails', async () => {
    const { waiting, poll, fail, runTo } = scene([[6_000, 'finished']]);
    const call = waiting.nextChange(poll, 20_000);
    await runTo(1_000);
    fail(new Error('D1_ERROR'));
    await runTo(5_000);
    fail(undefined);
    await runTo(15_000);
    expect((await call).value.state).toBe('finished');
    fail(new AppError('NOT_FOUND', 'No swap has this id.'));
    const other = waiting.nextChange({ ...poll, key: 'swap:b' }, 20_000);
    await expect(other).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('returns at once while too many requests are waiting', async () => {
    const { waiting, poll, runTo } = scene([], 2);
    const first = [waiting.nextChange(poll, 5_000), waiting.nextChange(poll, 20_000)];
    await runTo(1_000);
    expect((await waiting.nextChange(poll, 5_000)).applied).toBe(false);
    await runTo(6_000);
    const later = waiting.nextChange(poll, 1_000);
    await runTo(30_000);
    expect((await later).applied).toBe(true);
    expect((await Promise.all(first)).map(({ applied }) => applied)).toEqual([true, true]);
  });

  it('frees the places of waiting requests that the runtime has cancelled', async () => {
    const { waiting, poll, runTo } = scene([], 1);
    // The read never returns, as in a request whose caller has disconnected.
    const stuck = { ...poll, key: 'swap:gone' };
    let reads = 0;
    const read = () => (reads++ ? new Promise<never>(() => undefined) : poll.read());
    void waiting.nextChange({ ...stuck, read }, 5_000);
    await runTo(1_000);
    expect((await waiting.nextChange(poll, 5_000)).applied).toBe(false);
    await runTo(5_000);
    const later = waiting.nextChange(poll, 1_000);
    await runTo(10_000);
    expect((await later).applied).toBe(true);
  });

  it('at least 500 requests can wait for a change at once', () =>
    expect(MAX_WAITING).toBeGreaterThanOrEqual(WAITERS));
});

it('reads a record once per second for any number of requests that do not wait', async () => {
  const { waiting, poll, reads, runTo } = scene([]);
  const app = new Hono().get('/', async (c) => c.json(await waiting.read(c, poll)));
  for (let ms = 0; ms < 3_000; ms += 100) {
    await runTo(ms);
    await Promise.all([app.request('/'), app.request('/')]);
  }
  expect(reads).toEqual([0, 1_000, 2_000]);
});

it('reads a record near its end five times a second, for waiting requests and for others', async () => {
  const { waiting, poll, reads, runTo } = scene([
    [2_000, 'settling'],
    [2_700, 'finished'],
  ]);
  const near = { ...poll, isNear: ({ state }: { state: string }) => state === 'settling' };
  const first = waiting.nextChange(near, 55_000);
  await runTo(2_050);
  expect((await first).value.state).toBe('settling');
  const second = waiting.nextChange(near, 55_000);
  await runTo(5_000);
  expect((await second).value.state).toBe('finished');
  expect(reads).toEqual([0, 1_000, 2_000, 2_250, 2_450, 2_650, 2_850]);
});

it('a response repeats the granted wait, limited to the longest one, in Preference-Applied', async () => {
  const { waiting, poll, runTo } = scene([[1_000, 'finished']]);
  const app = new Hono().get('/', async (c) => c.json(await waiting.read(c, poll)));
  const call = Promise.resolve(app.request('/', { headers: { prefer: 'wait=600' } }));
  await runTo(3_000);
  const response = await call;
  expect(await response.json()).toEqual({ state: 'finished' });
  expect(response.headers.get('preference-applied')).toBe('wait=55');
});
