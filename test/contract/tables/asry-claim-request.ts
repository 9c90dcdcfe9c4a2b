import { expect } from 'vitest';
import { type Answer, type Body, until } from '../../e2e/swap-caller.ts';
import { expectError, type Row, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const CALL = 'POST /api/asry/claim-from-deposit';
/** 40 USDC: the amount of the tables' deposit. */
const DEPOSIT_ATOMS = 40_000_000n;

/** An unclaimed deposit that is final on the chain. */
const openDeposit = (contract: Contract): Promise<string> =>
  contract.once('deposit', async () => {
    const { world } = contract;
    const [from] = world.users;
    if (!from) throw new Error('the world has no user');
    const signature = await world.control.transfer({
      from,
      to: world.treasury,
      asset: 'usdc',
      amount: DEPOSIT_ATOMS,
    });
    await until('the deposit is final', async () => {
      const body = { asset: 'USDC', depositTxSignature: signature, skipReward: true };
      return (await contract.ask(CALL, { body })).status === 200 || undefined;
    });
    return signature;
  });

/** Validates the open deposit with changes; nothing is consumed. */
async function claim(contract: Contract, change: Body): Promise<Answer> {
  const depositTxSignature = await openDeposit(contract);
  return contract.ask(CALL, { body: { asset: 'USDC', depositTxSignature, skipReward: true, ...change } });
}

const required = (name: string, bad: readonly unknown[]): Row =>
  row(name, async (contract) => {
    for (const value of [undefined, null, 1, ...bad])
      expectError(await claim(contract, { [name]: value }), 400, 'INVALID_INPUT');
    expect((await claim(contract, {})).status).toBe(200);
  });

export const asryClaimRequest: Table = {
  title: 'Resources and their fields > ASRY claim (1)',
  key: [0],
  rows: [
    required('asset', ['BTC', 'usdc']),
    required('depositTxSignature', ['', 'not a signature']),
    row('amount', async (contract) => {
      expect((await claim(contract, { amount: '40' })).status).toBe(200);
      expect((await claim(contract, { amount: '40.000000' })).status).toBe(200);
      expectError(await claim(contract, { amount: '40.000001' }), 400, 'DEPOSIT_AMOUNT_MISMATCH');
      expectError(await claim(contract, { amount: 'forty' }), 400, 'INVALID_INPUT');
    }),
    row('amountAtomic', async (contract) => {
      expect((await claim(contract, { amountAtomic: '40000000' })).status).toBe(200);
      expectError(await claim(contract, { amountAtomic: '40000001' }), 400, 'DEPOSIT_AMOUNT_MISMATCH');
      expectError(await claim(contract, { amountAtomic: '1.5' }), 400, 'INVALID_INPUT');
    }),
    row('rewardUsd', async (contract) => {
      expectError(await claim(contract, { rewardUsd: 'ten' }), 400, 'INVALID_INPUT');
      // No ASRY price is configured in this world.
      expectError(await claim(contract, { rewardUsd: 10, skipReward: false }), 400, 'REWARD_USD_UNAVAILABLE');
    }),
    row('skipReward', async (contract) => {
      expectError(await claim(contract, { skipReward: 'yes' }), 400, 'INVALID_INPUT');
      const { status, body } = await claim(contract, { skipReward: true });
      expect([status, (body.reward as Body).status, (body.reward as Body).signature]).toEqual([
        200,
        'skipped',
        null,
      ]);
    }),
  ],
};
