import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REQUESTS_PER_MINUTE } from '../../src/core/call-limits.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { admitRead, rateLimit } from '../../src/http/rate-limit.ts';
import { newRouter } from '../../src/http/router.ts';

const app = newRouter();
app.use('/limited', rateLimit('test'));
app.get('/limited', (c) => c.json({}));
app.get('/read', async (c) => {
  await admitRead(c);
  return c.json({});
});
app.onError((error, c) => problemResponse(c, asAppError(error)));

it.each([
  ['/limited', 'test:198.51.100.7'],
  ['/read', 'reads:198.51.100.7'],
])("a refusal by the platform's limiter on %s names the limit and the seconds to wait", async (path, key) => {
  const counted: string[] = [];
  const ask = (success: boolean) => {
    const LIMITER = {
      async limit(options: { key: string }) {
        counted.push(options.key);
        return { success };
      },
    };
    return app.request(path, { headers: { 'cf-connecting-ip': '198.51.100.7' } }, { LIMITER });
  };
  expect((await ask(true)).status).toBe(200);
  const refused = await ask(false);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await refused.json()).toMatchObject({
    error_code: 'RATE_LIMITED',
    retry_after_s: 60,
    details: { limit: 'requests_per_minute' },
  });
  const network = expect.stringMatching(/^(test|reads):198\.51\.100\.0\/24#[01]$/);
  expect(counted).toEqual([key, network, key, network]);
});

it('the documented request limit equals the configured one', () => {
  const wrangler = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
  const [, limit, period] = /name = "LIMITER"[\s\S]*?limit = (\d+), period = (\d+)/.exec(wrangler) ?? [];
  expect([Number(limit), Number(period)]).toEqual([REQUESTS_PER_MINUTE, 60]);
});
