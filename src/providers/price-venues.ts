/**
 * Reads prices of BTC and SOL from independent venues, and lists all venues.
 * @module
 */
import * as z from 'zod';
import { upstreamFailed } from '../core/errors.ts';
import { type PriceReport, parsePrice } from '../core/price.ts';
import { type Fetch, getJson, postJson } from './http.ts';

/** Time limit of a read. A later price is useless to a waiting caller. */
const TIMEOUT_MS = 4_000;

/** The HTTP calls of one venue, below its URL. */
type Calls = {
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
};

type Venue = {
  readonly url: string;
  /** Dollar prices of both coins as decimal strings; undefined if the venue has no price. */
  readonly read: (calls: Calls) => Promise<Readonly<Record<'btc' | 'sol', string | undefined>>>;
};

const Mids = z.object({ BTC: z.string(), SOL: z.string() });
const Spot = z.object({ data: z.object({ amount: z.string() }) });
const Ticker = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
});

/** The price venues, in order of preference. Any two of them must agree before a swap. */
export const PRICE_VENUES = {
  /** Mid prices of perpetual futures, which differ from spot prices by a few basis points. */
  hyperliquid: {
    url: 'https://api.hyperliquid.xyz',
    async read({ post }) {
      const { BTC: btc, SOL: sol } = await post('/info', { type: 'allMids' }, Mids);
      return { btc, sol };
    },
  },
  coinbase: {
    url: 'https://api.coinbase.com',
    async read({ get }) {
      const spot = async (pair: string) => (await get(`/v2/prices/${pair}/spot`, Spot)).data.amount;
      const [btc, sol] = await Promise.all([spot('BTC-USD'), spot('SOL-USD')]);
      return { btc, sol };
    },
  },
  /** Errors have status 200, and XBTUSD is returned under a different name. */
  kraken: {
    url: 'https://api.kraken.com',
    async read({ get }) {
      const { error, result } = await get('/0/public/Ticker?pair=XBTUSD,SOLUSD', Ticker);
      if (error.length > 0) throw upstreamFailed('kraken', 'refused');
      const last = (...keys: string[]) => keys.map((key) => result?.[key]?.c[0]).find(Boolean);
      return { btc: last('XXBTZUSD', 'XBTUSD'), sol: last('SOLUSD', 'SOLZUSD') };
    },
  },
} as const satisfies Readonly<Record<string, Venue>>;

export type VenueName = keyof typeof PRICE_VENUES;
export const VENUE_NAMES = Object.keys(PRICE_VENUES) as VenueName[];

export type PriceVenue = { readonly name: VenueName; read(): Promise<PriceReport> };

/** The venues of a setting, in its order. */
export const createPriceVenues = (
  urls: Readonly<Partial<Record<VenueName, string>>>,
  fetch: Fetch,
): PriceVenue[] =>
  (Object.entries(urls) as [VenueName, string][]).map(([name, baseUrl]) => ({
    name,
    read: () => readVenue(name, baseUrl, fetch),
  }));

async function readVenue(source: VenueName, baseUrl: string, fetch: Fetch): Promise<PriceReport> {
  const call = (path: string) => ({
    fetch,
    upstream: source,
    url: `${baseUrl}${path}`,
    timeoutMs: TIMEOUT_MS,
  });
  const { btc, sol } = await PRICE_VENUES[source].read({
    get: (path, schema) => getJson(call(path), schema),
    post: (path, body, schema) => postJson({ ...call(path), body }, schema),
  });
  const btcUsd = btc === undefined ? undefined : parsePrice(btc);
  const solUsd = sol === undefined ? undefined : parsePrice(sol);
  if (btcUsd === undefined || solUsd === undefined) throw upstreamFailed(source, 'no_price');
  return { source, btcUsd, solUsd };
}
