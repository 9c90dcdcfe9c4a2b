import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts';
import { startEsploraAdapter } from './esplora-adapter.ts';
import { createFaultBook } from './fault-book.ts';
import type { Upstream } from './fault-gate.ts';
import { createBitcoinKey, createQuoteKey } from './keys.ts';
import { startOneClick } from './one-click.ts';
import { BTC_ASSET, type QuoteAnswer, type SwapStatus } from './one-click-swap.ts';
import { createPriceBook } from './price-venues.ts';
import { quoteMessage } from './quote-signature.ts';
import { createRequestCounts } from './request-counts.ts';
import { transferSol } from './solana-wallet.ts';
import { type SolanaWorld, startSolanaWorld } from './solana-world.ts';

const SOL = 1_000_000_000n;
const TOKEN = 'a token';

const faults = createFaultBook();
const counts = createRequestCounts();
const quoteKey = createQuoteKey();
const bank = createBitcoinKey();
let solana: SolanaWorld;
let bitcoin: BitcoinNode;
let oneClick: Upstream;
let esploras: Upstream[];

beforeAll(async () => {
  solana = await startSolanaWorld({ slotMs: 20, reserveLamports: 100n * SOL, asrySupply: 10n ** 18n });
  bitcoin = await startBitcoinNode({ coinbaseKeyHash: bank.script.subarray(2) });
  const prices = createPriceBook({ BTC: '80000', SOL: '100' });
  oneClick = await startOneClick({
    ledger: solana.ledger,
    bitcoin,
    prices,
    faults,
    counts,
    quoteKey,
    token: TOKEN,
    solanaBank: solana.bank,
    bitcoinBank: bank,
    settleDelayMs: 10,
  });
  esploras = await Promise.all([
    startEsploraAdapter({ name: 'esplora1', flavor: 'mempool', node: bitcoin, faults, counts }),
    startEsploraAdapter({ name: 'esplora2', flavor: 'blockstream', node: bitcoin, faults, counts }),
  ]);
});
afterEach(() => faults.clear());
afterAll(async () => {
  await oneClick.stop();
  await Promise.all(esploras.map((esplora) => esplora.stop()));
  solana.stop();
  await bitcoin.close();
});

