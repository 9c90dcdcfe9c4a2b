/** Quotes and statuses that other projects recorded from production: see test/fixtures/recorded/README.md. */
import { expect, it } from 'vitest';
import { checkQuote, createNearIntentsRoute } from '../../src/bridges/near-intents.ts';
import { isSignedQuote } from '../../src/bridges/near-intents-signature.ts';
import {
  BTC_ASSET,
  createNearIntents,
  type OneClickQuote,
  type OneClickRequest,
  SOL_ASSET,
} from '../../src/providers/near-intents.ts';
import btcQuote from '../fixtures/recorded/one-click/quote-btc-base-usdc.json' with { type: 'json' };
import dryQuote from '../fixtures/recorded/one-click/quote-dry-sol-zec.json' with { type: 'json' };
import zecQuote from '../fixtures/recorded/one-click/quote-usdc-sol-zec.json' with { type: 'json' };
import btcStatus from '../fixtures/recorded/one-click/status-pending-btc-base-usdc.json' with {
  type: 'json',
};
import zecStatus from '../fixtures/recorded/one-click/status-pending-usdc-zec.json' with { type: 'json' };
import refundedStatus from '../fixtures/recorded/one-click/status-refunded-zec-usdc.json' with {
  type: 'json',
};
import successXlm from '../fixtures/recorded/one-click/status-success-xlm-usdc.json' with { type: 'json' };
import successZec from '../fixtures/recorded/one-click/status-success-zec-usdc.json' with { type: 'json' };
import submitted from '../fixtures/recorded/one-click/submit-processing-xlm-usdc.json' with { type: 'json' };
import { eachScene } from '../kit/scenes.ts';
import { replay } from '../providers/replay.ts';
import { answerTo, DEPOSIT, FIRM, isSigned, NOW, RESERVE } from './signed-quote.ts';

const PRODUCTION_KEY = 'ed25519:reYaWhvwu8Jzo3WUM3zhn6VrhuMEF4eADL17qtRVifc';
const isProductions = (quote: OneClickQuote) => isSignedQuote(quote, PRODUCTION_KEY);
const OTHER_BTC_ID = 'nep141:btc.omft.near';
const BASE = 'https://1click.test';

/** The responses as parsed by the provider. */
async function readQuote(body: object): Promise<OneClickQuote> {
  const { fetch } = replay({ [`POST ${BASE}/v0/quote`]: { status: 201, body } });
  const quote = await createNearIntents({ baseUrl: BASE, fetch }).quote(requestOf(btcQuote));
  if ('reason' in quote) throw new Error(quote.reason);
  return quote;
}
const readStatus = (body: object) =>
  createNearIntents({
    baseUrl: BASE,
    fetch: replay({ [`GET ${BASE}/v0/status?depositAddress=d`]: { body } }).fetch,
  }).status('d');

/** The request that a recorded quote answers. */
function requestOf({ quoteRequest }: { quoteRequest: OneClickQuote['quoteRequest'] }): OneClickRequest {
  const { amount, slippageTolerance: slippageBps, ...rest } = quoteRequest;
  const { dry, originAsset, destinationAsset, refundTo, recipient, deadline } = rest;
  const asked = { dry, originAsset, destinationAsset, refundTo, recipient, deadline };
  return { ...asked, amount: BigInt(amount), slippageBps };
}

it.each([
  ['a BTC quote', btcQuote],
  ['a dry quote', dryQuote],
  ['a firm quote', zecQuote],
])('the production key verifies %s of production', async (_name, body) => {
  expect(await isProductions(await readQuote(body))).toBe(true);
});

it('the production key verifies a status, even if its BTC id differs from the signed id', async () => {
  const { quoteResponse } = await readStatus(btcStatus);
  expect(quoteResponse.quoteRequest.originAsset).toBe(OTHER_BTC_ID);
  expect(await isProductions(quoteResponse)).toBe(true);
  expect(await isProductions((await readStatus(zecStatus)).quoteResponse)).toBe(true);
});

