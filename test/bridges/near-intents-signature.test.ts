import { expect, it } from 'vitest';
import { isSignedQuote, quoteHashText } from '../../src/bridges/near-intents-signature.ts';
import type { OneClickQuote } from '../../src/providers/near-intents.ts';
// Source: defuse-protocol/one-click-sdk-typescript, its staging service's own answers.
import vectors from '../fixtures/near-intents-quote.json' with { type: 'json' };

const key = vectors.publicKey;
const PRODUCTION_KEY = 'ed25519:reYaWhvwu8Jzo3WUM3zhn6VrhuMEF4eADL17qtRVifc';
const quotes = {
  'a firm quote': vectors.staging_firm_quote,
  'a dry quote': vectors.staging_preview_quote,
  "a status answer's quote": vectors.staging_status_quote_response,
} as Record<string, OneClickQuote>;
const firm = quotes['a firm quote'] as OneClickQuote;

it.each(Object.entries(quotes))('%s of the staging service verifies under its key', async (_name, quote) => {
  expect(await isSignedQuote(quote, key)).toBe(true);
});

it('the signed message is the one that the SDK computes', () => {
  expect(quoteHashText(firm)).toBe('XS2Ej8EbPHKiDBfxaFY3y6az5pCDb8eh4bSdAErvZy7');
});

it.each(Object.keys(quotes))('%s does not verify under the production key', async (name) => {
  expect(await isSignedQuote(quotes[name] as OneClickQuote, PRODUCTION_KEY)).toBe(false);
});

const asked = (change: object) => ({ quoteRequest: { ...firm.quoteRequest, ...change } });
it.each([
  ['recipient', asked({ recipient: '0x00' })],
  ['refundTo', asked({ refundTo: 'bc1qother' })],
  ['destinationAsset', asked({ destinationAsset: 'nep141:btc.omft.near' })],
  ['amount', asked({ amount: '10001' })],
  ['dry', asked({ dry: true })],
  ['minAmountOut', { quote: { ...firm.quote, minAmountOut: '5872245' } }],
  ['depositAddress', { quote: { ...firm.quote, depositAddress: 'bc1qother' } }],
  ["the quote's deadline", { quote: { ...firm.quote, deadline: '2026-06-27T19:00:00.000Z' } }],
  ['timestamp', { timestamp: '2026-06-23T17:10:41.105Z' }],
  ['a cleared signature', { signature: '' }],
  ['a signature of another scheme', { signature: firm.signature.replace('ed25519', 'secp256k1') }],
  ['a signature that is not base58', { signature: 'ed25519:0OIl' }],
])('changing %s breaks the signature', async (_name, change) => {
  expect(await isSignedQuote({ ...firm, ...change }, key)).toBe(false);
});

it.each([
  ["the request's deadline", { deadline: '2030-01-01T00:00:00.000Z' }],
  ['appFees', { appFees: [] }],
  ['confidentiality', { confidentiality: 'basic' }],
])('the signature does not cover %s, which must be compared with our request', async (_name, change) => {
  const changed = { ...firm, quoteRequest: { ...firm.quoteRequest, ...change } };
  expect(await isSignedQuote(changed, key)).toBe(true);
});

it.each(['', 'ed25519:', 'ed25519:abc', PRODUCTION_KEY.slice(8)])(
  'a malformed key %j verifies no signature',
  async (bad) => {
    expect(await isSignedQuote(firm, bad)).toBe(false);
  },
);
