import { createExecutionContext } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { renderIslands } from '../../site/render.js';
import { createApp, type Deps } from '../../src/app.ts';
import type { TokenRow } from '../../src/features/tokens/token-store.ts';
import { Cache } from '../../src/http/cached.ts';

const MINT = 'So11111111111111111111111111111111111111112';
const ORIGIN = 'https://sluice.test';
const POLICY = "default-src 'none'; script-src 'self'";
const BUILT = `<!doctype html><html><head><title>Token</title><meta name="description" content="one">
<meta property="og:image" content="/card.png"><link rel="canonical" href="${ORIGIN}/token">
<script type="module" src="/assets/token-abc.js"></script></head>
<body><div data-island="token" class="live">Reading the token.</div></body></html>`;
const HOSTILE = '</script><script>alert(1)</script>"\'<img src=x>';

const LIMITS = { LIMITER: { limit: async () => ({ success: true }) } };
const token: TokenRow = {
  tokenId: 7,
  mint: MINT,
  name: 'Otter',
  symbol: 'OTT',
  decimals: 2,
  supply: 123_456_789n,
  creator: null,
  program: 'token',
  description: 'swims',
  image: 'https://pictures.test/otter.png',
  uri: null,
  requestId: null,
  createdAt: Date.parse('2026-11-20T12:00:00.000Z'),
  listedAt: Date.parse('2026-11-20T12:00:00.000Z'),
};

async function pageOf(path: string, row: TokenRow | Error | undefined): Promise<Response> {
  const one = async (key: string | number) => {
    if (row instanceof Error) throw row;
    return key === row?.mint || key === row?.tokenId ? row : undefined;
  };
  const memory = new Cache({ kv: undefined, release: undefined, now: Date.now, defer: () => undefined });
  const readAccounts = () => Promise.reject(new Error('no node'));
  const assets = {
    fetch: async (url: string) => {
      return new Response(url.endsWith('/404') ? '<html>No page here</html>' : BUILT, {
        headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': POLICY, ETag: '"built"' },
      });
    },
  };
  const tokens = {
    tokens: { byMint: one, byId: one },
    facts: { memory, readAccounts },
  };
  const pages = { assets, renderIslands, publicBaseUrl: ORIGIN };
  const app = createApp(() => ({ log: () => undefined, tokens, pages }) as object as Deps);
  return app.request(path, {}, LIMITS, createExecutionContext());
}

it('the token page shows name and state without scripts, and contains data for its scripts', async () => {
  const response = await pageOf(`/token/${MINT}`, token);
  const text = await response.text();
  expect([response.status, response.headers.get('content-security-policy')]).toEqual([200, POLICY]);
  expect(response.headers.get('etag')).not.toBe('"built"');
  expect(text.match(/<title>[^<]*<\/title>/g)).toEqual(['<title>Otter (OTT) · Sluice</title>']);
  expect(text.match(/property="og:image" content="[^"]*"/g)).toEqual([
    'property="og:image" content="/card.png"',
  ]);
  expect(text.match(/rel="canonical" href="[^"]*"/g)).toEqual([
    `rel="canonical" href="${ORIGIN}/token/${MINT}"`,
  ]);
  expect(text).toContain(`content="Listed, rights not known. Supply 1,234,567.89 OTT. Mint ${MINT}. swims"`);
  expect(text).toMatch(
    /data-island="token" class="live" data-filled=""><div class="token-head">.*<h1><bdi [^>]*>Otter<\/bdi><\/h1>/s,
  );
  const first = /id="first-answers">(.*?)<\/script>/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(first)).toMatchObject({ [`getToken {"id":"${MINT}"}`]: { id: 7, name: 'Otter' } });
});

it('the token page escapes every text that a creator chose', async () => {
  const row = { ...token, name: HOSTILE, symbol: HOSTILE, description: HOSTILE };
  const text = await (await pageOf(`/token/${MINT}`, row)).text();
  expect(text).not.toContain('<script>alert');
  expect(text).not.toContain('<img');
  const first = /id="first-answers">(.*?)<\/script>/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(first)).toMatchObject({ [`getToken {"id":"${MINT}"}`]: { name: HOSTILE } });
});

it.each([
  ['an unknown mint', `/token/${MINT}`, undefined, 404],
  ['a picture of a mint', `/token/${MINT}.png`, token, 404],
  ['text that is no mint', '/token/otter', token, 404],
  ['a deeper path', `/token/${MINT}/x`, token, 404],
  ['an unreadable database', `/token/${MINT}`, new Error('D1'), 503],
] as const)('responds to %s with a page of status %4$i', async (_, path, row, status) => {
  const response = await pageOf(path, row);
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html']);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

it("redirects a token's id to the page of its mint", async () => {
  const response = await pageOf('/token/7', token);
  expect([response.status, response.headers.get('location')]).toEqual([302, `/token/${MINT}`]);
});
