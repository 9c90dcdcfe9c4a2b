/** @module-tag deep */
import { expect, it } from 'vitest';
import { useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createSwapCaller } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const MINUTE_MS = 60_000;

type Status = {
  readonly upstreams: readonly { readonly name: string; readonly ok: boolean; readonly circuit: string }[];
  readonly custody: { readonly nodes: { readonly quorumMissingSince: string | null } } | null;
  readonly alarms: readonly string[] | null;
};

const world = useWorld(
  { nodes: 3, cron: false, slotMs: 20, blockMs: 500, settleDelayMs: 200 },
  async (world) => {
    await world.control.cron();
  },
);

/**
 * The status after each of some cron runs a minute apart by the Worker's clock. The custodian is evicted
 * before each run.
 */
async function* minutes(from: number, count: number): AsyncGenerator<Status> {
  for (let minute = 1; minute <= count; minute += 1) {
    await world.worker.evict();
    await world.control.cron(undefined, from + minute * MINUTE_MS);
    yield (await (await world.fetch('/api/status')).json()) as Status;
  }
}

const red = ({ upstreams }: Status): string[] => upstreams.flatMap(({ name, ok }) => (ok ? [] : [name]));

it('completes a swap, a paid request and a claim while one of three nodes hangs for four minutes', async () => {
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
  for await (const shown of minutes(Date.now(), 4)) {
    expect(red(shown)).toEqual(['solana-rpc-1']);
    expect(shown.custody?.nodes.quorumMissingSince).toBeNull();
    expect(shown.alarms).not.toContain('quorum_missing');
    last = shown;
  }
  expect(last?.upstreams.filter(({ circuit }) => circuit === 'open').map(({ name }) => name)).toEqual([
    'solana-rpc-1',
  ]);
});
