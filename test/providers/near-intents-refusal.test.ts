import { expect, it } from 'vitest';
import { refusalOf } from '../../src/providers/near-intents-refusal.ts';

const refused = (body: unknown, status = 400) =>
  refusalOf({ status, headers: new Headers(), text: JSON.stringify(body) });

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
  ['The moon is in the wrong phase', 'bridge_refused'],
])('the text "%s" means %s, as message or error, alone or in a list', (text, reason) => {
  for (const body of [{ message: text }, { message: [text] }, { error: text }, { error: { message: text } }])
    expect(refused(body)).toMatchObject({ reason, text });
  expect(refused({ message: text }, 422)).toMatchObject({ reason });
  expect(refused({ message: text.toUpperCase() })).toMatchObject({ reason });
});

it.each<[string, string, bigint]>([
  ['try at least 1264000', 'lamports', 1_264_000n],
  ['try at least 1,264,000.', 'lamports', 1_264_000n],
  ['try at least 1 264 000 please', 'lamports', 1_264_000n],
  ['try at least 1264000 lamports', 'lamports', 1_264_000n],
  ['try at least 0.05', 'lamports', 50_000_000n],
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
  'the minimum is 10 sats',
])('the text "%s" names no amount of the origin asset', (text) => {
  expect(refused({ message: text })).toMatchObject({ reason: 'amount_too_low' });
  expect(refused({ message: text })?.least).toBeUndefined();
});

it.each([200, 201, 401, 403, 404, 429, 500, 503])('a response with status %i is not a refusal', (status) => {
  expect(refused({ message: 'No liquidity available' }, status)).toBeUndefined();
});
