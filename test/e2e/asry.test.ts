import { describe, expect, it } from 'vitest';
import { rewardsAt } from '../../src/custody/asry/epochs.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { type Answer, CURVE, createAsryStage, createExpectedCurve, DOLLAR } from './asry-stage.ts';
import { ask, until } from './swap-caller.ts';

const curve = createExpectedCurve();

const world = useWorld({ blockMs: 0 });
const stage = lazy(() => createAsryStage(world));

type Epochs = {
  current: {
    epoch: number;
    depositsAtomic: string;
    entitledAtomic: string;
    paidAtomic: string;
    claims: number;
  };
};
const currentEpoch = async () => ((await ask(world, '/api/asry/epoch')).body as never as Epochs).current;

describe('a deposit is rewarded to the unit', () => {
  it.each([
    ['a plain transfer', 'USDC'],
    ['a checked transfer', 'USDT'],
  ] as const)('a deposit by %s of %s earns the exact reward, and the ASRY arrives', async (how, asset) => {
    const user = await stage.user();
    const coin = asset === 'USDC' ? 'usdc' : 'usdt';
    const credited = 100n * DOLLAR + 1n;
    const signature =
      how === 'a plain transfer'
        ? await stage.land(user.signer, stage.pay(user, world.treasury, credited, coin))
        : await world.control.transfer({ from: user, to: world.treasury, asset: coin, amount: credited });
    await stage.finalized(signature);
    const answer = await stage.claim(signature, { asset, amount: '100.000001', amountAtomic: '100000001' });
    const { fee, net, reward } = curve.next(credited);
    const landed = world.solana.ledger.transaction(signature);
    expect(answer.body).toEqual({
      asset,
      senderPubkey: user.address,
      feeBps: 5,
      feeAtomic: fee.toString(),
      receive: {
        depositTxSignature: signature,
        slot: String(landed?.slot),
        blockTime: landed?.blockTime,
        creditedAtomic: credited.toString(),
        feeAtomic: fee.toString(),
        netAtomic: net.toString(),
        epoch: 0,
      },
      reward: {
        status: 'sent',
        signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,88}$/),
        asryAtomic: reward.toString(),
        recipient: user.address,
        entitlementAtomic: reward.toString(),
        remainingAtomic: '0',
        mint: world.mints.asry,
        reason: null,
        how_to_get: null,
      },
    });
    expect(answer.status).toBe(200);
    expect(await stage.asryOf(user.address)).toBe(reward);
    const record = await stage.paid(signature);
    expect(record.payouts).toMatchObject([
      { part: 1, status: 'sent', signature: answer.body.reward.signature, asryAtomic: reward.toString() },
    ]);
    const [payout, ...more] = stage.payoutsOf(signature);
    expect([payout?.signature, more]).toEqual([answer.body.reward.signature, []]);
  });

  it('the epoch shows the exact atoms of its deposits and rewards', async () => {
    expect(await currentEpoch()).toMatchObject({
      epoch: 0,
      depositsAtomic: curve.deposits().toString(),
      entitledAtomic: rewardsAt(CURVE, curve.deposits()).toString(),
      paidAtomic: rewardsAt(CURVE, curve.deposits()).toString(),
      claims: 2,
    });
  });

  it('a claim before finality waits for it and pays the exact reward of the deposit', async () => {
    const user = await stage.user();
    const signature = await stage.land(user.signer, stage.pay(user, world.treasury, 10n * DOLLAR));
    const answer = await stage.claim(signature);
    const { reward } = curve.next(10n * DOLLAR);
    expect([answer.status, answer.body.reward.asryAtomic]).toEqual([200, reward.toString()]);
    expect(await stage.asryOf(user.address)).toBe(reward);
  });
});

describe('500 claims of one deposit at once', () => {
  it('500 simultaneous claims of one deposit result in one payout despite two restarts', {
    tags: ['deep'],
  }, async () => {
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
    const { reward } = curve.next(11n * DOLLAR);
    expect(record.payouts.map(({ asryAtomic }) => asryAtomic)).toEqual([reward.toString()]);
    expect(stage.payoutsOf(signature)).toHaveLength(1);
    expect(await stage.asryOf(user.address)).toBe(reward);
  });

  it('the reserve pays exactly the rewards that were earned', async () => {
    const { deposits } = curve;
    const earned = rewardsAt(CURVE, deposits());
    const epoch = await currentEpoch();
    expect([epoch.depositsAtomic, epoch.entitledAtomic]).toEqual([deposits().toString(), earned.toString()]);
    const asry = await stage.asryOf(world.reserve.solana);
    expect(10n ** 18n - asry).toBe(earned);
  });
});
