import { expect, it } from 'vitest';
import { lifiReport } from '../../src/bridges/lifi.ts';
import { createLifi, type LifiStatus } from '../../src/providers/lifi.ts';
import { type Recorded, replay } from './replay.ts';

const BASE = 'https://lifi.test/v1';
const SOL = { address: '11111111111111111111111111111111', chainId: 1_151_111_081_099_710, decimals: 9 };
const BTC = { address: 'bitcoin', chainId: 20_000_000_000_001, decimals: 8 };
const REQUEST = {
  amount: 500_000_000n,
  fromAddress: 'SoLreserve',
  toAddress: 'bc1qours',
  slippageBps: 50,
  tools: ['near', 'chainflip'],
};
const QUOTE_URL =
  `${BASE}/quote?fromChain=1151111081099710&toChain=20000000000001` +
  '&fromToken=11111111111111111111111111111111&toToken=bitcoin&fromAmount=500000000' +
  '&fromAddress=SoLreserve&toAddress=bc1qours&slippage=0.005&allowBridges=near%2Cchainflip';
const QUOTE = {
  type: 'lifi',
  id: '0b1c:0',
  tool: 'near',
  toolDetails: { key: 'near', name: 'NearIntents', logoURI: '' },
  transactionId: '0x1122334455667788',
  action: {
    fromChainId: SOL.chainId,
    toChainId: BTC.chainId,
    fromAmount: '500000000',
    fromToken: { ...SOL, priceUSD: '101.2' },
    toToken: { ...BTC, priceUSD: '80100.5' },
    fromAddress: 'SoLreserve',
    toAddress: 'bc1qours',
    slippage: 0.005,
  },
  estimate: {
    tool: 'near',
    fromAmount: '500000000',
    toAmount: '62700',
    toAmountMin: '62386',
    executionDuration: 3.5,
    approvalAddress: 'x',
    feeCosts: [
      { name: 'LIFI Fixed Fee', percentage: '0.0025', token: SOL, amount: '1250000', included: true },
    ],
  },
  transactionRequest: { data: 'AQAA' },
};
const asking = (answer: Recorded, apiKey?: string) => {
  const { fetch, requests } = replay({ [`GET ${QUOTE_URL}`]: answer });
  return { quote: createLifi({ baseUrl: BASE, apiKey, fetch }).quote(REQUEST), requests };
};

it('requests a quote from native SOL to native BTC at our own address, with the supported tools', async () => {
  const { quote, requests } = asking({ body: QUOTE }, 'canary-key');
  expect(await quote).toMatchObject({
    tool: 'near',
    transactionId: '0x1122334455667788',
    estimate: { toAmountMin: '62386', feeCosts: [{ amount: '1250000', included: true }] },
    transactionRequest: { data: 'AQAA' },
  });
  expect(requests).toHaveLength(1);
  expect(requests[0]?.headers.get('x-lifi-api-key')).toBe('canary-key');
});

it.each<[string, unknown]>([
  ['a list of transactions', { ...QUOTE, transactionRequest: { data: ['AQAA', 'AQAA'] } }],
  ['an additional field in the transaction', { ...QUOTE, transactionRequest: { data: 'AQAA', to: 'x' } }],
  ['no transaction', { ...QUOTE, transactionRequest: undefined }],
  ['an amount with a point', { ...QUOTE, estimate: { ...QUOTE.estimate, toAmountMin: '62386.0' } }],
  ['an amount as a number', { ...QUOTE, estimate: { ...QUOTE.estimate, toAmountMin: 62_386 } }],
  ['an id of another chain family', { ...QUOTE, transactionId: `0x${'11'.repeat(32)}` }],
  ['another type', { ...QUOTE, type: 'swap' }],
])('a quote with %s is refused', async (_name, body) => {
  await expect(asking({ body }).quote).rejects.toMatchObject({ details: { reason: 'unexpected_shape' } });
});

const toolError = (code: string) => ({ errorType: 'NO_QUOTE', code, tool: 'near', message: 'm', action: {} });
const noRoute = (errors: unknown) => ({
  status: 404,
  body: { message: 'No available quotes for the requested transfer', code: 1_002, errors },
});
const failed = (...codes: string[]) => ({
  filteredOut: [{ overallPath: 'p', reason: 'r' }],
  failed: [{ overallPath: 'p', subpaths: { hop: codes.map(toolError) } }],
});

