import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CALL_LIMITS } from '../../src/core/call-limits.ts';
import { AppError } from '../../src/core/errors.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { admitRead, type CallLimits, rateLimit } from '../../src/http/rate-limit.ts';
import { newRouter } from '../../src/http/router.ts';

type Deps = { readonly quota: number };

/** Ten seconds before a minute ends. */
const NOW = Date.parse('2026-11-20T12:00:50.000Z');

let granted: boolean;
let clients = 0;
beforeEach(() => {
  granted = true;
  clients++;
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  return () => vi.useRealTimers();
});

function service(further?: CallLimits | ((deps: Deps) => CallLimits), handler?: () => Response) {
  const app = newRouter<Deps>();
  app.use(async (c, next) => {
    c.set('deps', { quota: 6 });
    await next();
  });
  app.use('/limited', rateLimit<Deps>('test', further));
  app.get('/limited', (c) => handler?.() ?? c.json({}));
  app.get('/read', async (c) => {
    await admitRead(c);
    return c.json({});
  });
  app.onError((error, c) => problemResponse(c, asAppError(error)));
  const env = { LIMITER: { limit: async () => ({ success: granted }) } };
  return async (client = `198.51.100.${clients}`, path = '/limited') => {
    const response = await app.request(path, { headers: { 'cf-connecting-ip': client } }, env);
    const { headers, status } = response;
    return { status, limit: headers.get('ratelimit'), policy: headers.get('ratelimit-policy') };
  };
}

describe('RateLimit headers', () => {
  it('RateLimit headers show how many requests each client has left in this minute', async () => {
    const get = service();
    const policy = '"requests_per_minute";q=600;w=60';
    expect(await get()).toEqual({ status: 200, policy, limit: '"requests_per_minute";r=599;t=10' });
    expect((await get()).limit).toBe('"requests_per_minute";r=598;t=10');
    expect((await get('203.0.113.9')).limit).toBe('"requests_per_minute";r=599;t=10');
    vi.setSystemTime(NOW + 10_000);
    expect((await get()).limit).toBe('"requests_per_minute";r=599;t=60');
  });

  it("RateLimit headers show no request left when the platform's limiter refuses", async () => {
    granted = false;
    expect(await service()()).toEqual({
      status: 429,
      policy: '"requests_per_minute";q=600;w=60',
      limit: '"requests_per_minute";r=0;t=60',
    });
  });

  it('RateLimit headers show the requests left for a read whose value is not in memory', async () => {
    const get = service();
    const policy = '"requests_per_minute";q=600;w=60';
    const limit = '"requests_per_minute";r=599;t=10';
    expect(await get(undefined, '/read')).toEqual({ status: 200, policy, limit });
  });

  it('RateLimit headers never show a negative number of requests left', async () => {
    const get = service();
    for (let sent = 0; sent < 605; sent++) await get();
    expect((await get()).limit).toBe('"requests_per_minute";r=0;t=10');
  });

  it('RateLimit headers name the limits of the route, including those from the configuration', async () => {
    const { open_requests, keys_per_client_hour } = CALL_LIMITS;
    const { policy } = await service(({ quota }) => ({
      open_requests,
      keys_per_client_hour,
      creates_per_client_hour: { quota, windowSeconds: 3_600 },
    }))();
    expect(policy).toBe(
      '"requests_per_minute";q=600;w=60, "open_requests";q=10;qu="concurrent-requests", ' +
        '"keys_per_client_hour";q=100;w=3600, "creates_per_client_hour";q=6;w=3600',
    );
  });

  it.each(['RATE_LIMITED', 'TOO_MANY_OPEN_REQUESTS', 'QUOTE_BUDGET_SPENT'] as const)(
    'RateLimit headers name the limit that caused %s',
    async (code) => {
      const details = { limit: 'read_quotes' };
      const { limit } = await service({}, () => {
        throw new AppError(code, 'No more.', { retryAfterSeconds: 1_800, details });
      })();
      expect(limit).toBe('"read_quotes";r=0;t=1800, "requests_per_minute";r=599;t=10');
    },
  );

  it('RateLimit headers do not show limits of money', async () => {
    const { limit } = await service({}, () => {
      throw new AppError('SWAP_LIMIT_REACHED', 'No more.', {
        retryAfterSeconds: 1_800,
        details: { limit: 'hour' },
      });
    })();
    expect(limit).toBe('"requests_per_minute";r=599;t=10');
  });
});

it('the documented request limit equals the configured one', () => {
  const wrangler = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
  const [, limit, period] = /name = "LIMITER"[\s\S]*?limit = (\d+), period = (\d+)/.exec(wrangler) ?? [];
  const { quota, windowSeconds } = CALL_LIMITS.requests_per_minute;
  expect([Number(limit), Number(period)]).toEqual([quota, windowSeconds]);
});
