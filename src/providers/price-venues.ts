/**
 * Spot prices of BTC and SOL from three independent venues. Each returns both coins.
 * @module
 */
import * as z from 'zod';
import { upstreamFailed } from '../core/errors.ts';
import { type PriceReport, parsePrice } from '../core/price.ts';
import { type Fetch, getJson, postJson } from './http.ts';

/** A later price is of no use to a waiting caller. */
const TIMEOUT_MS = 4_000;

export type PriceVenue = { readonly name: string; read(): Promise<PriceReport> };

type Options = { baseUrl: string; fetch: Fetch };

function report(source: string, btc: string | undefined, sol: string | undefined): PriceReport {
  const btcUsd = btc === undefined ? undefined : parsePrice(btc);
  const solUsd = sol === undefined ? undefined : parsePrice(sol);
  if (btcUsd === undefined || solUsd === undefined) throw upstreamFailed(source, 'no_price');
  return { source, btcUsd, solUsd };
}

/** Perpetual mids of `POST /info {"type":"allMids"}`; they differ from spot by a few basis points. */
function createHyperliquid({ baseUrl, fetch }: Options): PriceVenue {
  const name = 'hyperliquid';
  const Mids = z.object({ BTC: z.string(), SOL: z.string() });
  return {
    name,
    async read() {
      const url = `${baseUrl}/info`;
      const mids = await postJson(
        { fetch, upstream: name, url, body: { type: 'allMids' }, timeoutMs: TIMEOUT_MS },
        Mids,
      );
      return report(name, mids.BTC, mids.SOL);
    },
  };
}

/** `GET /v2/prices/{pair}/spot`, one call per pair. */
function createCoinbase({ baseUrl, fetch }: Options): PriceVenue {
  const name = 'coinbase';
  const Spot = z.object({ data: z.object({ amount: z.string() }) });
  const spot = async (pair: string) => {
    const url = `${baseUrl}/v2/prices/${pair}/spot`;
    return (await getJson({ fetch, upstream: name, url, timeoutMs: TIMEOUT_MS }, Spot)).data.amount;
  };
  return {
    name,
    async read() {
      const [btc, sol] = await Promise.all([spot('BTC-USD'), spot('SOL-USD')]);
      return report(name, btc, sol);
    },
  };
}

/** `GET /0/public/Ticker`: errors have status 200, and XBTUSD is returned under a different name. */
function createKraken({ baseUrl, fetch }: Options): PriceVenue {
  const name = 'kraken';
  const Ticker = z.object({
    error: z.array(z.string()),
    result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
  });
  return {
    name,
    async read() {
      const url = `${baseUrl}/0/public/Ticker?pair=XBTUSD,SOLUSD`;
      const ticker = await getJson({ fetch, upstream: name, url, timeoutMs: TIMEOUT_MS }, Ticker);
      if (ticker.error.length > 0) throw upstreamFailed(name, 'refused');
      const last = (...keys: string[]) => keys.map((key) => ticker.result?.[key]?.c[0]).find(Boolean);
      return report(name, last('XXBTZUSD', 'XBTUSD'), last('SOLUSD', 'SOLZUSD'));
    },
  };
}

/** The price venues, in the order of preference. Any two must agree before a swap. */
export const PRICE_VENUES = {
  hyperliquid: { url: 'https://api.hyperliquid.xyz', create: createHyperliquid },
  coinbase: { url: 'https://api.coinbase.com', create: createCoinbase },
  kraken: { url: 'https://api.kraken.com', create: createKraken },
} as const;

export type VenueName = keyof typeof PRICE_VENUES;

/** The venues of a setting, in its order. */
export const createPriceVenues = (
  urls: Readonly<Partial<Record<VenueName, string>>>,
  fetch: Fetch,
): PriceVenue[] =>
  (Object.entries(urls) as [VenueName, string][]).map(([name, baseUrl]) =>
    PRICE_VENUES[name].create({ baseUrl, fetch }),
  );
