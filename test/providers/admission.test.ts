import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BudgetTerms } from '../../src/core/budget.ts';
import { nodeCalls, upstreamCalls } from '../../src/core/call-limits.ts';
import {
  Admission,
  atPriority,
  CallSlots,
  forCaller,
  isForCaller,
  type Priority,
} from '../../src/providers/admission.ts';
import { ask, type Fetch } from '../../src/providers/http.ts';
import { msOf, playScenes } from '../kit/scenes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIMEOUT_MS = 8_000;

/** Upstreams that respond after a time, or never, with what was asked of them. */
function upstreams(respondsAfterMs: (host: string) => number, budgetOf?: (name: string) => BudgetTerms) {
  const asked: string[] = [];
  const running = new Map<string, number>();
  const most = { all: 0, ofHost: 0 };
  const admission = new Admission(budgetOf);
  async function call(url: string, init?: RequestInit): Promise<Response> {
    const { host, pathname } = new URL(url);
    asked.push(pathname.slice(1) || host);
    running.set(host, (running.get(host) ?? 0) + 1);
    const counts = [...running.values()];
    most.ofHost = Math.max(most.ofHost, ...counts);
    most.all = Math.max(
      most.all,
      counts.reduce((sum, count) => sum + count, 0),
    );
    try {
      await new Promise<void>((resolve, reject) => {
        setTimeout(resolve, respondsAfterMs(host));
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    } finally {
      running.set(host, (running.get(host) ?? 0) - 1);
    }
    return new Response('1');
  }
  const fetch: Fetch = Object.assign(call, { admission });
  /** `ok`, or the reason of the failure. */
  const read = (host: string, path = ''): Promise<string> =>
    ask({ fetch, upstream: host, url: `https://${host}/${path}`, timeoutMs: TIMEOUT_MS }).then(
      () => 'ok',
      (error: { details: { reason: string } }) => error.details.reason,
    );
  return { read, asked, most, admission };
}

/** `AbortSignal.timeout` has a timer that no test can move. */
beforeEach(() => {
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  });
});
afterEach(() => void vi.restoreAllMocks());

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function settled<T>(work: Promise<T>, ms = 120_000): Promise<T> {
  void work.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(ms);
  return work;
}

/** What these calls of one invocation return. */
const invoked = <T>(calls: () => Promise<T>[]): Promise<T[]> =>
  settled(new CallSlots().run('user', () => Promise.all(calls())));

describe('the calls of one invocation', () => {
  it('an invocation runs at most five calls at once, and two to each host', async () => {
    const { read, most } = upstreams(() => 50);
    const results = await invoked(() => times(60, (index) => read(`host-${index % 4}`)));
    expect(new Set(results)).toEqual(new Set(['ok']));
    expect(most).toEqual({ all: 5, ofHost: 2 });
  });

  it('an invocation does not share call slots with another invocation', async () => {
    const { read, most } = upstreams(() => 50);
    const invocation = () => new CallSlots().run('user', () => Promise.all(times(4, () => read('host'))));
    await settled(Promise.all([invocation(), invocation()]));
    expect(most.ofHost).toBe(4);
  });

  it('calls to healthy hosts overtake calls that wait for a hanging host', async () => {
    const { read } = upstreams((host) => (host === 'hung' ? 1e9 : 300));
    const results = await invoked(() => [
      ...times(12, () => read('hung')),
      ...times(30, (index) => read(`healthy-${index % 3}`)),
    ]);
    expect(results.slice(12)).toEqual(times(30, () => 'ok'));
    // The third is admitted after the first timeout, a moment before the second.
    expect(results.slice(0, 12)).toEqual([...times(3, () => 'timeout'), ...times(9, () => 'circuit_open')]);
  });

  it('the time limit of a call starts when the call is admitted', async () => {
    const { read, admission } = upstreams(() => 5_000);
    const results = await invoked(() => times(4, () => read('slow')));
    // The last two wait for 5 s and take 5 s more.
    expect(results).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(admission.durationOf('slow')).toBe(5_000);
  });

  it('refuses a call as busy if it is not admitted within 15 seconds', async () => {
    const { read, asked } = upstreams(() => 7_900);
    const results = await invoked(() => times(6, () => read('slow')));
    expect(results).toEqual(['ok', 'ok', 'ok', 'ok', 'busy', 'busy']);
    expect(asked).toHaveLength(4);
  });

  it('admits calls for our own work before reads for callers, and probes last', async () => {
    const { read, asked } = upstreams(() => 50);
    const at = (priority: Priority, path: string) => atPriority(priority, () => read('host', path));
    const first = () => times(2, () => read('host', 'first'));
    await invoked(() => [...first(), at('probe', 'probe'), read('host', 'user'), at('own', 'own')]);
    expect(asked).toEqual(['first', 'first', 'own', 'user', 'probe']);
  });

  it('frees the slots of calls that the runtime has cancelled', async () => {
    const slots = new CallSlots();
    // A cancelled request never ends its calls.
    await Promise.all([slots.enter('host', 'own'), slots.enter('host', 'own')]);
    expect(await settled(slots.enter('host', 'own'))).toEqual({ refused: 'busy' });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await slots.enter('host', 'own')).toHaveProperty('leave');
  });
});

