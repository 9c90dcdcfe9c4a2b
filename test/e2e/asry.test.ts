/** @module-tag deep */
import { expect, it } from 'vitest';
import { lazy, useWorld } from '../world/use-world.ts';
import { type Answer, createAsryStage } from './asry-stage.ts';
import { ask, until } from './swap-caller.ts';

const world = useWorld({ blockMs: 0 });
const stage = lazy(() => createAsryStage(world));

it('500 simultaneous claims of one deposit result in one payout despite two restarts', async () => {
  const user = await stage.user();
  const signature = await stage.deposit(user, 11n);
  const claim = (call: number): Promise<Answer | undefined> =>
    stage
      .post({ asset: 'USDC', depositTxSignature: signature }, `10.1.${call >> 8}.${call & 255}`)
      .catch(() => undefined);
  const calls = Array.from({ length: 500 }, (_, call) => claim(call));
  await Promise.any(calls.map(async (call) => ((await call) ? true : Promise.reject(new Error('lost')))));
  await world.worker.kill();
  await world.worker.start();
  const answers = await Promise.all(calls);
  const results = answers.map((answer) =>
    answer ? `${answer.status} ${answer.body.error_code ?? ''}` : 'lost',
  );
  expect(results.filter((each) => each === '200 ').length).toBeLessThanOrEqual(1);
  // 500 UPSTREAM_FAILED is a node that a busy machine let wait too long.
  expect(results.filter((each) => !/^(200|409|500 UPSTREAM_FAILED|502|503|lost)/.test(each))).toEqual([]);
  await world.worker.kill();
  await world.worker.start();
  // The cron continues unfinished work; without it the alarm does, half a minute later.
  await world.control.cron();
  // A repeated call gets the only claim, or makes it.
  const again = await until('a last word', async () => {
    const answer = await claim(501);
    return answer?.retryAfter === null && answer.status < 500 ? answer : undefined;
  });
  expect([undefined, 'ALREADY_CLAIMED']).toContain(again.body.error_code);
  const record = await stage.paid(signature);
  const reward = await stage.asryOf(user.address);
  expect(reward).toBeGreaterThan(0n);
  expect(record.payouts.map(({ asryAtomic }) => asryAtomic)).toEqual([reward.toString()]);
  expect(stage.payoutsOf(signature)).toHaveLength(1);
  expect(await stage.asryOf(world.reserve.solana)).toBe(10n ** 18n - reward);
  expect((await ask(world, '/api/asry/epoch')).body).toMatchObject({
    current: { claims: 1, paidAtomic: reward.toString() },
  });
});
