import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { checkQuote } from '../../src/bridges/near-intents.ts';
import type { OneClickQuote, OneClickRequest } from '../../src/providers/near-intents.ts';
import { eachRow } from '../kit/scenes.ts';
import { answerTo, type Change, DEPOSIT, FIRM, isSigned, NOW, RESERVE } from './signed-quote.ts';

/** PDA("vault") of a public program: off the curve. */
const PDA = '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ';
const dry: OneClickRequest = { ...FIRM, dry: true };
const judge = (change: Change = {}, request = FIRM, now = NOW) =>
  checkQuote(answerTo(request, DEPOSIT, change), request, isSigned, now);
const minutes = (count: number): string => new Date(NOW + count * 60_000).toISOString();

describe('an honest quote', () => {
  it('accepts an honest quote and returns its figures', async () => {
    expect(await judge()).toEqual({
      ok: true,
      quote: {
        ...{ route: 'near-intents', amount: 1_000_000_000n, expectedSats: 124_375n, minimumSats: 123_753n },
        fixedFeeSats: 1_500n,
        expiresAt: Date.parse('2026-11-23T10:20:00.000Z'),
        etaSeconds: 465,
        depositAddress: DEPOSIT,
      },
    });
  });

  it('an accepted dry quote has no deposit address and no deadline', async () => {
    expect(await judge({}, dry)).toMatchObject({
      ok: true,
      quote: { depositAddress: null, expiresAt: null },
    });
    // Even if the service returns one: no payment is ever made for a dry quote.
    expect(await judge({ quote: { depositAddress: DEPOSIT } }, dry)).toMatchObject({
      quote: { depositAddress: null },
    });
  });

  eachRow<[string, Change]>(`
    unused request fields as null              | { "quoteRequest": { "virtualChainRecipient": null, "virtualChainRefundRecipient": null, "customRecipientMsg": null, "confidentiality": null, "appFees": null, "depositMode": null, "referral": null } }
    unused quote fields as null                | { "quote": { "depositMemo": null, "refundFee": null } }
    unused fields empty                        | { "quoteRequest": { "virtualChainRecipient": "", "customRecipientMsg": "", "appFees": [] }, "quote": { "depositMemo": "" } }
    a referral                                 | { "quoteRequest": { "referral": "sluice" } }
    a smaller minimum deposit                  | { "quote": { "minAmountIn": "990000000" } }
    fees of 25 basis points for the app        | { "quoteRequest": { "appFees": [{ "recipient": "a", "fee": 20 }, { "recipient": "b", "fee": 5 }] } }
    no estimate of the time                    | { "quote": { "timeEstimate": null } }
    no end other than the deadline             | { "quote": { "timeWhenInactive": null } }
    a minimum equal to the output              | { "quote": { "minAmountOut": "124375" } }
    the deadline in another spelling           | { "quoteRequest": { "deadline": "2026-11-20T11:00:02Z" } }
    an end just over a quarter of an hour away | { "quote": { "deadline": "${new Date(NOW + 900_001).toISOString()}", "timeWhenInactive": null } }
  `)('accepts an honest quote with %s', async (_name, change) => {
    expect((await judge(change)).ok).toBe(true);
  });

  it.each([
    ['1500', 1_500n],
    ['0', 0n],
    ['', 0n],
    [null, 0n],
    [undefined, 0n],
    ['-5', 0n],
    ['1.5', 0n],
    ['9'.repeat(30), 0n],
  ])('reads the fixed fee of an honest quote from the withdrawal fee %j', async (withdrawFee, fee) => {
    expect(await judge({ quote: { withdrawFee } })).toMatchObject({ quote: { fixedFeeSats: fee } });
  });
});