async function quote(change: Record<string, unknown> = {}) {
  const { address: recipient } = createBitcoinKey();
  const response = await fetch(`${oneClick.url}/v0/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({
      dry: false,
      swapType: 'EXACT_INPUT',
      slippageTolerance: 50,
      originAsset: 'nep141:sol.omft.near',
      depositType: 'ORIGIN_CHAIN',
      destinationAsset: 'nep141:btc.omft.near',
      amount: (SOL / 2n).toString(),
      refundTo: solana.reserve.address,
      refundType: 'ORIGIN_CHAIN',
      recipient,
      recipientType: 'DESTINATION_CHAIN',
      deadline: new Date(Date.now() + 1_200_000).toISOString(),
      ...change,
    }),
  });
  return {
    status: response.status,
    recipient,
    answer: (await response.json()) as QuoteAnswer & { message?: string },
  };
}

const field = (answer: QuoteAnswer, name: string): string => String(answer.quote[name]);

function signatureIsValid({ quoteRequest, quote: quoted, timestamp, signature }: QuoteAnswer): boolean {
  const bytes = (text: string) => base58.decode(text.replace('ed25519:', ''));
  return ed25519.verify(
    bytes(signature),
    quoteMessage(quoteRequest, quoted, timestamp),
    bytes(quoteKey.publicKey),
  );
}

interface StatusAnswer {
  readonly status: SwapStatus;
  readonly quoteResponse: QuoteAnswer;
  readonly swapDetails: {
    readonly destinationChainTxHashes: readonly { readonly hash: string }[];
    readonly originChainTxHashes: readonly { readonly hash: string }[];
    readonly amountOut?: string;
    readonly refundedAmount?: string;
    readonly refundReason?: string;
  };
}

const status = async (depositAddress: string): Promise<StatusAnswer> =>
  (await (await fetch(`${oneClick.url}/v0/status?depositAddress=${depositAddress}`)).json()) as StatusAnswer;

async function reached(depositAddress: string, wanted: SwapStatus): Promise<StatusAnswer> {
  for (;;) {
    const answer = await status(depositAddress);
    if (answer.status === wanted) return answer;
    await solana.ledger.clock.reached(solana.ledger.clock.slot('processed') + 1);
  }
}

const deposit = (answer: QuoteAnswer, lamports: bigint) =>
  transferSol(solana.ledger, solana.reserve.signer, field(answer, 'depositAddress'), lamports);

const received = async (address: string): Promise<number[]> =>
  Promise.all(
    esploras.map(async ({ url }) => {
      const { chain_stats } = (await (await fetch(`${url}/api/address/${address}`)).json()) as {
        chain_stats: { funded_txo_sum: number };
      };
      return chain_stats.funded_txo_sum;
    }),
  );

describe('a quote', () => {
  test('a quote is signed, priced by the world, and names a new deposit address each time', async () => {
    const [first, second] = [await quote(), await quote()];
    expect(first.status).toBe(201);
    expect(signatureIsValid(first.answer)).toBe(true);
    // 0.5 SOL at 100 is 62,500 sats at 80,000; less 20 basis points and the withdrawal fee.
    expect(first.answer.quote).toMatchObject({
      amountIn: '500000000',
      amountOut: '61975',
      minAmountOut: '61665',
      withdrawFee: '400',
    });
    expect(field(first.answer, 'depositAddress')).not.toBe(field(second.answer, 'depositAddress'));
  });

  test('a quote that is dry has no deposit address', async () => {
    const { answer } = await quote({ dry: true });
    expect(signatureIsValid(answer)).toBe(true);
    expect(answer.quote.depositAddress).toBeUndefined();
  });

  test('a quote is refused below the minimum, but not at the minimum that the refusal names', async () => {
    const low = await quote({ amount: '1000000' });
    expect(low.status).toBe(400);
    const least = /^Amount is too low for bridge, try at least (\d+)$/.exec(low.answer.message ?? '')?.[1];
    expect((await quote({ amount: least })).status).toBe(201);
  });

  test('a quote is refused for a bad recipient, refund address, deadline or missing field', async () => {
    const refusal = async (change: Record<string, unknown>) => (await quote(change)).answer.message;
    expect(await refusal({ recipient: 'bc1qnothing' })).toBe('recipient is not valid');
    expect(await refusal({ refundTo: 'nobody' })).toBe('refundTo is not valid');
    expect(await refusal({ deadline: '2020-01-01T00:00:00.000Z' })).toBe('deadline must be in the future');
    expect(await refusal({ amount: undefined })).toBe('amount should not be empty');
  });

  test.each([
    ['wrongRecipient', (lied: QuoteAnswer, asked: string) => lied.quoteRequest.recipient !== asked],
    ['wrongRefundTo', (lied: QuoteAnswer) => lied.quoteRequest.refundTo !== solana.reserve.address],
    ['wrongAsset', (lied: QuoteAnswer) => lied.quoteRequest.destinationAsset !== BTC_ASSET],
    ['wrongAmount', (lied: QuoteAnswer) => lied.quoteRequest.amount !== '500000000'],
    ['wrongDeposit', (lied: QuoteAnswer) => field(lied, 'amountIn') !== '500000000'],
    ['lowOutput', (lied: QuoteAnswer) => Number(field(lied, 'minAmountOut')) < 60_000],
    ['expiredDeadline', (lied: QuoteAnswer) => Date.parse(field(lied, 'deadline')) < Date.now()],
    ['noDeposit', (lied: QuoteAnswer) => lied.quote.depositAddress === undefined],
  ])('a quote with the fault %s lies under a valid signature', async (kind, isLie) => {
    faults.set('oneclick', { kind, times: 1 });
    const { answer, recipient } = await quote();
    expect(isLie(answer, recipient)).toBe(true);
    expect(signatureIsValid(answer)).toBe(true);
    expect(isLie((await quote()).answer, '')).toBe(kind === 'wrongRecipient');
  });

  test('a quote with the fault wrongSignature is correct but signed with a different key', async () => {
    faults.set('oneclick', { kind: 'wrongSignature', times: 1 });
    expect(signatureIsValid((await quote()).answer)).toBe(false);
  });
});

describe('a swap', () => {
  test('pays the recipient on Bitcoin once the deposit is confirmed, seen by both Esploras', async () => {
    const { answer, recipient } = await quote();
    const address = field(answer, 'depositAddress');
    expect((await status(address)).status).toBe('PENDING_DEPOSIT');
    const landed = await deposit(answer, SOL / 2n);
    const done = await reached(address, 'SUCCESS');
    expect(done.swapDetails.originChainTxHashes[0]?.hash).toBe(landed.signature);
    expect(done.swapDetails.amountOut).toBe('61975');
    expect(done.quoteResponse.signature).toBe(answer.signature);
    // The status echoes the id of the request; the signature covers the other one.
    const { quoteRequest } = done.quoteResponse;
    expect(quoteRequest.destinationAsset).toBe('nep141:btc.omft.near');
    expect(signatureIsValid(done.quoteResponse)).toBe(false);
    const normalised = { ...quoteRequest, destinationAsset: BTC_ASSET };
    expect(signatureIsValid({ ...done.quoteResponse, quoteRequest: normalised })).toBe(true);
    await bitcoin.mine(1);
    expect(await received(recipient)).toEqual([61_975, 61_975]);
    const paid = bitcoin.index.get(done.swapDetails.destinationChainTxHashes[0]?.hash ?? '');
    expect(paid?.block?.height).toBe(bitcoin.height());
  });

  test('sends a deposit that is too small back, less its fee', async () => {
    const { answer } = await quote();
    const before = await solana.ledger.account(solana.reserve.address, solana.ledger.clock.slot('processed'));
    await deposit(answer, SOL / 4n);
    const done = await reached(field(answer, 'depositAddress'), 'REFUNDED');
    expect(done.swapDetails).toMatchObject({ refundReason: 'PARTIAL_DEPOSIT', refundedAmount: '250000000' });
    const after = await solana.ledger.account(solana.reserve.address, solana.ledger.clock.slot('processed'));
    expect((before?.lamports ?? 0) - (after?.lamports ?? 0)).toBe(5000 + 10_000);
  });

  test('sends a late deposit back', async () => {
    faults.set('oneclick', { kind: 'expiredDeadline', times: 1 });
    const { answer } = await quote();
    await deposit(answer, SOL / 2n);
    const done = await reached(field(answer, 'depositAddress'), 'REFUNDED');
    expect(done.swapDetails.refundReason).toBe('DEADLINE_EXCEEDED');
  });

  test.each([
    ['refund', 'REFUNDED', 0],
    ['failed', 'FAILED', 0],
    ['partial', 'SUCCESS', 30_832],
    ['wrongAmount', 'SUCCESS', 60_975],
    ['wrongTx', 'SUCCESS', 0],
  ] as const)('a swap with the fault settle %s ends %s and pays %i sats', async (mode, end, sats) => {
    faults.set('oneclick', { kind: 'settle', mode, times: 1 });
    const { answer, recipient } = await quote();
    await deposit(answer, SOL / 2n);
    await reached(field(answer, 'depositAddress'), end);
    await bitcoin.mine(1);
    expect(await received(recipient)).toEqual([sats, sats]);
  });

  test('a swap with the fault batch is paid together with another by one transaction', async () => {
    faults.set('oneclick', { kind: 'batch', times: 2 });
    const [first, second] = [await quote(), await quote()];
    await deposit(first.answer, SOL / 2n);
    await deposit(second.answer, SOL / 2n);
    const ends = [
      await reached(field(first.answer, 'depositAddress'), 'SUCCESS'),
      await reached(field(second.answer, 'depositAddress'), 'SUCCESS'),
    ];
    const txids = new Set(ends.map((end) => end.swapDetails.destinationChainTxHashes[0]?.hash));
    expect(txids.size).toBe(1);
  });
});
