import { expect, test } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import type { WorldOptions } from '../world/world.ts';
import { createSwapCaller } from './swap-caller.ts';

const SOL = 1_000_000_000n;
const QUICK: WorldOptions = { cron: false, blockMs: 300, settleDelayMs: 300 };

const world = useWorld(QUICK);
const caller = lazy(() => createSwapCaller(world));

test('a swap moves exactly amount and network fee on Solana and exactly btcSats on Bitcoin', async () => {
  const [lamports, sats] = [await caller.lamports(), caller.sats()];
  const { status, body, headers } = await caller.create(0.5);
  expect(status).toBe(200);
  expect(headers.has('idempotency-replayed')).toBe(false);
  expect(body).toEqual({
    initiated: true,
    id: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
    solanaSignature: body.id,
    amountSol: 0.5,
    amountLamports: '500000000',
    expectedBtcSats: Number(body.expectedSatoshis),
    expectedSatoshis: expect.stringMatching(/^[1-9]\d*$/),
    minimumSatoshis: expect.stringMatching(/^[1-9]\d*$/),
    status: 'waiting',
    statusUrl: `${world.url}/api/swap/status/${body.id}`,
    message: expect.stringMatching(/\S/),
    route: 'near-intents',
  });

  const id = String(body.id);
  const end = await caller.settled(id);
  const paid = caller.bitcoinPayment(String(end.txId));
  const [payment, ...others] = caller.payments();
  expect(others).toEqual([]);
  expect(payment).toMatchObject({ signature: id, lamports: SOL / 2n, fee: TRANSFER_FEE });
  expect(lamports - (await caller.lamports())).toBe(SOL / 2n + TRANSFER_FEE);
  expect(paid).toEqual({ sats: BigInt(String(end.btcSatoshis)), confirmed: true });
  expect(caller.sats() - sats).toBe(paid?.sats);
  expect(end).toEqual({
    id,
    status: 'finished',
    detail: 'done',
    reason: null,
    amountSol: 0.5,
    amountLamports: '500000000',
    btcSats: Number(paid?.sats),
    btcSatoshis: String(paid?.sats),
    expectedSatoshis: body.expectedSatoshis,
    txId: end.txId,
    nextPollSeconds: null,
  });

  expect(await caller.history()).toEqual([
    {
      signature: id,
      txId: end.txId,
      solAmount: 0.5,
      amountLamports: '500000000',
      btcSats: Number(paid?.sats),
      btcSatoshis: String(paid?.sats),
      blockTime: payment?.blockTime,
      status: 'finished',
      detail: 'done',
    },
  ]);
  const landed = world.solana.ledger.transaction(id);
  expect(await caller.rows()).toMatchObject([
    {
      status: 'finished',
      signature: id,
      amount_lamports: '500000000',
      expected_sats: body.expectedSatoshis,
      btc_sats: String(paid?.sats),
      btc_txid: end.txId,
      landed_slot: landed?.slot,
      block_time: payment?.blockTime,
    },
  ]);
});
