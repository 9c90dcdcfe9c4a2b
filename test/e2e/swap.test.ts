import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { startWorld, type World, type WorldOptions } from '../world/world.ts';
import { type Answer, createSwapCaller, type SwapCaller } from './swap-caller.ts';

const SOL = 1_000_000_000n;
/** The amounts of these tests. The smallest swap whose cost passes at the simulated bridge is 0.29 SOL. */
const AMOUNT = 0.3;
const AMOUNT_LAMPORTS = 300_000_000n;
const QUICK: WorldOptions = { cron: false, blockMs: 300, settleDelayMs: 300 };

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const codes = (answers: readonly Answer[]): unknown[] =>
  answers.map(({ status, body }) => body.error_code ?? status);

describe('a swap', () => {
  let world: World;
  let caller: SwapCaller;
  beforeAll(async () => {
    world = await startWorld(QUICK);
    caller = createSwapCaller(world);
  });
  afterEach(() => world.faults.clear());
  afterAll(() => world.stop());

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

  test('20 simultaneous creates with one key make one transaction and get 20 equal responses', async () => {
    const key = randomUUID();
    const before = caller.payments().length;
    const answers = await Promise.all(times(20, () => caller.create(AMOUNT, { key })));
    expect(new Set(codes(answers))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
    expect(replayed).toHaveLength(19);
    const [first] = answers;
    await caller.settled(String(first?.body.id));
    expect(caller.payments().slice(before)).toMatchObject([
      { signature: first?.body.id, lamports: AMOUNT_LAMPORTS },
    ]);

    const later = await caller.create(AMOUNT, { key });
    expect(later.body).toEqual(first?.body);
    expect(later.headers.get('idempotency-replayed')).toBe('true');
    const other = await caller.create(0.31, { key });
    expect([other.status, other.body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(other.body).toMatchObject({ action: 'retry_with_new_key', retryable: false });
    expect(caller.payments()).toHaveLength(before + 1);
  });

  test('a repeated key returns the earlier refusal, marked as replayed, even if its reason is gone', async () => {
    const key = randomUUID();
    world.faults.set('oneclick', { kind: 'wrongSignature' });
    const first = await caller.create(AMOUNT, { key, ip: '203.0.113.2' });
    world.faults.clear();
    expect([first.status, first.body.error_code]).toEqual([502, 'QUOTE_REFUSED']);
    expect(first.body.details).toEqual({ reason: 'quote_signature' });
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    const again = await caller.create(AMOUNT, { key, ip: '203.0.113.2' });
    expect(again.status).toBe(502);
    expect({ ...again.body, request_id: first.body.request_id }).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('a dry run uses no key, no deposit address and no lamport', async () => {
    const [rows, payments] = [await caller.rows(), caller.payments()];
    const key = randomUUID();
    world.resetStats();
    const { status, body } = await caller.create(AMOUNT, { key, dryRun: true, ip: '203.0.113.1' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      initiated: false,
      dry_run: true,
      id: null,
      solanaSignature: null,
      statusUrl: null,
      status: 'waiting',
      amountSol: AMOUNT,
      expectedBtcSats: expect.any(Number),
    });
    expect(world.stats().oneclick?.byLabel).toEqual({ 'POST /v0/quote': 1 });
    expect(world.stats().rpc1?.byLabel.sendTransaction).toBeUndefined();
    expect(await caller.rows()).toEqual(rows);
    expect(caller.payments()).toEqual(payments);
    const refused = await caller.create(2.5, { dryRun: true, ip: '203.0.113.1' });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'AMOUNT_TOO_LARGE']);
    // The key is still free for another amount.
    const real = await caller.create(0.31, { key, ip: '203.0.113.1' });
    expect(real.status).toBe(200);
    expect(real.headers.has('idempotency-replayed')).toBe(false);
    await caller.settled(String(real.body.id));
  });

  test('returns NOT_FOUND for a swap that does not exist', async () => {
    for (const id of ['nope', '1'.repeat(64), `${'2'.repeat(87)}A`, '%00', `${'5'.repeat(88)}`]) {
      const { status, body } = await caller.status(id);
      expect([id, status, body.error_code, body.action]).toEqual([id, 404, 'NOT_FOUND', 'check_id']);
    }
  });

  test("1,000 reads of a swap's status make no upstream call", async () => {
    const [row] = await caller.rows();
    world.resetStats();
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(times(50, () => caller.status(String(row?.signature))));
      expect(new Set(codes(answers))).toEqual(new Set([200]));
    }
    expect(world.stats()).toEqual({});
  });
});
