import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { createNearIntents, type OneClickRequest } from '../../src/providers/near-intents.ts';
import { answerTo } from '../bridges/signed-quote.ts';
import vectors from '../fixtures/near-intents-quote.json' with { type: 'json' };
import { type Recorded, replay } from './replay.ts';

const BASE = 'https://1click.test';
const DEPOSIT = base58.encode(new Uint8Array(32).fill(102));
const asked: OneClickRequest = {
  ...{ dry: true, originAsset: 'a', destinationAsset: 'b', amount: 2n ** 64n, slippageBps: 50 },
  ...{ refundTo: 'r', recipient: 'c', deadline: '2026-11-20T11:00:02.000Z' },
};
const client = (answers: Record<string, Recorded>, jwt?: string) => {
  const { fetch, requests } = replay(answers);
  return { provider: createNearIntents({ baseUrl: BASE, jwt, fetch }), requests };
};
const quoting = (answer: Recorded, jwt?: string) => client({ [`POST ${BASE}/v0/quote`]: answer }, jwt);
const honest = answerTo(asked, DEPOSIT);
const withQuote = (change: object): Recorded => ({
  body: { ...honest, quote: { ...honest.quote, ...change } },
});
const withRequest = (change: object): Recorded => {
  return { body: { ...honest, quoteRequest: { ...honest.quoteRequest, ...change } } };
};

describe('quote', () => {
  it('a quote request sends exact amounts as strings, and the token in a header, never in the URL', async () => {
    const { provider, requests } = quoting({ body: honest }, 'secret-token');
    await provider.quote(asked);
    expect(requests[0]?.body).toMatchObject({ amount: '18446744073709551616', slippageTolerance: 50 });
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer secret-token');
    expect(requests[0]?.url).not.toContain('secret-token');
  });

  it('a quote request without a token sends no token header', async () => {
    const { provider, requests } = quoting({ body: honest });
    await provider.quote(asked);
    expect(requests[0]?.headers.get('authorization')).toBeNull();
  });

  it.each([
    ['a firm quote', vectors.staging_firm_quote],
    ['a dry one', vectors.staging_preview_quote],
  ])('reads %s of the staging service, and keeps every signed field', async (_name, recorded) => {
    const { provider } = quoting({ body: recorded });
    const quote = await provider.quote(asked);
    if ('reason' in quote) throw new Error(quote.reason);
    const { signature, timestamp } = recorded;
    expect(quote).toMatchObject({ signature, timestamp, quote: recorded.quote });
    expect(recorded.quoteRequest).toMatchObject(quote.quoteRequest);
  });

  it.each<[string, Recorded]>([
    ['an amount with a point', withQuote({ amountOut: '1.5' })],
    ['an amount with a sign', withQuote({ minAmountOut: '-1' })],
    ['an amount as a number', withQuote({ amountIn: 5 })],
    ['an amount of 31 digits', withQuote({ amountOut: '9'.repeat(31) })],
    ['an empty amount', withRequest({ amount: '' })],
    ['dry as text', withRequest({ dry: 'false' })],
    ['slippage as text', withRequest({ slippageTolerance: '50' })],
    ['a recipient of 501 characters', withRequest({ recipient: 'x'.repeat(501) })],
    ['fees that are not a list', withRequest({ appFees: 10 })],
    ['a fee as text', withRequest({ appFees: [{ recipient: 'a', fee: '10' }] })],
    ['no signature', { body: { ...honest, signature: undefined } }],
    ['no request', { body: { ...honest, quoteRequest: undefined } }],
  ])('refuses a quote with %s', async (_name, answer) => {
    await expect(quoting(answer).provider.quote(asked)).rejects.toMatchObject({
      details: { reason: 'unexpected_shape' },
    });
  });
});

it('a status request escapes the deposit address', async () => {
  const path = `/v0/status?depositAddress=${encodeURIComponent('a b&c')}`;
  const body = { status: 'PROCESSING', quoteResponse: honest, swapDetails: {} };
  const { provider, requests } = client({ [`GET ${BASE}${path}`]: { body } });
  expect((await provider.status('a b&c')).status).toBe('PROCESSING');
  expect(requests).toHaveLength(1);
});

it('unused fields of a status response are read as null', async () => {
  const recorded = vectors.staging_status_quote_response;
  const swapDetails = {
    ...{ amountOut: null, refundedAmount: null, refundReason: null, originChainTxHashes: null },
    destinationChainTxHashes: [{ hash: 'h', explorerUrl: '' }],
  };
  const body = { status: 'SUCCESS', quoteResponse: recorded, swapDetails };
  const { provider } = client({ [`GET ${BASE}/v0/status?depositAddress=x`]: { body } });
  expect((await provider.status('x')).swapDetails.destinationChainTxHashes).toEqual([{ hash: 'h' }]);
});
