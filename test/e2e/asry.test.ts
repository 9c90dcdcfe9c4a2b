import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { createAsryStage, createExpectedCurve, DOLLAR } from './asry-stage.ts';

let world: World;
let stage: ReturnType<typeof createAsryStage>;
const curve = createExpectedCurve();

beforeAll(async () => {
  world = await startWorld({ blockMs: 0 });
  stage = createAsryStage(world);
});
afterEach(() => world.faults.clear());
afterAll(() => world?.stop());

describe('a deposit is rewarded to the unit', () => {
  it.each([
    ['a plain transfer', 'USDC'],
    ['a checked transfer', 'USDT'],
    ['a transfer that a program makes', 'USDC'],
  ] as const)('by %s of %s, in time', async (how, asset) => {
    const user = await stage.user();
    const coin = asset === 'USDC' ? 'usdc' : 'usdt';
    const credited = 100n * DOLLAR + 1n;
    const move =
      how === 'a plain transfer'
        ? stage.pay(user, world.treasury, credited, coin)
        : how === 'a checked transfer'
          ? stage.payChecked(user, world.treasury, credited, coin)
          : stage.inner(
              await stage.forwarder(),
              stage.account(user.address, coin),
              world.treasury,
              user,
              user.address,
              credited,
              coin,
            );
    const signature = await stage.land(user.signer, move);
    await stage.finalized(signature);
    const from = Date.now();
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
        slot: landed?.slot,
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
    console.log(`${how}: ASRY after ${Date.now() - from} ms`);
    const record = await stage.paid(signature);
    expect(record.payouts).toMatchObject([
      { part: 1, status: 'sent', signature: answer.body.reward.signature },
    ]);
  });
});
