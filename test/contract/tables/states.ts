import { expect } from 'vitest';
import { TRANSFER_FEE } from '../../../src/chain/solana/transaction.ts';
import { createSwapCaller } from '../../e2e/swap-caller.ts';
import { fields, row, type Table } from '../table.ts';

const CREATE_SWAP = 'POST /api/swap/create';
const STATUS = 'GET /api/swap/status/{id}';
const SETTLEMENT = 'waiting | settlement outcome, seen through GET /api/swap/status/{id}';

export const swapStates: Table = {
  title: 'States and transitions > Reserve swap',
  key: [0, 1, 3],
  rows: [
    row(`(none) | ${CREATE_SWAP} | waiting`, (contract) => {
      const { initiated, id, status } = contract.answer(CREATE_SWAP);
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

const CREATE_INVOICE = 'POST /api/invoices';
const RECORD = 'GET /api/invoices/{id}';
const CONFIRM = 'POST /api/invoices/confirm';

export const tokenInvoiceStates: Table = {
  title: 'States and transitions > Token-creation invoice',
  key: [0, 3],
  rows: [
    row('(none) | pending', (contract) => {
      const { status, treasury_address } = contract.answer(CREATE_INVOICE);
      expect([status, treasury_address]).toEqual(['pending', contract.world.treasury]);
    }),
    row('pending | completed', (contract) => {
      expect(contract.answer(RECORD).status).toBe('completed');
      fields(RECORD, '', 'payment_tx_signature: string, paid_at: string, completed_at: string')(contract);
      fields(CONFIRM, '', 'token_id: integer, mint_address: string')(contract);
      const { mint_address } = contract.answer(CONFIRM);
      expect(contract.answer('GET /api/tokens/{id}').mint_address).toBe(mint_address);
    }),
  ],
};
