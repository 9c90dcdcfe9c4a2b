import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/providers/http.ts';
import { createPriceVenues, VENUE_NAMES, type VenueName } from '../../src/providers/price-venues.ts';
import { eachRow } from '../kit/scenes.ts';
import { transport } from '../kit/transport.ts';
import { createPriceBook, PRICE_HANDLERS } from '../world/price-venues.ts';
import { type Recorded, replay } from './replay.ts';

const BASE = 'https://venue.test';
const readFrom = async (name: VenueName, fetch: Fetch) =>
  createPriceVenues({ [name]: BASE }, fetch)[0]?.read();
const KRAKEN = `GET ${BASE}/0/public/Ticker?pair=XBTUSD,SOLUSD`;
const INFO = `POST ${BASE}/info`;
const SPOT = (pair: string) => `GET ${BASE}/v2/prices/${pair}/spot`;
const PRICE = { btcUsd: 80_868_500_000n, solUsd: 101_240_000n };

describe.each(VENUE_NAMES)('%s', (name) => {
  /** The simulator of the venue, whose shapes are those of production. */
  const simulated = (change: (text: string) => string): Fetch =>
    transport((request) => {
      const answer = PRICE_HANDLERS[name](createPriceBook({ BTC: '80868.5', SOL: '101.24' }), request);
      return { ...answer, body: change(answer.body) };
    });

  it('the venue returns the prices of both coins in millionths of a dollar', async () => {
    const same = simulated((text) => text);
    expect(await readFrom(name, same)).toEqual({ source: name, ...PRICE });
  });

  it.each([
    ['no price', (text: string) => text.replaceAll('80868.5', '')],
    ['a price of zero', (text: string) => text.replaceAll('101.24', '0')],
    ['an empty object', () => '{}'],
  ])('the error after %s names the venue', async (_name, change) => {
    const failure = { code: 'UPSTREAM_FAILED', details: { upstream: name } };
    await expect(readFrom(name, simulated(change))).rejects.toMatchObject(failure);
  });
});

describe('hyperliquid', () => {
  const read = (answer: Recorded | Error) => {
    const { fetch, requests } = replay({ [INFO]: answer });
    return { price: readFrom('hyperliquid', fetch), requests };
  };

  it('reads the mid prices of both perpetuals among hundreds of coins', async () => {
    const body = { BTC: '80868.5', SOL: '101.24', '@142': '1', 'PURR/USDC': '0.0671' };
    const { price, requests } = read({ body });
    expect(await price).toEqual({ source: 'hyperliquid', ...PRICE });
    expect(requests[0]).toMatchObject({ method: 'POST', body: { type: 'allMids' } });
  });

  eachRow<[name: string, body: object, reason: string]>(`
    a number instead of text | { "BTC": 80868.5, "SOL": 101.24 } | unexpected_shape
    one coin missing         | { "BTC": "80868.5" }              | unexpected_shape
    zero                     | { "BTC": "0", "SOL": "101.24" }   | no_price
    an empty price           | { "BTC": "80868.5", "SOL": "" }   | no_price
    an exponent              | { "BTC": "8e4", "SOL": "101.24" } | no_price
  `)('hyperliquid gives no price: %s', async (_name, body, reason) => {
    await expect(read({ body }).price).rejects.toMatchObject({
      details: { upstream: 'hyperliquid', reason },
    });
  });
});

describe('coinbase', () => {
  const spot = (amount: unknown): Recorded => ({ body: { data: { amount, base: 'X', currency: 'USD' } } });
  const read = (btc: Recorded | Error, sol: Recorded | Error) => {
    const { fetch } = replay({ [SPOT('BTC-USD')]: btc, [SPOT('SOL-USD')]: sol });
    return readFrom('coinbase', fetch);
  };

  it('each Coinbase pair is requested separately', async () => {
    expect(await read(spot('80868.5'), spot('101.24'))).toEqual({ source: 'coinbase', ...PRICE });
  });

  const missing = { status: 404, body: { errors: [{ id: 'not_found' }] } };
  it.each<[string, Recorded, Recorded, string]>([
    ['one pair fails', spot('80868.5'), missing, 'status_404'],
    ['an amount as a number', spot(80_868.5), spot('101.24'), 'unexpected_shape'],
    ['a negative amount', spot('-1'), spot('101.24'), 'no_price'],
    ['no data', { body: {} }, spot('1'), 'unexpected_shape'],
  ])('coinbase gives no price: %s', async (_name, btc, sol, reason) => {
    await expect(read(btc, sol)).rejects.toMatchObject({ details: { reason } });
  });
});

describe('kraken', () => {
  const pair = (last: string) => ({
    ...{ a: ['1', '1', '1'], b: ['1', '2', '2'], c: [last, '0.01'], v: ['1', '2'] },
  });
  const read = (answer: Recorded | Error) => readFrom('kraken', replay({ [KRAKEN]: answer }).fetch);

  it.each(['XXBTZUSD', 'XBTUSD'])(
    'reads the Kraken pair XBTUSD under its name in the response, %s',
    async (name) => {
      const body = { error: [], result: { [name]: pair('80868.50000'), SOLUSD: pair('101.24') } };
      expect(await read({ body })).toEqual({ source: 'kraken', ...PRICE });
    },
  );

  const both = { XXBTZUSD: pair('1'), SOLUSD: pair('1') };
  it.each<[string, object, string]>([
    ['errors with status 200', { error: ['EQuery:Unknown asset pair'] }, 'refused'],
    ['an error together with a result', { error: ['EAPI:Rate limit exceeded'], result: both }, 'refused'],
    ['one pair missing', { error: [], result: { XXBTZUSD: pair('80868.5') } }, 'no_price'],
    ['no result', { error: [] }, 'no_price'],
    ['an empty last trade', { error: [], result: { ...both, XXBTZUSD: { c: [] } } }, 'unexpected_shape'],
    ['no list of errors', { result: {} }, 'unexpected_shape'],
  ])('kraken gives no price: %s', async (_name, body, reason) => {
    await expect(read({ body })).rejects.toMatchObject({ details: { upstream: 'kraken', reason } });
  });
});
