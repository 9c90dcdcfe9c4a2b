import { describe, expect, it } from 'vitest';
import type { Fetch } from '../../src/providers/http.ts';
import { createPriceVenues, VENUE_NAMES, type VenueName } from '../../src/providers/price-venues.ts';
import { eachScene } from '../kit/scenes.ts';
import { transport } from '../kit/transport.ts';
import { createPriceBook, PRICE_HANDLERS } from '../world/price-venues.ts';
import { replay } from './replay.ts';

const BASE = 'https://venue.test';
const readFrom = async (name: VenueName, fetch: Fetch) =>
  createPriceVenues({ [name]: BASE }, fetch)[0]?.read();
const KRAKEN = `GET ${BASE}/0/public/Ticker?pair=XBTUSD,SOLUSD`;
const INFO = `POST ${BASE}/info`;
const SPOT = (pair: string) => `GET ${BASE}/v2/prices/${pair}/spot`;
const PRICE = { btcUsd: 80_868_500_000n, solUsd: 101_240_000n };

describe.each(VENUE_NAMES)('%s', (name) => {
  it('the venue returns the prices of both coins in millionths of a dollar', async () => {
    const book = createPriceBook({ BTC: '80868.5', SOL: '101.24' });
    const simulated = transport((request) => PRICE_HANDLERS[name](book, request));
    expect(await readFrom(name, simulated)).toEqual({ source: name, ...PRICE });
  });
});

const pair = (last: string) => ({
  ...{ a: ['1', '1', '1'], b: ['1', '2', '2'], c: [last, '0.01'], v: ['1', '2'] },
});
const spot = (amount: unknown) => JSON.stringify({ data: { amount, base: 'X', currency: 'USD' } });
const kraken = (name: string, btc: string, sol: string, error: string[] = []) =>
  JSON.stringify({ error, result: { [name]: pair(btc), SOLUSD: pair(sol) } });
const PRICES = '80868500000 101240000';

/** The responses of a venue, two for Coinbase, and the prices in millionths of a dollar, or the reason why there are none. */
eachScene(`
  reads the mid prices of both perpetuals among hundreds of coins  | hyperliquid | {"BTC":"80868.5","SOL":"101.24","@142":"1","PURR/USDC":"0.0671"} | ${PRICES}
  refuses a price of hyperliquid that is a number instead of text  | hyperliquid | {"BTC":80868.5,"SOL":101.24}   | unexpected_shape
  refuses a response of hyperliquid without one of the coins       | hyperliquid | {"BTC":"80868.5"}              | unexpected_shape
  refuses a price of zero from hyperliquid                         | hyperliquid | {"BTC":"0","SOL":"101.24"}     | no_price
  refuses an empty price from hyperliquid                          | hyperliquid | {"BTC":"80868.5","SOL":""}     | no_price
  refuses a price with an exponent from hyperliquid                | hyperliquid | {"BTC":"8e4","SOL":"101.24"}   | no_price
  refuses the prices of coinbase if one pair fails                 | coinbase | ${spot('80868.5')} and 404             | status_404
  refuses a price of coinbase that is a number instead of text     | coinbase | ${spot(80_868.5)} and ${spot('101.24')} | unexpected_shape
  refuses a price of zero from coinbase                            | coinbase | ${spot('80868.5')} and ${spot('0')}    | no_price
  refuses a negative price from coinbase                           | coinbase | ${spot('-1')} and ${spot('101.24')}    | no_price
  refuses a response of coinbase without data                      | coinbase | {} and ${spot('1')}                    | unexpected_shape
  reads the Kraken pair XBTUSD under its long name                 | kraken | ${kraken('XXBTZUSD', '80868.50000', '101.24')} | ${PRICES}
  reads the Kraken pair XBTUSD under the name that was requested   | kraken | ${kraken('XBTUSD', '80868.50000', '101.24')} | ${PRICES}
  refuses a response of kraken with errors under status 200        | kraken | {"error":["EQuery:Unknown asset pair"]} | refused
  refuses a response of kraken with an error beside a result       | kraken | ${kraken('XXBTZUSD', '1', '1', ['EAPI:Rate limit exceeded'])} | refused
  refuses a response of kraken without one of the pairs            | kraken | {"error":[],"result":{"XXBTZUSD":${JSON.stringify(pair('80868.5'))}}} | no_price
  refuses a price of zero from kraken                              | kraken | ${kraken('XXBTZUSD', '80868.5', '0')}    | no_price
  refuses a response of kraken without a result                    | kraken | {"error":[]}                           | no_price
  refuses a response of kraken with an empty last trade            | kraken | {"error":[],"result":{"XXBTZUSD":{"c":[]},"SOLUSD":${JSON.stringify(pair('1'))}}} | unexpected_shape
  refuses a response of kraken without a list of errors            | kraken | {"result":{}}                          | unexpected_shape
`)('%s', async (_title, venue = '', responses = '', expected) => {
  const bodies = responses.split(' and ').map((body) => (body === '404' ? { status: 404, body } : { body }));
  const [first = { body: '' }, second = first] = bodies;
  const { fetch, requests } = replay({
    [INFO]: first,
    [KRAKEN]: first,
    [SPOT('BTC-USD')]: first,
    [SPOT('SOL-USD')]: second,
  });
  const read = await readFrom(venue as VenueName, fetch).then(
    (price) => `${price?.btcUsd} ${price?.solUsd}`,
    ({ details }) => {
      expect(details.upstream).toBe(venue);
      return details.reason;
    },
  );
  expect(read).toBe(expected);
  if (venue === 'hyperliquid') expect(requests[0]?.body).toEqual({ type: 'allMids' });
});
