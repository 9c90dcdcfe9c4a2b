import { expect, it } from 'vitest';
import { getExchangeStatus, publicStatus } from '../../src/features/exchange/get-exchange-status.ts';
import { Cache } from '../../src/http/cached.ts';
import type { ExchangeState, Read } from '../../src/providers/changenow.ts';
import { eachResult } from '../kit/scenes.ts';

const COIN = 10n ** 18n;
const STATE: ExchangeState = {
  ...{ id: 'a1b2', status: 'exchanging' },
  ...{ fromCurrency: 'sol', fromNetwork: 'sol', toCurrency: 'btc', toNetwork: 'btc' },
  ...{ expectedAmountFrom: COIN / 2n, expectedAmountTo: COIN / 1000n, amountFrom: null, amountTo: null },
  ...{ payinAddress: 'payin', payinExtraId: null, payinHash: null, payoutHash: null, refundHash: null },
};

function over(answer: () => Read<ExchangeState>) {
  const memory = new Cache({ now: () => 0, defer: () => undefined });
  const deps = { memory, changenow: { status: async () => answer() } };
  return { read: (id = 'a1b2') => getExchangeStatus(deps, id) };
}
const withState = (change: Partial<ExchangeState>) =>
  over(() => ({ ok: true, value: { ...STATE, ...change } })).read();

eachResult(`
  waiting  | new | waiting
  pending  | confirming | exchanging | sending | verifying | overdue | FINISHED | | constructor
  finished | finished
  failed   | failed
  refunded | refunded
  expired  | expired
`)("maps the provider's state %j to %s", (state, status) => {
  expect(publicStatus(state)).toBe(status);
});

it('shows an exchange that the provider holds as pending, with hold: true', async () => {
  const held = { status: 'pending', providerStatus: 'verifying', hold: true };
  expect(await withState({ status: 'verifying' })).toMatchObject(held);
  expect(await withState({ status: 'exchanging' })).toMatchObject({ hold: false });
});

it('shows a malformed provider state as unknown and does not pass it on', async () => {
  const unknown = { status: 'pending', providerStatus: 'unknown' };
  expect(await withState({ status: '<b>pay here</b>' })).toMatchObject(unknown);
});

it('shows the expected SOL until SOL is received, then the received SOL; sats only once they are paid out', async () => {
  expect(await withState({})).toMatchObject({ amountSol: 0.5, btcSats: null, expectedAmountTo: '0.001' });
  expect(await withState({ amountFrom: COIN / 4n, amountTo: 62_112_345_678_901n })).toMatchObject({
    amountSol: 0.25,
    btcSats: 6211,
    amountTo: '0.000062112345678901',
  });
});

it.each([
  ['another coin', { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'eth', toNetwork: 'eth' }],
  ['the coin on another chain', { fromNetwork: 'bsc', toNetwork: 'bsc' }],
])('returns null for amountSol and btcSats when the exchange uses %s', async (_name, assets) => {
  const unknown = { amountSol: null, btcSats: null, amountFrom: '1', amountTo: '1' };
  expect(await withState({ ...assets, amountFrom: COIN, amountTo: COIN })).toMatchObject(unknown);
});

eachResult(`
  NOT_FOUND       | not_found | transaction_not_found | not_valid_id | status_404
  UPSTREAM_FAILED | status_403 | rate_limited
  NOT_CONFIGURED  | invalid_api_key
`)("maps the provider's refusal %s to %s", async (code, errorCode) => {
  await expect(over(() => ({ ok: false, code })).read()).rejects.toMatchObject({ code: errorCode });
});

it('treats a response about another exchange as a failure of the provider', async () => {
  await expect(over(() => ({ ok: true, value: STATE })).read('other')).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
  });
});
