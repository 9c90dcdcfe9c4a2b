import { expect, it } from 'vitest';
import { refusalOf } from '../../src/providers/near-intents-refusal.ts';

const ASKED = 1_000_000_000n;
const read = (text: string, status = 400) => refusalOf({ status, headers: new Headers(), text }, ASKED);
const refused = (body: unknown, status = 400) => read(JSON.stringify(body), status);

it.each([
  ['Amount is too low for bridge, try at least 1264000', 'amount_too_low'],
  ['Temporary swap limits: minimum swap amount is $1,000', 'amount_too_low'],
  ['AMOUNT TOO SMALL', 'amount_too_low'],
  ['The amount must be at least 0.05 SOL', 'amount_too_low'],
  ['amount exceeds the maximum', 'amount_too_high'],
  ['Amount is too large, try at most 5000', 'amount_too_high'],
  ['No liquidity available', 'no_route'],
  ['Failed to get quote', 'no_route'],
  ['Quote error. NO_QUOTE', 'no_route'],
  ['no route found', 'no_route'],
  ['Quoting for this pair is not available', 'pair_paused'],
  ['This pair is temporarily disabled', 'pair_paused'],
  ['Swaps are paused for maintenance', 'pair_paused'],
  ['tokenIn is not valid', 'request_invalid'],
  ['tokenOut is not valid', 'request_invalid'],
  ['recipient is not valid', 'request_invalid'],
  ['refundTo is not valid', 'request_invalid'],
  ['slippageTolerance must not be less than 0', 'request_invalid'],
  ['deadline must be a valid ISO 8601 date string', 'request_invalid'],
  ['originAsset should not be empty', 'request_invalid'],
  ['Invalid request body', 'request_invalid'],
  ['Bad Request', 'request_invalid'],
  ['Unsupported destinationAsset', 'request_invalid'],
  ['deadline is too short, at least 60 s', 'request_invalid'],
  ['appFees exceed the maximum', 'request_invalid'],
  ['property foo should not exist', 'request_invalid'],
  ['The recipient is on a sanctions list', 'request_invalid'],
  ['Amount is less than the withdrawal fee', 'amount_too_low'],
  ['Amount exceeds the maximum of the recipient', 'amount_too_high'],
  ['amount must be less than 50 SOL', 'amount_too_high'],
  ['The amount cannot be greater than 50 SOL', 'amount_too_high'],
  ['Please keep the amount under 50 SOL', 'amount_too_high'],
  ['Amount must be between 0.05 SOL and 0.5 SOL', 'amount_too_high'],
  ['amount is not less than the maximum', 'amount_too_high'],
  ['Swaps above $1,000 are temporarily not available', 'amount_too_high'],
  ['amount must be greater than 5', 'amount_too_low'],
  ['amount should be no less than 5', 'amount_too_low'],
  ['Amount does not exceed the minimum', 'amount_too_low'],
  ['The withdrawal fee is greater than the amount', 'amount_too_low'],
  ['Amount is below the minimum (maximum 100 SOL)', 'amount_too_low'],
  ['Amount must be between 2 SOL and 100 SOL', 'amount_too_low'],
  ['Quoting for amounts below $10 is paused', 'amount_too_low'],
  ['AMOUNT_TOO_LOW', 'amount_too_low'],
  ['Liquidity is too low for the requested amount', 'no_route'],
  ['at least 2 solvers must respond, no quotes', 'no_route'],
  ['Price impact is too high', 'no_route'],
  ['All solvers declined', 'no_route'],
  ["We couldn't find a quote for this swap", 'no_route'],
  ['INSUFFICIENT_LIQUIDITY', 'no_route'],
  ['SOL -> BTC is currently unavailable', 'pair_paused'],
  ['tokenOut is temporarily not supported', 'pair_paused'],
  ['TRADING_DISABLED', 'pair_paused'],
  ['Unknown asset nep141:sol.omft.near', 'request_invalid'],
  ['Your API key has been revoked', 'request_invalid'],
  ['amount must be greater than 0', 'request_invalid'],
  ['quoteWaitingTimeMs must not be greater than 20000', 'request_invalid'],
  ['Invalid amount', 'bridge_refused'],
  ['The moon is in the wrong phase', 'bridge_refused'],
])('the text "%s" means %s, as message or error, alone or in a list', (text, reason) => {
  const nested = { error: { code: 400, errors: [{ detail: text }] } };
  const nest = { message: text, error: 'Bad Request', statusCode: 400, path: '/v0/quote' };
  for (const body of [
    { message: text },
    { message: [text] },
    { error: text },
    { errors: [text] },
    nested,
    nest,
  ])
    expect(refused(body)).toMatchObject({ reason, text });
  expect(refused({ message: text }, 422)).toMatchObject({ reason });
  expect(refused({ message: text.toUpperCase() })).toMatchObject({ reason });
});

