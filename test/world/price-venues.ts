/** The price venues: what each one shows, and its response in the shape of production. */
import type { Fetch } from '../../src/providers/http.ts';
import { VENUE_NAMES, type VenueName } from '../../src/providers/price-venues.ts';
import { type Answer, json, text, transport, type WorldRequest } from '../kit/transport.ts';

export type Coin = 'BTC' | 'SOL';

/** US dollars as decimal text. */
export type UsdPrices = Record<Coin, string>;

export interface PriceBook {
  /** The price of a venue, or the world's price without a venue. */
  price(coin: Coin, venue?: VenueName): string;
  /** Changes prices at all venues, or at one only. */
  set(prices: Partial<UsdPrices>, venue?: VenueName): void;
}

export function createPriceBook(initial: UsdPrices): PriceBook {
  const world: UsdPrices = { ...initial };
  const own = new Map<VenueName, Partial<UsdPrices>>();
  return {
    price: (coin, venue) => (venue === undefined ? undefined : own.get(venue)?.[coin]) ?? world[coin],
    set(prices, venue) {
      if (venue !== undefined) return void own.set(venue, { ...own.get(venue), ...prices });
      Object.assign(world, prices);
      own.clear();
    },
  };
}

function hyperliquid(prices: PriceBook, request: WorldRequest): Answer {
  if (request.method !== 'POST' || request.path !== '/info') return text(404, 'Not Found');
  if (!request.headers['content-type']?.startsWith('application/json'))
    return text(415, 'Expected request with `Content-Type: application/json`');
  let type: unknown;
  try {
    type = (JSON.parse(request.body) as { type?: unknown }).type;
  } catch {
    return text(422, 'Failed to deserialize the JSON body into the target type');
  }
  if (type !== 'allMids') return text(422, 'Failed to deserialize the JSON body into the target type');
  return json(200, {
    BTC: prices.price('BTC', 'hyperliquid'),
    ETH: '2296.45',
    SOL: prices.price('SOL', 'hyperliquid'),
    'PURR/USDC': '0.0671',
    '@142': prices.price('BTC', 'hyperliquid'),
  });
}

const isCoin = (text: string | undefined): text is Coin => text === 'BTC' || text === 'SOL';

function coinbase(prices: PriceBook, { method, path }: WorldRequest): Answer {
  const pair = /^\/v2\/prices\/([A-Z]+)-USD\/spot$/.exec(path);
  if (method !== 'GET' || pair === null)
    return json(404, { errors: [{ id: 'not_found', message: 'Not found' }] });
  const base = pair[1];
  if (!isCoin(base)) return json(404, { errors: [{ id: 'not_found', message: 'Invalid base currency' }] });
  return json(200, { data: { amount: prices.price(base, 'coinbase'), base, currency: 'USD' } });
}

const KRAKEN_PAIRS: Record<string, { key: string; coin: Coin }> = {
  XBTUSD: { key: 'XXBTZUSD', coin: 'BTC' },
  XXBTZUSD: { key: 'XXBTZUSD', coin: 'BTC' },
  SOLUSD: { key: 'SOLUSD', coin: 'SOL' },
};

// As in production, an error has status 200, and XBTUSD is returned under its other name.
function kraken(prices: PriceBook, { path, query }: WorldRequest): Answer {
  if (path !== '/0/public/Ticker') return json(200, { error: ['EGeneral:Unknown method'] });
  const result: Record<string, unknown> = {};
  for (const name of (query.get('pair') ?? '').split(',')) {
    const pair = KRAKEN_PAIRS[name];
    if (pair === undefined) return json(200, { error: ['EQuery:Unknown asset pair'] });
    const price = prices.price(pair.coin, 'kraken');
    result[pair.key] = {
      a: [price, '1', '1.000'],
      b: [price, '2', '2.000'],
      c: [price, '0.010'],
      v: ['120.1', '900.2'],
      p: [price, price],
      t: [3100, 21000],
      l: [price, price],
      h: [price, price],
      o: price,
    };
  }
  return json(200, { error: [], result });
}

/** The response of each venue, in the shape of production. */
export const PRICE_HANDLERS: Readonly<
  Record<VenueName, (prices: PriceBook, request: WorldRequest) => Answer>
> = { hyperliquid, coinbase, kraken };

/** The venues in this process; a URL contains the name of its venue. */
export const venueFetch =
  (prices: PriceBook): Fetch =>
  (url, init) => {
    const name = VENUE_NAMES.find((each) => url.includes(each));
    if (name === undefined) return Promise.reject(new Error(`no venue at ${url}`));
    return transport((request) => PRICE_HANDLERS[name](prices, request))(url, init);
  };