describe('the budget of callers', () => {
  const SECOND = 1_000;
  const rate = 40;
  const terms = () => nodeCalls(rate);
  const node = () => upstreams(() => 5, terms);

  it("callers share a quarter of the rate, of which polls and searches get a third; the service's own calls get the rest", async () => {
    const { read, asked } = node();
    const slots = new CallSlots();
    const calls = [
      ...times(200, (at) => slots.run('user', () => read('node', 'user'), `10.${at}.0.1`)),
      ...times(100, () => slots.run('user', () => read('node', 'shared'))),
    ];
    await vi.advanceTimersByTimeAsync(10 * SECOND - 1);
    const callsOf = (path: string) => asked.filter((each) => each === path).length;
    expect([callsOf('user'), callsOf('shared')]).toEqual([10 * 7, 10 * 3]);
    const own = times(30, () => slots.run('own', () => read('node', 'own')));
    await vi.advanceTimersByTimeAsync(200);
    expect(callsOf('own')).toBe(30);
    expect(new Set(await settled(Promise.all(own)))).toEqual(new Set(['ok']));
    expect(await settled(Promise.all(calls))).toContain('upstream_calls');
  });

  it('reads of the API use a quarter of the rate, and leave each new client the two checks of a sale', async () => {
    const { read, asked } = upstreams(() => 5, upstreamCalls(rate));
    const callOf = (name: string, path: string, client: string) => forCaller(client, () => read(name, path));
    const sales: string[] = [];
    for (let second = 0; second < 30; second++) {
      for (let network = 0; network < 100; network++) {
        void callOf('solana-read-1', 'read', `10.${network}.0.1`);
        void callOf('solana-sale-1', 'flood', `10.${network}.0.1`);
      }
      for (const check of [1, 2])
        sales.push(await settled(callOf('solana-sale-1', `check ${check}`, `192.${second}.0.1`), 10));
      await vi.advanceTimersByTimeAsync(SECOND - 20);
    }
    const reads = asked.filter((path) => path === 'read').length;
    expect(reads).toBeGreaterThan(200);
    expect(reads).toBeLessThanOrEqual(30 * (rate / 4));
    expect(new Set(sales)).toEqual(new Set(['ok']));
  });

  it('each client gets two calls a second while clients of other networks flood', async () => {
    const { read } = node();
    const slots = new CallSlots();
    const flood = times(400, () => slots.run('user', () => read('node', 'flood'), '203.0.113.7'));
    const other = times(2, () => slots.run('user', () => read('node', 'other'), '198.51.100.9'));
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all(other)).toEqual(['ok', 'ok']);
    await settled(Promise.all(flood));
  });

  it('a waiting call that gets priority overtakes earlier calls and uses a unit of the normal rate', async () => {
    const { read, asked } = node();
    const slots = new CallSlots();
    const first = new Set<string>();
    const call = (path: string) => {
      const isFirst = () => first.has(path);
      return slots.run('own', () => forCaller(`10.${path}.0.1`, () => read('node', path), isFirst));
    };
    const calls = times(60, (at) => call(`${at}`));
    await vi.advanceTimersByTimeAsync(5 * SECOND - 1);
    first.add('59');
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(asked.slice(0, 40)).toEqual([...times(35, String), '59', ...times(4, (at) => `${35 + at}`)]);
    await settled(Promise.all(calls));
  });

  it('a client that joins a waiting call pays for the call once the first client has used its share', async () => {
    const { read, asked } = node();
    const slots = new CallSlots();
    const payers = new Set(['203.0.113.7']);
    const calls = times(3, (at) => slots.run('own', () => forCaller(payers, () => read('node', `${at}`))));
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toEqual(['0', '1']);
    payers.add('198.51.100.9');
    const late = slots.run('own', () => forCaller(payers, () => read('node', 'late')));
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toEqual(['0', '1', 'late', '2']);
    expect(await settled(Promise.all([...calls, late]))).toEqual(times(4, () => 'ok'));
  });

  it('refuses a call at once if its unit would be free only after the longest wait', async () => {
    const oneAMinute = () => ({ total: 1, windowMs: 60 * SECOND });
    const { read } = upstreams(() => 5, oneAMinute);
    const slots = new CallSlots();
    const called = (priority: Priority, host = 'host') =>
      settled(
        slots.run(priority, () => read(host)),
        10,
      );
    expect(await called('user')).toBe('ok');
    expect(await slots.run('user', () => read('host'))).toBe('upstream_calls');
    // Without slots too.
    expect(await forCaller(null, () => read('host'))).toBe('upstream_calls');
    expect(await called('own')).toBe('ok');
    expect(await called('user', 'another')).toBe('ok');
  });

  it('code can check whether it runs for a single caller', () => {
    const seen = (priority: Priority) => new CallSlots().run(priority, isForCaller);
    expect([isForCaller(), seen('own'), seen('user'), seen('probe')]).toEqual([false, false, false, false]);
    const own = () => atPriority('own', isForCaller);
    expect([forCaller('any', isForCaller), forCaller('any', own)]).toEqual([true, false]);
  });
});

