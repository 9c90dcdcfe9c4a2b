/** Every simulator of the world returns each member of the recorded production responses with its type and form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { address } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { shapeDifferences } from '../../scripts/probe/shape.ts';
import { failureReason } from '../../src/core/errors.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts';
import { startChangeNow } from './changenow.ts';
import { createFaultBook } from './fault-book.ts';
import type { Upstream } from './fault-gate.ts';
import { callRpc } from './json-rpc.ts';
import { createBitcoinKey, createQuoteKey, createSolanaKey } from './keys.ts';
import { startOneClick } from './one-click.ts';
import { createPriceBook } from './price-venues.ts';
import { createRequestCounts } from './request-counts.ts';
import { startRpcFront } from './rpc-front.ts';
import { chainTransaction, TRANSACTION_ERRORS, transactionBody } from './solana-shapes.ts';
import { buildTransaction } from './solana-wallet.ts';
import { type SolanaWorld, startSolanaWorld } from './solana-world.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/recorded');
const parsed = (path: string): unknown => JSON.parse(readFileSync(join(FOLDER, path), 'utf8'));
const reasonOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'read', failureReason);

const base = { a: '12', list: [{ at: '2026-01-01T00:00:00.000Z' }], none: null, word: 'SIMPLE' };
it.each([
  ['equal', base, []],
  ['more members and other values', { ...base, a: '7', more: 1, word: 'MEMO' }, []],
  ['a missing member', { ...base, a: undefined }, ['a: missing']],
  ['another type', { ...base, a: 12 }, ['a: string is now number']],
  ['null no longer', { ...base, none: 'x' }, ['none: null is now string']],
  ['another vocabulary', { ...base, word: 'simple' }, ['word: upper-case word is now free text']],
  ['a member of a list', { ...base, list: [{ at: 5 }] }, ['list[].at: string is now number']],
  ['an empty list', { ...base, list: [] }, ['list: the list is empty']],
])('compares the shapes of two bodies: %s', (_name, actual, differences) => {
  expect(shapeDifferences(base, actual)).toEqual(differences);
});

it('the shapes of kit and simulator have every member of a recorded transaction', () => {
  const recorded = parsed('solana/transaction-v1-failed.json');
  // They have no instructions, and no budget of version 1.
  const varies = ['transaction.message.instructions', 'transaction.message.transactionConfig'];
  const moved = chainTransaction('signature', { payer: -5_000n, other: 0n }, { failed: true });
  expect(shapeDifferences(recorded, transactionBody(moved, undefined, 1), varies)).toEqual([]);
});

describe('the fakes', () => {
  const faults = createFaultBook();
  const counts = createRequestCounts();
  const prices = createPriceBook({ BTC: '80000', SOL: '100' });
  const bank = createBitcoinKey();
  let solana: SolanaWorld;
  let bitcoin: BitcoinNode;
  let oneClick: Upstream;
  let changeNow: Upstream;
  let rpc: Upstream;

  beforeAll(async () => {
    solana = await startSolanaWorld({ slotMs: 20, reserveLamports: 10n ** 10n, asrySupply: 10n ** 18n });
    bitcoin = await startBitcoinNode({ coinbaseKeyHash: bank.script.subarray(2) });
    oneClick = await startOneClick({
      ledger: solana.ledger,
      bitcoin,
      prices,
      faults,
      counts,
      quoteKey: createQuoteKey(),
      token: 't',
      solanaBank: solana.bank,
      bitcoinBank: bank,
      settleDelayMs: 10,
      now: Date.now,
    });
    changeNow = await startChangeNow({ prices, faults, counts, apiKey: 'k' });
    rpc = await startRpcFront({ name: 'rpc1', ledger: solana.ledger, faults, counts });
  });
  afterEach(() => faults.clear());
  afterAll(async () => {
    await Promise.all([oneClick.stop(), changeNow.stop(), rpc.stop()]);
    solana.stop();
    await bitcoin.close();
  });

  async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  }
  const get = async (url: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await fetch(url, { headers })).json();

  /** As requested by a client without a token. */
  const quoteFrom = (change: object = {}) =>
    post(`${oneClick.url}/v0/quote`, {
      dry: false,
      depositMode: 'SIMPLE',
      swapType: 'EXACT_INPUT',
      slippageTolerance: 100,
      originAsset: 'nep141:sol.omft.near',
      depositType: 'ORIGIN_CHAIN',
      destinationAsset: 'nep141:btc.omft.near',
      amount: '500000000',
      refundTo: solana.reserve.address,
      refundType: 'ORIGIN_CHAIN',
      recipient: createBitcoinKey().address,
      recipientType: 'DESTINATION_CHAIN',
      deadline: new Date(Date.now() + 1_200_000).toISOString(),
      quoteWaitingTimeMs: 0,
      ...change,
    });

  it('the 1Click simulator quotes as production does, with the fee and the BTC id of 1Click', async () => {
    const { status, body } = await quoteFrom();
    expect(status).toBe(201);
    expect(shapeDifferences(parsed('one-click/quote-btc-base-usdc.json'), body)).toEqual([]);
    expect(body).toMatchObject({
      quoteRequest: {
        destinationAsset: '1cs_v1:btc:native:coin',
        appFees: [{ fee: 20, limitOrderId: null }],
        insured: false,
      },
    });
  });

  it('the 1Click simulator returns a dry quote as production does', async () => {
    const { body } = await quoteFrom({ dry: true });
    expect(shapeDifferences(parsed('one-click/quote-dry-sol-zec.json'), body)).toEqual([]);
    expect(body).not.toHaveProperty('quote.depositAddress');
    expect(body).not.toHaveProperty('quoteRequest.appFees.0.limitOrderId');
  });

  it('before a deposit, the 1Click simulator shows a swap with its request id, as production does', async () => {
    const { body } = await quoteFrom();
    const deposit = Reflect.get(Reflect.get(body, 'quote'), 'depositAddress');
    const status = await get(`${oneClick.url}/v0/status?depositAddress=${deposit}`);
    // A quote without a referral has null in its place.
    const differences = shapeDifferences(parsed('one-click/status-pending-btc-base-usdc.json'), status);
    expect(differences).toEqual([]);
    expect(status).toMatchObject({
      quoteResponse: { quoteRequest: { destinationAsset: 'nep141:btc.omft.near' } },
    });
  });

  it('the 1Click simulator refuses as production does', async () => {
    const { status, body } = await quoteFrom({ dry: undefined, swapType: 'EXACT' });
    expect(status).toBe(400);
    expect(shapeDifferences(parsed('one-click/quote-400-invalid.json'), body)).toEqual([]);
    expect(body.message).toBe(Reflect.get(parsed('one-click/quote-400-invalid.json') as object, 'message'));
  });

  it('the 1Click simulator lists tokens as production does', async () => {
    const rows = (await get(`${oneClick.url}/v0/tokens`)) as Record<string, unknown>[];
    for (const row of parsed('one-click/tokens-btc-sol.json') as Record<string, unknown>[]) {
      const same = rows.find(({ assetId }) => assetId === row.assetId);
      expect(shapeDifferences(row, same)).toEqual([]);
      expect('contractAddress' in (same ?? {})).toBe('contractAddress' in row);
    }
  });

  it('the ChangeNOW simulator responds as production does', async () => {
    const key = { 'x-changenow-api-key': 'k' };
    const pair = 'fromCurrency=btc&fromNetwork=btc&toCurrency=sol&toNetwork=sol&flow=standard';
    const range = await get(`${changeNow.url}/v2/exchange/range?${pair}`, key);
    expect(shapeDifferences(parsed('changenow/range.json'), range, ['maxAmount'])).toEqual([]);
    const estimate = (amount: string) =>
      get(`${changeNow.url}/v2/exchange/estimated-amount?${pair}&type=direct&fromAmount=${amount}`, key);
    expect(shapeDifferences(parsed('changenow/estimated-amount.json'), await estimate('0.01'))).toEqual([]);
    const small = await estimate('0.00000001');
    expect(shapeDifferences(parsed('changenow/estimated-amount-below-min.json'), small)).toEqual([]);
    expect(small).toMatchObject({ error: 'deposit_too_small' });
    const order = {
      fromCurrency: 'btc',
      fromNetwork: 'btc',
      toCurrency: 'sol',
      toNetwork: 'sol',
      fromAmount: '0.01',
      toAmount: '',
      address: solana.reserve.address,
      extraId: '',
      refundAddress: createBitcoinKey().address,
      refundExtraId: '',
      flow: 'standard',
      type: 'direct',
    };
    const { body } = await post(`${changeNow.url}/v2/exchange`, order, key);
    expect(shapeDifferences(parsed('changenow/create-exchange.json'), body)).toEqual([]);
    const state = await get(`${changeNow.url}/v2/exchange/by-id?id=${body.id}`, key);
    expect(shapeDifferences(parsed('changenow/by-id.json'), state)).toEqual([]);
  });

  it('a simulated node shows and refuses version 1 as production does', async () => {
    const to = address((await createSolanaKey()).address);
    const { signature, wire } = await buildTransaction(solana.ledger, solana.reserve.signer, [
      getTransferSolInstruction({ source: solana.reserve.signer, destination: to, amount: 10n ** 18n }),
    ]);
    await solana.ledger.send(wire, { skipPreflight: true, asVersionOne: true });
    const slot = solana.ledger.transaction(signature)?.slot ?? Number.NaN;
    await solana.ledger.clock.reached(slot + 34);
    const shown = (maxSupportedTransactionVersion: number) =>
      callRpc(rpc.url, 'getTransaction', [
        signature,
        { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion },
      ]);
    const { result } = await shown(1);
    // A compute budget is the sender's choice.
    const config = 'transaction.message.transactionConfig';
    const varies = ['computeUnitLimit', 'loadedAccountsDataSizeLimit', 'priorityFee'];
    expect(
      shapeDifferences(
        parsed('solana/transaction-v1-failed.json'),
        result,
        varies.map((name) => `${config}.${name}`),
      ),
    ).toEqual([]);
    expect(result).not.toHaveProperty('transaction.message.addressTableLookups');
    const refusal = parsed('solana/error-version-1-unsupported.json');
    expect((await shown(0)).error).toEqual(Reflect.get(refusal as object, 'error'));
    for (const [value, err] of Object.entries(TRANSACTION_ERRORS)) {
      faults.set('rpc1', { kind: 'errorForm', value });
      const { result: failed } = await shown(1);
      expect(failed).toMatchObject({ meta: { err, status: { Err: err } } });
    }
    faults.set('rpc1', { kind: 'httpErrors' });
    const [node] = createSolanaRpc({ urls: [rpc.url], fetch }).nodes;
    faults.set('rpc1', { kind: 'version', by: 2 });
    expect(await reasonOf(node?.transaction(signature, 'finalized') ?? Promise.reject())).toBe('rpc_-32015');
  });
});