eachRow<[string, string, Change]>(`
  dry                                     | quote_dry               | { "quoteRequest": { "dry": true } }
  another coin in                         | quote_origin_asset      | { "quoteRequest": { "originAsset": "nep141:usdc.omft.near" } }
  another coin out                        | quote_destination_asset | { "quoteRequest": { "destinationAsset": "nep141:eth.omft.near" } }
  a foreign recipient                     | quote_recipient         | { "quoteRequest": { "recipient": "bc1qattacker" } }
  our recipient in capitals               | quote_recipient         | { "quoteRequest": { "recipient": "${FIRM.recipient.toUpperCase()}" } }
  our recipient with a space              | quote_recipient         | { "quoteRequest": { "recipient": "${FIRM.recipient} " } }
  a recipient inside the bridge           | quote_recipient         | { "quoteRequest": { "recipientType": "INTENTS" } }
  a foreign refund address                | quote_refund_address    | { "quoteRequest": { "refundTo": "${DEPOSIT}" } }
  a refund inside the bridge              | quote_refund_address    | { "quoteRequest": { "refundType": "INTENTS" } }
  a deposit inside the bridge             | quote_type              | { "quoteRequest": { "depositType": "INTENTS" } }
  a confidential deposit                  | quote_type              | { "quoteRequest": { "depositType": "CONFIDENTIAL_INTENTS" } }
  an exact output                         | quote_type              | { "quoteRequest": { "swapType": "EXACT_OUTPUT" } }
  a flexible input                        | quote_type              | { "quoteRequest": { "swapType": "FLEX_INPUT" } }
  a deposit with a memo                   | quote_deposit_mode      | { "quoteRequest": { "depositMode": "MEMO" } }
  a memo                                  | quote_deposit_mode      | { "quote": { "depositMemo": "42" } }
  a smaller requested amount              | quote_amount            | { "quoteRequest": { "amount": "999999999" } }
  a larger amount in                      | quote_amount            | { "quote": { "amountIn": "1000000001" } }
  a smaller amount in                     | quote_amount            | { "quote": { "amountIn": "999999999" } }
  a minimum deposit above the amount      | quote_amount            | { "quote": { "minAmountIn": "1000000001" } }
  the amount with a leading zero          | quote_amount            | { "quoteRequest": { "amount": "01000000000" } }
  more slippage                           | quote_slippage          | { "quoteRequest": { "slippageTolerance": 51 } }
  less slippage                           | quote_slippage          | { "quoteRequest": { "slippageTolerance": 49 } }
  a requested virtual recipient           | quote_detour            | { "quoteRequest": { "virtualChainRecipient": "0xdead" } }
  a requested virtual refund recipient    | quote_detour            | { "quoteRequest": { "virtualChainRefundRecipient": "0xdead" } }
  a requested message to the recipient    | quote_detour            | { "quoteRequest": { "customRecipientMsg": "x" } }
  a virtual recipient                     | quote_detour            | { "quote": { "virtualChainRecipient": "0xdead" } }
  a virtual refund recipient              | quote_detour            | { "quote": { "virtualChainRefundRecipient": "0xdead" } }
  a message to the recipient              | quote_detour            | { "quote": { "customRecipientMsg": "x" } }
  confidentiality                         | quote_confidentiality   | { "quoteRequest": { "confidentiality": "advanced" } }
  fees for the app over the limit         | quote_app_fees          | { "quoteRequest": { "appFees": [{ "recipient": "a", "fee": 26 }] } }
  fees that are too high only in total    | quote_app_fees          | { "quoteRequest": { "appFees": [{ "recipient": "a", "fee": 20 }, { "recipient": "b", "fee": 20 }] } }
  a negative fee                          | quote_app_fees          | { "quoteRequest": { "appFees": [{ "recipient": "a", "fee": -1 }] } }
  a high fee that a negative fee offsets  | quote_app_fees          | { "quoteRequest": { "appFees": [{ "recipient": "a", "fee": 500 }, { "recipient": "b", "fee": -490 }] } }
  no output guaranteed                    | quote_output            | { "quote": { "minAmountOut": "0" } }
  more guaranteed than expected           | quote_output            | { "quote": { "minAmountOut": "124376" } }
  another deadline of the request         | quote_deadline          | { "quoteRequest": { "deadline": "2026-11-20T10:00:03.000Z" } }
  no deadline                             | quote_deadline          | { "quote": { "deadline": null } }
  a deadline that is not a time           | quote_deadline          | { "quote": { "deadline": "soon" } }
  an inactive time that is not a time     | quote_deadline          | { "quote": { "timeWhenInactive": "later" } }
  a deadline in the past                  | quote_deadline          | { "quote": { "deadline": "${minutes(-1)}" } }
  a deadline in a quarter of an hour      | quote_deadline          | { "quote": { "deadline": "${minutes(15)}" } }
  an address that becomes inactive sooner | quote_deadline          | { "quote": { "timeWhenInactive": "${minutes(10)}" } }
  no deposit address                      | quote_deposit_address   | { "quote": { "depositAddress": null } }
  an empty deposit address                | quote_deposit_address   | { "quote": { "depositAddress": "" } }
  a Bitcoin deposit address               | quote_deposit_address   | { "quote": { "depositAddress": "${FIRM.recipient}" } }
  a deposit address with a space          | quote_deposit_address   | { "quote": { "depositAddress": "${DEPOSIT} " } }
  the account of a program                | quote_deposit_address   | { "quote": { "depositAddress": "${PDA}" } }
  our own address                         | quote_deposit_address   | { "quote": { "depositAddress": "${RESERVE}" } }
`)('refuses a newly signed quote with a changed field, %s: %s', async (_name, reason, change) => {
  expect(await judge(change)).toEqual({ ok: false, reason });
});

describe('the signature', () => {
  const honest = answerTo(FIRM, DEPOSIT);
  it.each<[string, OneClickQuote]>([
    ['a foreign key', { ...honest, signature: `ed25519:${base58.encode(new Uint8Array(64).fill(1))}` }],
    ['no signature', { ...honest, signature: '' }],
    ['one of another quote', { ...honest, signature: answerTo({ ...FIRM, amount: 2n }, DEPOSIT).signature }],
    ['another deposit address', { ...honest, quote: { ...honest.quote, depositAddress: PDA } }],
    ['another time', { ...honest, timestamp: '2026-11-20T10:00:01.105Z' }],
  ])('refuses a quote by its signature before any other check: %s', async (_name, answer) => {
    expect(await checkQuote(answer, FIRM, isSigned, NOW)).toEqual({ ok: false, reason: 'quote_signature' });
  });

  it('refuses the response to a different request', async () => {
    const theirs = answerTo({ ...FIRM, recipient: 'bc1qtheirs' }, DEPOSIT);
    expect(await checkQuote(theirs, FIRM, isSigned, NOW)).toEqual({ ok: false, reason: 'quote_recipient' });
  });
});
