/** @module-tag deep */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { createAsryStage, createExpectedCurve, DOLLAR } from './asry-stage.ts';
import { until } from './swap-caller.ts';

let world: World;
let stage: ReturnType<typeof createAsryStage>;
const curve = createExpectedCurve();

beforeAll(async () => {
  world = await startWorld({ blockMs: 0, vars: { RENT_BUDGET_SOL_DAY: '0' } });
  stage = createAsryStage(world);
});
afterAll(() => world?.stop());

it('a reward without a rent budget is owed until its sender has an account, and is sent when the call is repeated', async () => {
  const user = await stage.user();
  const signature = await stage.deposit(user, 25n);
  const { reward } = curve.next(25n * DOLLAR);
  const owed = await stage.claim(signature);
  expect([owed.status, owed.body.reward]).toMatchObject([
    200,
    {
      status: 'owed',
      signature: null,
      asryAtomic: reward.toString(),
      reason: 'rent_budget_spent',
      how_to_get: expect.stringContaining('Open'),
    },
  ]);
  const still = await stage.claim(signature);
  expect([still.status, still.body.error_code, still.body.details?.claim?.payouts]).toMatchObject([
    409,
    'ALREADY_CLAIMED',
    [{ status: 'owed' }],
  ]);
  expect((await stage.record(signature)).body.payouts).toMatchObject([{ status: 'owed' }]);
  await world.control.faucet(user.address, 'asry', 1n);
  // A node may not show the new account yet.
  const sent = await until('the reward is on its way', async () => {
    const { body } = await stage.claim(signature);
    const [payout] = body.details?.claim?.payouts ?? [];
    return payout?.signature ? payout : undefined;
  });
  expect(sent.status).toBe('sent');
  await stage.paid(signature);
  expect(await stage.asryOf(user.address)).toBe(reward + 1n);
  expect(stage.payoutsOf(signature)).toHaveLength(1);
});

it('without a price a reward cannot be requested in dollars', async () => {
  const user = await stage.user();
  await world.control.faucet(user.address, 'asry', 1n);
  const signature = await stage.deposit(user, 25n);
  const priced = await stage.claim(signature, { rewardUsd: 1 });
  expect([priced.status, priced.body.error_code]).toEqual([400, 'REWARD_USD_UNAVAILABLE']);
  const { reward } = curve.next(25n * DOLLAR);
  expect((await stage.claim(signature)).body.reward.asryAtomic).toBe(reward.toString());
});
