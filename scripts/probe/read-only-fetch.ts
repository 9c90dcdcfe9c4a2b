/** The probe's only way to the network: lets reads through, refuses all else, and keeps what was said. */
import type { Fetch } from '../../src/providers/http.ts';

export type Exchange = {
  readonly request: { readonly method: string; readonly url: string; readonly body?: unknown };
  readonly status: number;
  /** What the body is, and how we are rationed. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came. */
  readonly text: string;
};

const KEPT_HEADERS = /^(content-type|retry-after|(x-)?ratelimit-.*)$/i;
const RPC_READ = /^(get\w+|isBlockhashValid)$/;

/** Whether a request moves nothing, signs nothing and opens nothing at the other side. */
export function isRead(url: string, method: string, body: unknown): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'object' || body === null) return false;
  if (Reflect.get(body, 'jsonrpc') === '2.0') return RPC_READ.test(String(Reflect.get(body, 'method')));
  // A dry quote of 1Click opens no deposit address; the mids of Hyperliquid are asked by POST.
  const { pathname } = new URL(url);
  if (pathname.endsWith('/v0/quote')) return Reflect.get(body, 'dry') === true;
  return pathname.endsWith('/info') && Reflect.get(body, 'type') === 'allMids';
}

/** @param onExchange told of each answer */
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
