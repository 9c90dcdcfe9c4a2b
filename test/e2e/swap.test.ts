import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { startWorld, type World, type WorldOptions } from '../world/world.ts';
import { type Answer, type Body, createSwapCaller, read, type SwapCaller } from './swap-caller.ts';

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

  test('20 creates at once with one key are one transaction and 20 equal responses', async () => {
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

  test('a swap that was refused is refused again under its key, marked, although the reason no longer applies', async () => {
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

  test('a dry run takes no key, no deposit address and no lamport', async () => {
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

  test('a swap that does not exist is unknown', async () => {
    for (const id of ['nope', '1'.repeat(64), `${'2'.repeat(87)}A`, '%00', `${'5'.repeat(88)}`]) {
      const { status, body } = await caller.status(id);
      expect([id, status, body.error_code, body.action]).toEqual([id, 404, 'NOT_FOUND', 'check_id']);
    }
  });

  test("1,000 reads of a swap's status reach no upstream", async () => {
    const [row] = await caller.rows();
    world.resetStats();
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(times(50, () => caller.status(String(row?.signature))));
      expect(new Set(codes(answers))).toEqual(new Set([200]));
    }
    expect(world.stats()).toEqual({});
  });

  test('a swap with an invalid key is refused before any call', async () => {
    world.resetStats();
    for (const key of ['short', 'x'.repeat(129), 'has a space in it', 'schön-und-lang-genug']) {
      const response = await world.fetch('/api/swap/create', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': Buffer.from(key).toString('latin1'),
        },
        body: '{"amountSol":0.3}',
      });
      const { status, body } = await read(response);
      expect([status, body.error_code]).toEqual([400, 'INVALID_IDEMPOTENCY_KEY']);
    }
    expect(world.stats()).toEqual({});
  });

  describe('of a bad amount', () => {
    const json = { 'content-type': 'application/json' };
    const digits = '9'.repeat(10_000);
    const bodies: [string, string, number, string, Record<string, string>?][] = [
      ['missing', '{}', 400, 'INVALID_INPUT'],
      ['0', '{"amountSol":0}', 400, 'INVALID_INPUT'],
      ['negative', '{"amountSol":-0.5}', 400, 'INVALID_INPUT'],
      ['0.0009', '{"amountSol":0.0009}', 400, 'INVALID_INPUT'],
      ['"abc"', '{"amountSol":"abc"}', 400, 'INVALID_INPUT'],
      ['1e400', '{"amountSol":1e400}', 400, 'INVALID_INPUT'],
      ['1e-4', '{"amountSol":1e-4}', 400, 'INVALID_INPUT'],
      ['[]', '{"amountSol":[]}', 400, 'INVALID_INPUT'],
      ['{}', '{"amountSol":{}}', 400, 'INVALID_INPUT'],
      ['null', '{"amountSol":null}', 400, 'INVALID_INPUT'],
      ['true', '{"amountSol":true}', 400, 'INVALID_INPUT'],
      ['a number of 10,000 digits', `{"amountSol":${digits}}`, 400, 'INVALID_INPUT'],
      ['a string of 10,000 digits', `{"amountSol":"${digits}"}`, 400, 'INVALID_INPUT'],
      ['with an unknown member', '{"amountSol":0.3,"to":"bc1q"}', 400, 'INVALID_INPUT'],
      ['a body that is a list', '[0.3]', 400, 'INVALID_INPUT'],
      ['a body that is null', 'null', 400, 'INVALID_INPUT'],
      ['malformed JSON', '{"amountSol":0.3', 400, 'INVALID_JSON'],
      ['an empty body', '', 400, 'INVALID_JSON'],
      ['a body over 16 KiB', `{"amountSol":0.3,"pad":"${'x'.repeat(16_384)}"}`, 413, 'BODY_TOO_LARGE'],
      [
        'the wrong content type',
        '{"amountSol":0.3}',
        400,
        'UNSUPPORTED_CONTENT_TYPE',
        { 'content-type': 'text/plain' },
      ],
      ['too much for one swap', '{"amountSol":2.000000001}', 400, 'AMOUNT_TOO_LARGE'],
    ];

    it.each(bodies)(
      '%s: a create refuses it with its code',
      async (_what, body, status, code, headers = json) => {
        const answer = await read(await world.fetch('/api/swap/create', { method: 'POST', headers, body }));
        expect([answer.status, answer.body.error_code]).toEqual([status, code]);
        expect(answer.body).toMatchObject({ action: 'fix_request', retryable: false });
      },
    );

    const queries: [string, string][] = [
      ['missing', ''],
      ['empty', '?amountSol='],
      ['0', '?amountSol=0'],
      ['negative', '?amountSol=-0.5'],
      ['0.0009', '?amountSol=0.0009'],
      ['abc', '?amountSol=abc'],
      ['1e400', '?amountSol=1e400'],
      ['1e-4', '?amountSol=1e-4'],
      ['[]', '?amountSol=[]'],
      ['{}', '?amountSol={}'],
      ['null', '?amountSol=null'],
      ['10,000 digits', `?amountSol=${digits}`],
      ['twice', '?amountSol=0.3&amountSol=0.4'],
    ];

    it.each(queries)('%s: an estimate refuses it', async (_what, query) => {
      const { status, body } = await caller.get(`/api/swap/estimate${query}`);
      expect([status, body.error_code, body.action]).toEqual([400, 'INVALID_INPUT', 'fix_request']);
    });

    test('a bad amount leaves no row, takes no quote and uses no limit', async () => {
      const state = async () => ({
        rows: await caller.rows(),
        payments: caller.payments(),
        limits: ((await caller.get('/api/status')).body.custody as Body).limits,
      });
      const before = await state();
      world.resetStats();
      for (const [, body, , , headers = json] of bodies)
        await world.fetch('/api/swap/create', { method: 'POST', headers, body });
      for (const [, query] of queries) await caller.get(`/api/swap/estimate${query}`);
      expect(world.stats().oneclick).toBeUndefined();
      expect(await state()).toEqual(before);
    });
  });
});
