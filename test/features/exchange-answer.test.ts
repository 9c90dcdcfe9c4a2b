/** Whether the response to a create call belongs to the ordered exchange, so that no caller pays into a different one. */
import { expect, it } from 'vitest';
import { mismatch } from '../../src/features/exchange/create-exchange.ts';
import type { CreatedExchange, ExchangeOrder } from '../../src/providers/changenow.ts';

const SOL = { ticker: 'sol', network: 'sol' };
const BTC = { ticker: 'btc', network: 'btc' };
const order = (payoutAddress: string): ExchangeOrder => ({
  from: SOL,
  to: BTC,
  amount: 500_000_000_000_000_000n,
  payoutAddress,
});
const created = (payoutAddress: string, over: Partial<CreatedExchange> = {}): CreatedExchange => ({
  ...{ id: 'x', fromCurrency: 'sol', fromNetwork: 'sol', toCurrency: 'btc', toNetwork: 'btc' },
  ...{ fromAmount: 500_000_000_000_000_000n, toAmount: null, payinAddress: 'payin', payinExtraId: null },
  payoutAddress,
  ...over,
});

const BECH32 = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const BASE58 = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';

it.each([
  ['the same text', SOLANA, SOLANA],
  ['bech32, which may be written in either case', BECH32, BECH32.toUpperCase()],
  ['bech32 that was ordered in upper case', BECH32.toUpperCase(), BECH32],
  ['hex with and without its checksum', EVM, EVM.toLowerCase()],
  ['hex that got a checksum', EVM.toLowerCase(), EVM],
  ['hex behind another prefix', EVM.replace('0x', 'xdc'), EVM.replace('0x', 'xdc').toLowerCase()],
])('treats two address texts as equal: %s', (_name, ordered, answered) => {
  expect(mismatch(order(ordered), created(answered))).toBeUndefined();
});

it.each([
  ['a Solana address in lower case', SOLANA, SOLANA.toLowerCase()],
  ['a Solana address with one letter in the other case', SOLANA, SOLANA.replace('Np', 'np')],
  ['a base58 Bitcoin address in lower case', BASE58, BASE58.toLowerCase()],
  ['bech32 in mixed case', BECH32, BECH32.replace('w508d', 'W508D')],
  ['another address', BECH32, BECH32.replace('w508d', 'w508e')],
  ['hex of another value', EVM, EVM.replace('Aed', 'Aee')],
])('treats two address texts as different: %s', (_name, ordered, answered) => {
  expect(mismatch(order(ordered), created(answered))).toBe('payout_address');
});

it.each([
  ['amount', { fromAmount: 500_000_000_000_001_000n }],
  ['from', { fromNetwork: 'eth' }],
  ['from', { fromCurrency: 'usdt' }],
  ['to', { toNetwork: 'bsc' }],
  ['to', { toCurrency: 'eth' }],
])('rejects a provider response with a different value of "%s": %o', (member, over) => {
  expect(mismatch(order(BECH32), created(BECH32, over))).toBe(member);
});

it('accepts a provider amount that differs only by the rounding of a double', () => {
  const exact = { ...order(BECH32), amount: 123_456_789_012_345_678n };
  const rounded = { fromAmount: 123_456_789_012_345_680n };
  expect(mismatch(exact, created(BECH32, rounded))).toBeUndefined();
});