it.each<[string, string, bigint]>([
  ['try at least 1264000', 'lamports', 1_264_000n],
  ['try at least 1,264,000.', 'lamports', 1_264_000n],
  ['try at least 1 264 000 please', 'lamports', 1_264_000n],
  ['try at least 1264000 lamports', 'lamports', 1_264_000n],
  ["must be >= 1'264'000 lamports", 'lamports', 1_264_000n],
  ['amount must be more than 1_264_000', 'lamports', 1_264_000n],
  ['Amount is too low (got 1000, min 1264000)', 'lamports', 1_264_000n],
  ['minimum SOL amount is 0.05', 'lamports', 50_000_000n],
  ['minimum USD value is 20', 'microUsd', 20_000_000n],
  ['the minimum for BTC is US$ 6.60', 'microUsd', 6_600_000n],
  ['minimum is 0.05 SOL', 'lamports', 50_000_000n],
  ['Minimum swap amount is $1,000', 'microUsd', 1_000_000_000n],
  ['minimum swap amount: 6.60 USD', 'microUsd', 6_600_000n],
  ['minimum of USD 20', 'microUsd', 20_000_000n],
])('the text "%s" names a minimum in %s', (text, unit, value) => {
  expect(refused({ message: text })?.least).toEqual({ unit, value });
});

it.each([
  'Amount is too low',
  'minimum of $1k',
  'minimum 1.264e6',
  'try at least 0.0001 BTC',
  'try at least 0',
  'try at least 0.05',
  'minimum 20.5 EUR',
  'at least 1264000 zatoshis',
  'minimum 0,05 SOL',
  'at least 1.264.000',
  'minimum amountOut is 5000000000',
  'the minimum is 10 sats',
])('the text "%s" names no amount of the origin asset', (text) => {
  expect(refused({ message: text })).toMatchObject({ reason: 'amount_too_low' });
  expect(refused({ message: text })?.least).toBeUndefined();
});

it.each([
  'Internal server error',
  'DEADLINE_EXCEEDED',
  'timeout of 5000ms exceeded',
  'Too many requests, at most 10 per minute',
  'Rate limit exceeded',
  'Service temporarily unavailable',
  'Please try again later',
  'An unexpected error occurred',
])('the text "%s" is a failure, not a refusal', (text) => {
  expect(refused({ message: text })).toBeUndefined();
});

it.each(['', '{}', 'null', '<html>No liquidity</html>', 'error code: 1015'])(
  'the body "%s" is a failure, not a refusal',
  (text) => {
    expect(read(text)).toBeUndefined();
  },
);

it('a known text is a refusal as plain text and under status 401 or 403; "Not Found" under 404 is a failure', () => {
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

it('an amount that is too low is a refusal, even with a code that names an error', () => {
  const body = { message: 'Amount is too low for bridge, try at least 8516130', code: 'UPSTREAM_ERROR' };
  expect(refused(body)).toMatchObject({ reason: 'amount_too_low', least: { value: 8_516_130n } });
});

it('reads only the first texts of a body that has 200,000', () => {
  const errors = Array.from({ length: 200_000 }, (_, n) => (n === 0 ? 'Amount is too low' : `text ${n}`));
  expect(refused({ errors })?.text).toHaveLength(300);
});

it.each([200, 201, 408, 429, 500, 503])('a response with status %i is not a refusal', (status) => {
  expect(refused({ message: 'No liquidity available' }, status)).toBeUndefined();
});
