/**
 * What stands before the custodian, D1, the page-view object, the upstreams and the relays: the memory of the isolate, or
 * the limiter.
 */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { type RouteRequest, routeRequests } from '../e2e/route-requests.ts';
import { floodGate } from '../kit/flood-gate.ts';
import { custodianWith, pausedAnswer, pausedEnv } from './closed-env.ts';

const LIMITER = 'limiter';
let calls: string[] = [];

/** Records each call of a method, at any depth: a database, its statements and their sessions. */
const recorded = <T extends object>(target: T, name: string): T =>
  new Proxy(target, {
    get: (_, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const isBuilt = ['prepare', 'bind', 'withSession', 'getBookmark'].includes(String(key));
        if (!isBuilt) calls.push(name);
        const result: unknown = Reflect.apply(member, target, args);
        return isBuilt && typeof result === 'object' && result !== null ? recorded(result, name) : result;
      };
    },
  });

/** The route under test. */
let current = '';

const bytes = (length: number): string => base58.encode(crypto.getRandomValues(new Uint8Array(length)));
/** One for all requests: the caches belong to it. */
let bindings: Env;

/** Values that no request had before, so that memory knows none of them. */
const FRESH: Readonly<Record<string, () => string>> = {
  id: () => crypto.randomUUID(),
  signature: () => bytes(64),
  mint_address: () => bytes(32),
  address: () => bytes(32),
  date: () => new Date(1_700_000_000_000 + Math.random() * 1e10).toISOString().slice(0, 10),
};
const freshId = (route: string): string => {
  if (route.startsWith('/api/swap/')) return bytes(64);
  return route.startsWith('/api/tokens/') ? String(1 + Math.floor(Math.random() * 1e9)) : crypto.randomUUID();
};

function freshPath({ route, path }: RouteRequest): string {
  if (route === '/token/*') return `/token/${bytes(32)}`;
  const query = path.includes('?') ? path.slice(path.indexOf('?')) : '';
  const filled = route.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) =>
    name === 'id' ? freshId(route) : (FRESH[name]?.() ?? name),
  );
  return filled + query;
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.stubGlobal('fetch', async () => {
    calls.push('upstream');
    throw new TypeError('no network here');
  });
  vi.stubGlobal(
    'WebSocket',
    class {
      constructor() {
        calls.push('relay');
        throw new TypeError('no network here');
      }
    },
  );
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  bindings = {
    ...pausedEnv(),
    DB: recorded(env.DB, 'D1'),
    ...floodGate(() => calls.push(LIMITER) > 0),
    CUSTODIAN: custodianWith((verb) => {
      calls.push('custodian');
      return pausedAnswer(verb, current);
    }),
    PAGE_VIEWS: { getByName: (name: string) => recorded(env.PAGE_VIEWS.getByName(name), 'page views') },
  } as unknown as Env;
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const app = createApp(async (all) => ({ ...(await apiDeps(all)), log: () => undefined }));

const TOKEN_PAGE: RouteRequest = {
  method: 'GET',
  route: '/token/*',
  operation: 'GET /token/*',
  path: '/token/x',
  init: { method: 'GET' },
};
it.each([...routeRequests(), TOKEN_PAGE].map((request) => [request.method, request.route, request] as const))(
  '%s %s calls the limiter before any backend when the values that all callers share are in memory',
  async (_method, route, request) => {
    current = route;
    await (await app.request(freshPath(request), request.init, bindings, createExecutionContext())).text();
    calls = [];
    const text = await (
      await app.request(freshPath(request), request.init, bindings, createExecutionContext())
    ).text();
    expect(text).not.toContain('"error_code":"INTERNAL"');
    if (calls.length > 0) expect(calls[0], calls.join()).toBe(LIMITER);
  },
);