it('refuses the BTC quote of production for its third-party fee', async () => {
  const asked = { ...requestOf(btcQuote), originAsset: OTHER_BTC_ID };
  const verdict = await checkQuote(
    await readQuote(btcQuote),
    asked,
    isProductions,
    Date.parse(btcQuote.timestamp),
  );
  expect(verdict).toEqual({ ok: false, reason: 'quote_app_fees' });
});

it('accepts a firm quote of production with only the fee of 1Click', async () => {
  const at = Date.parse(zecQuote.timestamp);
  const verdict = await checkQuote(await readQuote(zecQuote), requestOf(zecQuote), isProductions, at);
  expect(verdict).toMatchObject({ ok: true, quote: { depositAddress: zecQuote.quote.depositAddress } });
});

/** A status without one of its details. */
function without(body: typeof refundedStatus, name: keyof (typeof refundedStatus)['swapDetails']) {
  const { [name]: _omitted, ...swapDetails } = body.swapDetails;
  return { ...body, swapDetails };
}
const nearHash = (body: typeof successXlm | typeof successZec) =>
  String(body.swapDetails.destinationChainTxHashes[0]?.hash).toLowerCase();

it.each([
  ['before a deposit', zecStatus, { state: 'pending', detail: 'landed' }],
  ['in the response to our announcement', submitted, { state: 'pending', detail: 'settling' }],
  ['SUCCESS of 2025', successZec, { state: 'delivered', txids: [nearHash(successZec)] }],
  ['SUCCESS of 2026', successXlm, { state: 'delivered', txids: [nearHash(successXlm)] }],
  ['REFUNDED', refundedStatus, { state: 'refunded', amount: 53_000n }],
  ['REFUNDED without a sum', without(refundedStatus, 'refundedAmount'), { state: 'refunded', amount: null }],
])('reports a status of production: %s', async (_name, body, report) => {
  const { depositAddress } = body.quoteResponse.quote;
  const { fetch } = replay({ [`GET ${BASE}/v0/status?depositAddress=${depositAddress}`]: { body } });
  const route = createNearIntentsRoute({
    provider: createNearIntents({ baseUrl: BASE, fetch }),
    isSigned: isProductions,
    reserveAddress: RESERVE,
    bitcoinAddress: FIRM.recipient,
    now: () => NOW,
  });
  expect(await route.report(depositAddress)).toEqual({ ...report, shown: expect.any(String) });
});

const IDS: Readonly<Record<string, string>> = {
  ...{ ours: BTC_ASSET, 'the other': OTHER_BTC_ID, 'the other and a space': `${OTHER_BTC_ID} ` },
  ...{ nBTC: 'nep141:nbtc.bridge.near', SOL: SOL_ASSET },
};
eachScene(`
  ours      | ours                  | accepted
  ours      | the other             | accepted
  the other | ours                  | accepted
  the other | the other             | accepted
  ours      | the other and a space | quote_signature
  ours      | nBTC                  | quote_signature
  ours      | SOL                   | quote_signature
  nBTC      | nBTC                  | quote_destination_asset
  SOL       | SOL                   | quote_destination_asset
`)('a quote signed for the BTC id %s, with the BTC id %s in its echo, is judged: %s', async (...scene) => {
  const [signed = BTC_ASSET, echoed = BTC_ASSET] = scene.map((name) => IDS[name]);
  const answer = answerTo({ ...FIRM, destinationAsset: signed }, DEPOSIT);
  const quote = { ...answer, quoteRequest: { ...answer.quoteRequest, destinationAsset: echoed } };
  for (const destinationAsset of [BTC_ASSET, OTHER_BTC_ID]) {
    const verdict = await checkQuote(quote, { ...FIRM, destinationAsset }, isSigned, NOW);
    expect(verdict.ok ? 'accepted' : verdict.reason).toBe(scene[2]);
  }
});

it('refuses BTC in place of SOL under a valid signature', async () => {
  const answer = answerTo({ ...FIRM, originAsset: BTC_ASSET }, DEPOSIT);
  expect(await checkQuote(answer, FIRM, isSigned, NOW)).toEqual({ ok: false, reason: 'quote_origin_asset' });
});
