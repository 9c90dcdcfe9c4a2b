import { expect } from 'vitest';
import { createSwapCaller } from '../../e2e/swap-caller.ts';
import { row, type Table } from '../table.ts';

const CREATE = 'POST /api/swap/create';
const STATUS = 'GET /api/swap/status/{id}';
const SETTLEMENT = 'waiting | settlement outcome, seen through GET /api/swap/status/{id}';

export const swapStates: Table = {
  title: 'States and transitions > Reserve swap',
  key: [0, 1, 3],
  rows: [
    row(`(none) | ${CREATE} | waiting`, (contract) => {
      const { initiated, id, status } = contract.answer(CREATE);
      expect([initiated, status]).toEqual([true, 'waiting']);
      expect(contract.world.solana.ledger.transaction(String(id))?.err).toBeNull();
    }),
    row(`${SETTLEMENT} | finished`, (contract) => {
      const { status, txId, btcSatoshis } = contract.answer(STATUS);
      expect(status).toBe('finished');
      const paid = createSwapCaller(contract.world).bitcoinPayment(String(txId));
      expect(paid).toEqual({ sats: BigInt(String(btcSatoshis)), confirmed: true });
    }),
    row(`${SETTLEMENT} | failed`, async ({ world }) => {
      const caller = createSwapCaller(world);
      world.faults.set('oneclick', { kind: 'settle', mode: 'failed', times: 1 });
      const { body } = await caller.create(0.3, { ip: '10.2.0.1' });
      expect(await caller.settled(String(body.id))).toMatchObject({ status: 'failed', btcSats: null });
    }),
  ],
};