/** Calls to one host, which answers in 50 ms unless it hangs. */
function createVerbs() {
  let respondsAfterMs = 50;
  const { read, asked, admission } = upstreams(() => respondsAfterMs);
  return {
    hang: () => {
      respondsAfterMs = 1e9;
    },
    answer: () => {
      respondsAfterMs = 50;
    },
    /** Simultaneous calls, which end within the time limit. */
    read: async (count = '1') =>
      (await settled(Promise.all(times(Number(count), () => read('host'))), TIMEOUT_MS)).join(' '),
    /** A call, at once: the reason of its refusal, or `waits`. */
    async 'read-now'() {
      const call = read('host');
      await vi.advanceTimersByTimeAsync(0);
      return Promise.race([call, Promise.resolve('waits')]);
    },
    wait: (length: string) => vi.advanceTimersByTimeAsync(msOf(length)),
    'set-clock': (length: string) => vi.setSystemTime(Date.now() + msOf(length)),
    open: () => admission.openCircuits().join() || 'none',
    asked: () => asked.length,
  };
}

playScenes(`
  the circuit opens after two timeouts in a row, and lets one trial call through after 30 seconds
    | hang; read = timeout; open = none; read = timeout; open = host; read-now = circuit_open; wait 30s; read 2 = timeout circuit_open
  the next trial call is let through 30 seconds after a trial that failed, and closes the circuit if it succeeds
    | hang; read; read; wait 30s; read = timeout; wait 29s; read-now = circuit_open; wait 1s; answer; read = ok; open = none; read = ok; asked = 5
  the circuit stays closed if a call succeeds between two timeouts
    | hang; read = timeout; answer; read = ok; hang; read = timeout; open = none
  the circuit does not stay open if the clock is set back
    | hang; read; read; open = host; set-clock -1d; read = timeout
`)(createVerbs);
