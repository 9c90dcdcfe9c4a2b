/**
 * The probe's only access to the network: allows reads, refuses all other requests, and records every
 * exchange.
 */
import type { Fetch } from '../../src/providers/http.ts';

export type Exchange = {
  readonly request: { readonly method: string; readonly url: string; readonly body?: unknown };
  readonly status: number;
  /** The content type and the rate limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, unchanged. */
  readonly text: string;
};

const KEPT_HEADERS = /^(content-type|retry-after|(x-)?ratelimit-.*)$/i;
const RPC_READ = /^(get\w+|isBlockhashValid)$/;

/** Whether a request only reads: the upstream moves, signs and opens nothing. */
export function isRead(url: string, method: string, body: unknown): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'object' || body === null) return false;
  if (Reflect.get(body, 'jsonrpc') === '2.0') return RPC_READ.test(String(Reflect.get(body, 'method')));
  // A dry quote of 1Click opens no deposit address; Hyperliquid's mids are requested by POST.
  const { pathname } = new URL(url);
  if (pathname.endsWith('/v0/quote')) return Reflect.get(body, 'dry') === true;
  return pathname.endsWith('/info') && Reflect.get(body, 'type') === 'allMids';
}

/** @param onExchange called for each response */
export function readOnlyFetch(fetch: Fetch, onExchange: (exchange: Exchange) => void): Fetch {
  return async (url, init = {}) => {
    const method = init.method ?? 'GET';
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    if (!isRead(url, method, body)) throw new Error('the probe only reads');
    const response = await fetch(url, init);
    onExchange({
      request: { method, url, ...(body === undefined ? {} : { body }) },
      status: response.status,
      headers: Object.fromEntries([...response.headers].filter(([name]) => KEPT_HEADERS.test(name))),
      text: await response.clone().text(),
    });
    return response;
  };
}
