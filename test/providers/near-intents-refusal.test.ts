import { expect, it } from 'vitest';
import { refusalOf } from '../../src/providers/near-intents-refusal.ts';
import { eachResult, eachText } from '../kit/scenes.ts';

const ASKED = 1_000_000_000n;
const read = (text: string, status = 400) => refusalOf({ status, headers: new Headers(), text }, ASKED);
const refused = (body: unknown, status = 400) => read(JSON.stringify(body), status);

eachResult(`
  amount_too_low | Amount is too low for bridge, try at least 1264000
    | Temporary swap limits: minimum swap amount is $1,000 | AMOUNT TOO SMALL
    | The amount must be at least 0.05 SOL | Amount is less than the withdrawal fee
    | amount must be greater than 5 | amount should be no less than 5 | Amount does not exceed the minimum
    | The withdrawal fee is greater than the amount | Amount is below the minimum (maximum 100 SOL)
    | Amount must be between 2 SOL and 100 SOL | Quoting for amounts below $10 is paused | AMOUNT_TOO_LOW
  amount_too_high | amount exceeds the maximum | Amount is too large, try at most 5000
    | Amount exceeds the maximum of the recipient | amount must be less than 50 SOL
    | The amount cannot be greater than 50 SOL | Please keep the amount under 50 SOL
    | Amount must be between 0.05 SOL and 0.5 SOL | amount is not less than the maximum
    | Swaps above $1,000 are temporarily not available
  no_route | No liquidity available | Failed to get quote | Quote error. NO_QUOTE | no route found
    | Liquidity is too low for the requested amount | at least 2 solvers must respond, no quotes
    | Price impact is too high | All solvers declined | We couldn't find a quote for this swap
    | INSUFFICIENT_LIQUIDITY
  pair_paused | Quoting for this pair is not available | This pair is temporarily disabled
    | Swaps are paused for maintenance | SOL -> BTC is currently unavailable
    | tokenOut is temporarily not supported | TRADING_DISABLED
  request_invalid | tokenIn is not valid | tokenOut is not valid | recipient is not valid
    | refundTo is not valid | slippageTolerance must not be less than 0
    | deadline must be a valid ISO 8601 date string | originAsset should not be empty | Invalid request body
    | Bad Request | Unsupported destinationAsset | deadline is too short, at least 60 s
    | appFees exceed the maximum | property foo should not exist | The recipient is on a sanctions list
    | Unknown asset nep141:sol.omft.near | Your API key has been revoked | amount must be greater than 0
    | quoteWaitingTimeMs must not be greater than 20000
  bridge_refused | Invalid amount | The moon is in the wrong phase
`)('the text "%s" means %s, as message or error, alone or in a list', (text, reason) => {
  const nested = { error: { code: 400, errors: [{ detail: text }] } };
  const nest = { message: text, error: 'Bad Request', statusCode: 400, path: '/v0/quote' };
  const bodies = [{ message: text }, { message: [text] }, { error: text }, { errors: [text] }, nested, nest];
  for (const body of bodies) expect(refused(body)).toMatchObject({ reason, text });
  expect(refused({ message: text }, 422)).toMatchObject({ reason });
  expect(refused({ message: text.toUpperCase() })).toMatchObject({ reason });
});

eachResult(`
  lamports 1_264_000n | try at least 1264000 | try at least 1,264,000. | try at least 1 264 000 please
    | try at least 1264000 lamports | must be >= 1'264'000 lamports | amount must be more than 1_264_000
    | Amount is too low (got 1000, min 1264000)
  lamports 50_000_000n | minimum SOL amount is 0.05 | minimum is 0.05 SOL
  microUsd 20_000_000n | minimum USD value is 20 | minimum of USD 20
  microUsd 6_600_000n | the minimum for BTC is US$ 6.60 | minimum swap amount: 6.60 USD
  microUsd 1_000_000_000n | Minimum swap amount is $1,000
`)('the text "%s" names a minimum of %s', (text, least) => {
  const { unit, value } = refused({ message: text })?.least ?? {};
  expect(`${unit} ${value}n`).toBe(least.replaceAll('_', ''));
});

eachText(`
  Amount is too low | minimum of $1k | minimum 1.264e6 | try at least 0.0001 BTC | try at least 0
  try at least 0.05 | minimum 20.5 EUR | at least 1264000 zatoshis | minimum 0,05 SOL | at least 1.264.000
  minimum amountOut is 5000000000 | the minimum is 10 sats
`)('the text "%s" names no amount of the origin asset', (text) => {
  expect(refused({ message: text })).toMatchObject({ reason: 'amount_too_low' });
  expect(refused({ message: text })?.least).toBeUndefined();
});

eachText(`
  Internal server error | DEADLINE_EXCEEDED | timeout of 5000ms exceeded
  Too many requests, at most 10 per minute | Rate limit exceeded | Service temporarily unavailable
  Please try again later | An unexpected error occurred
`)('the text "%s" is a failure, not a refusal', (text) => {
  expect(refused({ message: text })).toBeUndefined();
});

it.each(['', '{}', 'null', '<html>No liquidity</html>', 'error code: 1015'])(
  'the body "%s" is a failure, not a refusal',
  (text) => {
    expect(read(text)).toBeUndefined();
  },
);

it('a known message is a refusal as plain text and with status 401 or 403; "Not Found" with 404 is a failure', () => {
  expect(read('No liquidity available')).toMatchObject({ reason: 'no_route' });
  expect(refused({ message: 'Unauthorized' }, 401)).toMatchObject({ reason: 'request_invalid' });
  expect(refused({ message: 'The pair is paused' }, 403)).toMatchObject({ reason: 'pair_paused' });
  expect(refused({ message: 'Not Found' }, 404)).toBeUndefined();
});

it.each([
  [404, '{"message":"Cannot POST /v0/quote","error":"Not Found","statusCode":404}'],
  [404, '{"message":"no Route matched with those values"}'],
  [403, 'Forbidden'],
])('a response %i "%s" of a proxy is a failure, not a refusal', (status, text) => {
  expect(read(text, status)).toBeUndefined();
});

it('a message about a too low amount is a refusal, even with an error code', () => {
  const body = { message: 'Amount is too low for bridge, try at least 8516130', code: 'UPSTREAM_ERROR' };
  expect(refused(body)).toMatchObject({ reason: 'amount_too_low', least: { value: 8_516_130n } });
});

it('reads only the first of 200,000 messages in a body', () => {
  const errors = Array.from({ length: 200_000 }, (_, n) => (n === 0 ? 'Amount is too low' : `text ${n}`));
  expect(refused({ errors })?.text).toHaveLength(300);
});

it.each([200, 201, 408, 429, 500, 503])('a response with status %i is not a refusal', (status) => {
  expect(refused({ message: 'No liquidity available' }, status)).toBeUndefined();
});