it.each<[string, Recorded, string]>([
  [
    'every tool reports too low, in the newer shape',
    noRoute(failed('AMOUNT_TOO_LOW', 'FEES_HIGHER_THAN_AMOUNT')),
    'amount_too_low',
  ],
  [
    'every tool reports too low, in the older shape',
    noRoute([toolError('AMOUNT_TOO_LOW')]),
    'amount_too_low',
  ],
  [
    'one tool of two reports too low',
    noRoute(failed('AMOUNT_TOO_LOW', 'INSUFFICIENT_LIQUIDITY')),
    'no_route',
  ],
  ['no tool reports a reason', noRoute(undefined), 'no_route'],
  ['the errors have a third shape', noRoute('none'), 'no_route'],
  ['a tool error has no code', noRoute([{}]), 'no_route'],
  ['404 is a page', { status: 404, body: '<html>' }, 'no_route'],
  ['the request is bad', { status: 400, body: { message: 'Invalid toAddress', code: 1_011 } }, 'status_400'],
  ['slippage is too large', { status: 409, body: { message: 'm', code: 1_007 } }, 'status_409'],
  ['a third party fails', { status: 424, body: { message: 'm', code: 1_008 } }, 'status_424'],
  ['LI.FI itself fails', { status: 500, body: { message: 'm', code: 1_006 } }, 'status_500'],
  ['it redirects', { status: 302, body: '' }, 'status_302'],
])('when %s the failure has reason %s', async (_name, answer, reason) => {
  const { quote, requests } = asking(answer as Recorded);
  await expect(quote).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    details: { upstream: 'lifi', reason },
  });
  expect(requests).toHaveLength(1);
});

it.each([
  ['60', 60],
  ['99999', undefined],
  ['soon', undefined],
  ['', undefined],
])('a rate limit that resets in %j gives a wait of %s seconds', async (reset, retryAfterSeconds) => {
  const { quote } = asking({ status: 429, headers: { 'ratelimit-reset': reset }, body: { code: 1_005 } });
  await expect(quote).rejects.toMatchObject({ details: { reason: 'rate_limited' }, retryAfterSeconds });
});

const delivered = { chainId: BTC.chainId, txHash: 'AB12', amount: '62500', token: BTC };

const MEANINGS: [LifiStatus, unknown][] = [
  [{ status: 'NOT_FOUND' }, { state: 'pending', detail: 'unknown' }],
  [{ status: 'INVALID' }, { state: 'pending', detail: 'unknown' }],
  [{ status: 'SOMETHING_NEW' }, { state: 'pending', detail: 'unknown' }],
  [
    { status: 'PENDING', substatus: 'WAIT_SOURCE_CONFIRMATIONS' },
    { state: 'pending', detail: 'landed' },
  ],
  [
    { status: 'PENDING', substatus: 'REFUND_IN_PROGRESS' },
    { state: 'pending', detail: 'settling' },
  ],
  [
    { status: 'PENDING', substatus: 'INTENT_FAILED_RETRYABLE' },
    { state: 'pending', detail: 'settling' },
  ],
  [
    { status: 'DONE', substatus: 'COMPLETED', receiving: delivered },
    { state: 'delivered', txids: ['ab12'] },
  ],
  [
    { status: 'DONE', substatus: 'COMPLETED', receiving: { chainId: 1 } },
    { state: 'pending', detail: 'unknown' },
  ],
  [
    { status: 'DONE', receiving: delivered },
    { state: 'pending', detail: 'unknown' },
  ],
  [
    { status: 'DONE', substatus: 'PARTIAL', receiving: delivered },
    { state: 'partial', txids: ['ab12'] },
  ],
  [
    { status: 'DONE', substatus: 'REFUNDED', receiving: { chainId: SOL.chainId, amount: '7', token: SOL } },
    { state: 'refunded', amount: 7n },
  ],
  [
    { status: 'DONE', substatus: 'REFUNDED', receiving: delivered },
    { state: 'refunded', amount: null },
  ],
  [
    { status: 'FAILED', substatus: 'REFUNDED' },
    { state: 'refunded', amount: null },
  ],
  [
    { status: 'FAILED', substatus: 'OUT_OF_GAS' },
    { state: 'failed', reason: 'bridge_failed' },
  ],
  [{ status: 'FAILED' }, { state: 'failed', reason: 'bridge_failed' }],
];

it.each(
  MEANINGS.map(([status, report]) => [`${status.status} ${status.substatus ?? ''}`, status, report] as const),
)('%s has its own meaning', (_name, status, report) => {
  expect(lifiReport(status, 'near')).toEqual(report);
});

it('a status of another tool is ignored', () => {
  const status = { status: 'DONE', substatus: 'COMPLETED', tool: 'relaydepository', receiving: delivered };
  expect(lifiReport(status, 'near')).toEqual({ state: 'pending', detail: 'unknown' });
});

it('a status request has signature, chains and tool', async () => {
  const url = `${BASE}/status?txHash=sig&fromChain=1151111081099710&toChain=20000000000001&bridge=near`;
  const body = {
    status: 'PENDING',
    substatus: 'INTENT_READY',
    tool: 'near',
    receiving: { chainId: BTC.chainId },
  };
  const { fetch } = replay({ [`GET ${url}`]: { body } });
  expect(await createLifi({ baseUrl: BASE, fetch }).status('sig', 'near')).toMatchObject(body);
});
