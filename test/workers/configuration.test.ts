import { env } from 'cloudflare:test';
import { afterEach, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { SETTINGS } from '../../src/config.ts';
import { apiDeps } from '../../src/wiring/api.ts';

const NONSENSE = '\u0001 not a value of anything';
const variables = SETTINGS.map(([name]) => name);
/** Any text is valid for these variables. */
const FREE_TEXT = new Set(['CHANGENOW_API_KEY', 'NEAR_INTENTS_JWT']);
const RESERVE = {
  RESERVE_SOLANA_ADDRESS: 'US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx',
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  PUBLIC_BASE_URL: 'https://sluice.example',
};

const app = createApp(async (bindings) => ({ ...(await apiDeps(bindings)), log: () => undefined }));

function appWith(bindings: Record<string, string>) {
  vi.stubGlobal('fetch', () => Promise.reject(new Error('no network here')));
  const all = { ...env, ...RESERVE, ...bindings } as Env;
  return (path: string, init: RequestInit = {}) => app.request(path, init, all);
}

afterEach(() => vi.unstubAllGlobals());

it.each(variables)(
  'an invalid %s stops at most the features that use it, and /api/ready names it',
  async (name) => {
    const call = appWith({ [name]: NONSENSE });
    expect((await call('/api/health')).status).toBe(200);
    expect((await call('/api/openapi.json')).status).toBe(200);
    const reserves = await call('/api/reserves');
    expect(reserves.status).not.toBe(500);
    if (FREE_TEXT.has(name)) return;
    const ready = await call('/api/ready');
    expect(ready.status).toBe(503);
    const said = await ready.text();
    expect(said).toContain(name);
    expect(said).not.toContain('not a value of anything');
  },
);

it.each(
  SETTINGS.filter(([name, { areas }]) => areas.includes('custody') && !FREE_TEXT.has(name)).map(
    ([name]) => name,
  ),
)('creates no swap while %s is invalid', async (name) => {
  const call = appWith({ [name]: NONSENSE });
  const answer = await call('/api/swap/create', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amountSol":0.5}',
  });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    error_code: 'NOT_CONFIGURED',
    details: { variables: [name] },
  });
});

it('a changed variable takes effect with the next request in the same isolate', async () => {
  const ready = async (bindings: Env) => (await app.request('/api/ready', {}, bindings)).text();
  expect(await ready({ ...env, SWAP_MAX_SOL: NONSENSE } as Env)).toContain('SWAP_MAX_SOL');
  expect(await ready({ ...env } as Env)).not.toContain('SWAP_MAX_SOL');
});
