/** @module-tag deep */
import { afterAll, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createSwapCaller } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const MINUTE_MS = 60_000;
/** A run of the cron may read its alarms before or after its own questions, and circuits close one after another. */
const RECOVERY_MINUTES = 10;

type Status = {
  readonly upstreams: readonly { readonly name: string; readonly ok: boolean; readonly circuit: string }[];
  readonly custody: { readonly nodes: { readonly quorumMissingSince: string | null } } | null;
  readonly alarms: readonly string[] | null;
};

const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.stop();
});

async function startNodes(): Promise<World> {
  const world = await startWorld({ nodes: 3, cron: false, slotMs: 20, blockMs: 500, settleDelayMs: 200 });
  worlds.push(world);
  await world.control.cron();
  return world;
}

/**
 * The status after each of some cron runs a minute apart by the Worker's clock. The custodian is evicted
 * before each run.
 */
async function* minutes(world: World, from: number, count: number): AsyncGenerator<Status> {
  for (let minute = 1; minute <= count; minute += 1) {
    await world.worker.evict();
    await world.control.cron(undefined, from + minute * MINUTE_MS);
    yield (await (await world.fetch('/api/status')).json()) as Status;
  }
}

const red = ({ upstreams }: Status): string[] => upstreams.flatMap(({ name, ok }) => (ok ? [] : [name]));

// The tests wait for timeouts most of the time, so each has a world of its own at the same time.
it.concurrent('completes a swap, a paid request and a claim while one of three nodes hangs for ten minutes', async () => {
  const world = await startNodes();
  world.faults.set('rpc1', { kind: 'hang' });
  const swaps = createSwapCaller(world);
  const tokens = createTokenCaller(world);
  const stage = createAsryStage(world);
  const user = tokens.user();

  const { status, body: swap } = await swaps.create(0.5);
  expect([status, swap.status]).toEqual([200, 'waiting']);
  expect(await swaps.settled(String(swap.id))).toMatchObject({ status: 'finished' });

  const invoice = await tokens.invoice();
  expect((await tokens.confirm(invoice, await tokens.pay(invoice))).status).toBe(200);

  const deposit = await stage.deposit(user, 5n);
  expect((await tokens.claim(deposit)).status).toBe(200);
  expect((await stage.paid(deposit)).payouts).toMatchObject([{ part: 1 }]);

  let last: Status | undefined;
  for await (const shown of minutes(world, Date.now(), 10)) {
    expect(red(shown)).toEqual(['solana-rpc-1']);
    expect(shown.custody?.nodes.quorumMissingSince).toBeNull();
    expect(shown.alarms).not.toContain('quorum_missing');
    last = shown;
  }
  expect(last?.upstreams.filter(({ circuit }) => circuit === 'open').map(({ name }) => name)).toEqual([
    'solana-rpc-1',
  ]);
});

it.concurrent('raises the alarm quorum_missing 10 to 15 minutes after two of three nodes began to hang', async () => {
  const world = await startNodes();
  const began = Date.now();
  for (const node of ['rpc1', 'rpc2'] as const) world.faults.set(node, { kind: 'hang' });
  const raised: boolean[] = [];
  for await (const { alarms } of minutes(world, began, 15)) {
    raised.push(alarms?.includes('quorum_missing') === true);
    if (raised.at(-1)) break;
  }
  expect(raised.at(-1)).toBe(true);
  expect(raised.length).toBeGreaterThan(10);
  world.faults.clear();
  // The alarm ends when its question has a quorum again, far sooner than the question would be forgotten.
  let end: unknown;
  for await (const shown of minutes(world, began + raised.length * MINUTE_MS, RECOVERY_MINUTES)) {
    end = [red(shown), shown.alarms];
    if (red(shown).length === 0 && shown.alarms?.length === 0) break;
  }
  expect(end).toEqual([[], []]);
});
