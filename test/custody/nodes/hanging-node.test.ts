import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { Admission, CallSlots } from '../../../src/providers/admission.ts';
import type { Fetch } from '../../../src/providers/http.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { Connections, connect, onConnections } from '../../kit/platform/connections.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { nodeBody, type TestChain } from '../../kit/solana-node.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  // A test cannot move the platform's own timer.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ms);
    return controller.signal;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const LATENCY_MS = 100;

const NODE: TestChain = {
  newest: 900,
  blockHeight: () => 818,
  lamports: () => 5,
  methods: { sendTransaction: () => 'signature' },
};

/** The view of three nodes on the platform's six connections. */
function setUp(hanging: readonly string[]) {
  async function respond(url: string, init?: RequestInit): Promise<Response> {
    await new Promise<void>((resolve, reject) => {
      if (!hanging.includes(new URL(url).host)) setTimeout(resolve, LATENCY_MS);
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
    return Response.json(await nodeBody(init?.body, NODE));
  }
  const call = (url: string, init?: RequestInit) => connect(() => respond(url, init), init?.signal);
  const fetch: Fetch = Object.assign(call, { admission: new Admission() });
  const urls = ['https://a.test', 'https://b.test', 'https://c.test'];
  const { nodes } = createSolanaRpc({ urls, fetch });
  const alarms: unknown[] = [];
  const view = new SolanaView({
    nodes,
    reserveAddress: 'reserve',
    now: Date.now,
    within,
    log: ({ event }) => alarms.push(event),
  });
  const connections = new Connections();
  const slots = new CallSlots();
  const onPlatform = <T>(work: () => T): T => onConnections(connections, () => slots.run('own', work));
  return { view, nodes, alarms, onPlatform };
}

/** The result, and how long it took in milliseconds. */
async function timed<T>(work: () => Promise<T>): Promise<readonly [value: T, ms: number]> {
  const began = Date.now();
  let ms = Number.NaN;
  const value = work().finally(() => {
    ms = Date.now() - began;
  });
  value.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  return [await value, ms];
}

it.each<[string, number, (view: SolanaView) => Promise<unknown>]>([
  ['the blockhash', 2_500, (view) => view.latestBlockhash()],
  ['a send', 1_200, (view) => view.send('wire')],
  [
    'the state of an attempt',
    1_500,
    (view) => view.views({ signature: 'signature', wire: 'wire', slot: 1n, witnesses: [] }, 'reserve'),
  ],
  [
    'whether a transaction is absent',
    1_000,
    (view) => view.historyOf('reserve').isAbsent({ signature: 'invented', slot: 890n }),
  ],
])('returns a result before the time limit of the node that hangs: %s', async (_what, most, read) => {
  const { view, onPlatform } = setUp(['a.test']);
  const [value, ms] = await timed(() => onPlatform(() => read(view)));
  expect(value).toBeTruthy();
  expect(ms).toBeLessThan(most);
});

it('returns a blockhash with the slot and height of each of the three nodes when all respond in time', async () => {
  const { view, onPlatform } = setUp([]);
  const [{ witnesses }, ms] = await timed(() => onPlatform(() => view.latestBlockhash()));
  expect(witnesses).toHaveLength(3);
  expect(ms).toBeLessThan(1_000);
});

it('reaches a quorum for each of 30 concurrent reads while one of three nodes hangs', async () => {
  const { view, alarms, onPlatform } = setUp(['a.test']);
  for (let minute = 0; minute < 10; minute += 1) {
    const balances = Array.from({ length: 30 }, (_, index) => `account-${index}`);
    const [read] = await timed(() =>
      onPlatform(() => Promise.all(balances.map((each) => view.balanceOf(each)))),
    );
    expect(read).toEqual(balances.map(() => 5n));
  }
  expect(view.agreement().quorumMissingSince).toBeNull();
  expect(alarms).toEqual([]);
});

it('reads have no quorum while two of three nodes hang', async () => {
  const { view, alarms, onPlatform } = setUp(['a.test', 'b.test']);
  for (let minute = 0; minute < 12; minute += 1)
    await timed(() => onPlatform(() => view.balanceOf('account').catch(() => undefined)));
  expect(view.agreement().quorumMissingSince).not.toBeNull();
  expect(alarms).toEqual(['quorum_missing']);
});
