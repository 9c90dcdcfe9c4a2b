import { expect } from 'vitest';
import { TRANSFER_FEE } from '../../../src/chain/solana/transaction.ts';
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
    row(`${SETTLEMENT} | finished`, async (contract) => {
      const { world } = contract;
      const { id, status, txId, btcSats, btcSatoshis } = contract.answer(STATUS);
      expect([status, Number(btcSatoshis)]).toEqual(['finished', btcSats]);
      const caller = createSwapCaller(world);
      const confirmed = { sats: BigInt(String(btcSatoshis)), confirmed: true };
      expect(caller.bitcoinPayment(String(txId))).toEqual(confirmed);
      const payments = caller.payments().filter(({ signature }) => signature === id);
      expect(payments).toMatchObject([{ lamports: 500_000_000n, fee: TRANSFER_FEE }]);
      const { blockTime } = payments[0] ?? {};
      const [shown] = (await caller.history()).filter(({ signature }) => signature === id);
      const amounts = { solAmount: 0.5, amountLamports: '500000000', btcSats, btcSatoshis };
      expect(shown).toEqual({ signature: id, txId, ...amounts, blockTime, status, detail: 'done' });
      const [stored] = (await caller.rows()).filter(({ signature }) => signature === id);
      expect(stored).toMatchObject({
        ...{ status, amount_lamports: '500000000', btc_sats: btcSatoshis, btc_txid: txId },
        ...{ landed_slot: world.solana.ledger.transaction(String(id))?.slot, block_time: blockTime },
      });
    }),
    row(`${SETTLEMENT} | failed`, async ({ world }) => {
      const caller = createSwapCaller(world);
      world.faults.set('oneclick', { kind: 'settle', mode: 'failed', times: 1 });
      const { body } = await caller.create(0.3, { ip: '10.2.0.1' });
      expect(await caller.settled(String(body.id))).toMatchObject({ status: 'failed', btcSats: null });
    }),
  ],
};
