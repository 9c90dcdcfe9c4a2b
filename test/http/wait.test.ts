import { Hono } from 'hono';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { Cache } from '../../src/http/cached.ts';
import { createWaiting, MAX_WAITING } from '../../src/http/wait.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';

/** Interval between reads of a record. */
const POLL_MS = 1_000;
const WAITERS = 500;

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A record in the state `sent`, until the time of each of its changes, such as `1s landed, 2s700ms finished`. */
function record(changes: string, maximum?: number) {
  const states = changes.split(', ').map((change) => change.split(' ') as [time: string, state: string]);
  const reads: number[] = [];
  const upstream = { is: 'up' };
  const poll = {
    key: 'swap:a',
    read: async () => {
      reads.push(Date.now());
      // As in a request whose caller has disconnected.
      if (upstream.is === 'hung') await new Promise(() => undefined);
      if (upstream.is === 'down') throw new AppError('NOT_FOUND', 'No swap has this id.');
      return { state: states.findLast(([at]) => at && msOf(at) <= Date.now())?.[1] ?? 'sent' };
    },
    stateOf: ({ state }: { state: string }) => (state === 'finished' ? null : state),
    isNear: ({ state }: { state: string }) => state === 'settling',
  };
  const waiting = createWaiting({
    memory: new Cache({ now: Date.now, defer: () => undefined }),
    now: Date.now,
    sleep: (ms) => new Promise((ends) => setTimeout(ends, ms)),
    ...(maximum === undefined ? {} : { maximum }),
  });
  return { waiting, poll, reads, upstream };
}

eachScene(`
  a waiting request gets a final state at once                      | 0s finished | 9 | ask 55s; pass 0s; answers = finished 0
  a waiting request gets another state, even if it is not final     | 1s landed   | 9 | ask 55s; pass 10s; answers = landed 1000
  a waiting request gets the unchanged state when its time is over  |             | 9 | ask 3s100ms; pass 10s; answers = sent 3100
  a waiting request keeps waiting while reads fail
    | 6s finished | 9 | ask 20s; pass 1s; reads down; pass 4s; reads up; pass 10s; answers = finished 6000
  a waiting request fails if its first read fails                   |             | 9 | reads down; ask 20s; pass 0s; answers = NOT_FOUND 0
  a request returns at once while too many others wait
    | | 2 | ask 5s; ask 20s; pass 1s; ask 5s; pass 0s; answers = sent 1000 not granted; pass 5s; answers = sent 5000;
      ask 1s; pass 14s; answers = sent 7000, sent 20000
  the place of a waiting request that the runtime has cancelled is free after its time
    | | 1 | ask 5s gone; reads hung; pass 1s; reads up; ask 5s; pass 0s; answers = sent 1000 not granted;
      pass 4s; ask 1s; pass 5s; answers = sent 6000
  a record near its end is read five times a second, for waiting requests and for others
    | 2s settling, 2s700ms finished | 9 | ask 55s; pass 2s50ms; answers = settling 2000; ask 55s; pass 3s;
      answers = finished 2850; reads = 0 1000 2000 2250 2450 2650 2850
`)('%s', async (_title, changes = '', maximum = '', steps = '') => {
  const { waiting, poll, reads, upstream } = record(changes, Number(maximum));
  const answers: string[] = [];
  const verbs = {
    /** A request that waits this long; its answer has the time in milliseconds. */
    ask(wait: string, key = 'swap:a') {
      void waiting.nextChange({ ...poll, key }, msOf(wait)).then(
        ({ value, applied }) => answers.push(`${value.state} ${Date.now()}${applied ? '' : ' not granted'}`),
        ({ code }) => answers.push(`${code} ${Date.now()}`),
      );
    },
    answers: () => answers.splice(0).join(', ') || 'none',
    pass: (time: string) => pass(msOf(time)),
    reads: (is?: string) => (is ? Object.assign(upstream, { is }) : reads.join(' ')),
  };
  await playSteps(steps, verbs);
});

it('500 waiting requests end within a second of the change, with one read per interval', async () => {
  const { waiting, poll, reads } = record('10s150ms finished');
  const endedAt: number[] = [];
  for (let begun = 0; begun < WAITERS; begun++) {
    // Ten groups begin in the first second.
    if (begun > 0 && begun % (WAITERS / 10) === 0) await pass(100);
    void waiting.nextChange(poll, 55_000).then(({ value, applied }) => {
      endedAt.push(Date.now());
      expect([value.state, applied]).toEqual(['finished', true]);
    });
  }
  await pass(60_000);
  expect(endedAt).toHaveLength(WAITERS);
  expect(Math.min(...endedAt)).toBeGreaterThanOrEqual(10_150);
  expect(Math.max(...endedAt) - 10_150).toBeLessThanOrEqual(2 * POLL_MS);
  expect(reads.length).toBeLessThanOrEqual(Math.ceil(11_000 / POLL_MS) + 1);
  expect(MAX_WAITING).toBeGreaterThanOrEqual(WAITERS);
});

it('reads a record once per second for any number of requests that do not wait', async () => {
  const { waiting, poll, reads } = record('');
  const app = new Hono().get('/', async (c) => c.json(await waiting.read(c, poll)));
  for (let ms = 0; ms < 3_000; ms += 100) {
    await Promise.all([app.request('/'), app.request('/')]);
    await pass(100);
  }
  expect(reads).toEqual([0, 1_000, 2_000]);
});

it('Preference-Applied shows the granted wait, which is at most the longest allowed wait', async () => {
  const { waiting, poll } = record('1s finished');
  const app = new Hono().get('/', async (c) => c.json(await waiting.read(c, poll)));
  const call = Promise.resolve(app.request('/', { headers: { prefer: 'wait=600' } }));
  await pass(3_000);
  const response = await call;
  expect(await response.json()).toEqual({ state: 'finished' });
  expect(response.headers.get('preference-applied')).toBe('wait=55');
});
