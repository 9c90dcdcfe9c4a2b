import { describe, expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import { REQUESTS_PER_MINUTE } from '../../src/core/call-limits.ts';
import { addressKey, type FloodGate, passesGate } from '../../src/core/client-network.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { admitRead, rateLimit } from '../../src/http/rate-limit.ts';
import { newRouter } from '../../src/http/router.ts';
import { floodGate } from '../kit/flood-gate.ts';

const app = newRouter();
app.use('/limited', rateLimit('test'));
app.get('/limited', (c) => c.json({}));
app.get('/read', async (c) => {
  await admitRead(c);
  return c.json({});
});
app.onError((error, c) => problemResponse(c, asAppError(error)));

it.each([
  ['/limited', 'test'],
  ['/read', 'reads'],
])(
  "a refusal by the platform's limiter on %s names the limit and the seconds to wait",
  async (path, group) => {
    const counted: string[] = [];
    const ask = (success: boolean) => {
      const gate = floodGate((limiter, key) => counted.push(`${limiter} ${key}`) > 0 && success);
      return app.request(path, { headers: { 'cf-connecting-ip': '198.51.100.7' } }, gate);
    };
    expect((await ask(true)).status).toBe(200);
    expect(counted).toEqual([`LIMITER ${group}:198.51.100.7`, `NETWORK_LIMITER ${group}:198.51.100.0/24`]);
    const refused = await ask(false);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({
      error_code: 'RATE_LIMITED',
      retry_after_s: 60,
      details: { limit: 'requests_per_minute' },
    });
  },
);

type Limiter = {
  readonly name: string;
  readonly namespace_id: string;
  readonly simple: { readonly limit: number; readonly period: number };
};

describe.each([
  ['wrangler.toml', undefined, REQUESTS_PER_MINUTE],
  ['wrangler.toml', 'staging', REQUESTS_PER_MINUTE],
  ['wrangler.mcp.toml', undefined, 2 * REQUESTS_PER_MINUTE],
])('the limiters of %s %s', (config, env, ofClient) => {
  const limiters: readonly Limiter[] = unstable_readConfig(
    { config, env },
    { hideWarnings: true },
  ).ratelimits;
  const limitOf = new Map(limiters.map(({ name, simple }) => [name, simple.limit]));
  /** Counts one minute as the platform does: one limit for all keys of a limiter. */
  const minute = () => {
    const used = new Map<string, number>();
    return floodGate((limiter, key) => {
      const count = (used.get(`${limiter} ${key}`) ?? 0) + 1;
      used.set(`${limiter} ${key}`, count);
      return count <= (limitOf.get(limiter) ?? 0);
    });
  };
  /** Requests that are admitted of each address in turn, all at their full rate. */
  const admitted = async (gate: FloodGate, addresses: readonly string[]) => {
    let count = 0;
    for (const address of addresses)
      for (let n = 0; n < ofClient; n++) if (await passesGate(gate, 'test', addressKey(address))) count += 1;
    return count;
  };
  const several = (count: number, addressOf: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => addressOf(n + 1));

  it('each limiter has a one-minute window and its own counter', () => {
    expect(limiters.map(({ simple }) => simple.period)).toEqual([60, 60, 60]);
    expect(new Set(limiters.map(({ namespace_id }) => namespace_id)).size).toBe(3);
    expect(limitOf.get('LIMITER')).toBe(ofClient);
  });

  it.each([
    ['an IPv4 address', ['203.0.113.7'], '203.0.113.8'],
    ['a /64', ['2001:db8:1:2::3'], '2001:db8:1:3::3'],
    ['a /48', several(4, (n) => `2001:db8:1:${n}::3`), '2001:db8:2:1::3'],
    ['each of three addresses', several(3, (n) => `203.0.113.${n}`), '203.0.113.99'],
  ])('%s at its limit does not reduce the limit of its neighbour', async (_what, busy, neighbour) => {
    const gate = minute();
    await admitted(gate, busy);
    expect(await admitted(gate, [neighbour])).toBe(ofClient);
  });

  it.each([
    ['hosts of one /24', 4, 8, (n: number) => `203.0.113.${n}`],
    ['/64s of one /48', 4, 8, (n: number) => `2001:db8:1:${n.toString(16)}::1`],
    ['/64s of one /32', 16, 20, (n: number) => `2001:db8:${n.toString(16)}::1`],
  ] as const)(
    '%s together may send %i times as many requests as one client',
    async (_what, times, count, addressOf) => {
      expect(await admitted(minute(), several(count, addressOf))).toBe(times * ofClient);
    },
  );
});
