import { createExecutionContext } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { renderIslands } from '../../site/render.js';
import { createApp, type Deps } from '../../src/app.ts';
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { TokenRow } from '../../src/features/tokens/token-store.ts';
import { Cache } from '../../src/http/cached.ts';
import { metaplexMetadata } from '../chain/solana/token-bytes.ts';
import { wallet } from '../kit/addresses.ts';
import { OPEN_GATE } from '../kit/flood-gate.ts';
import { mintData, multisigData, tokenRow } from '../kit/token-accounts.ts';

const MINT = 'So11111111111111111111111111111111111111112';
const ABSR = wallet(80);
const ORIGIN = 'https://sluice.test';
const POLICY = "default-src 'none'; script-src 'self'";
const BUILT = `<!doctype html><html><head><title>Token</title><meta name="description" content="one">
<meta property="og:image" content="/card.png"><meta property="og:image:width" content="512"><link rel="canonical" href="${ORIGIN}/token">
<script type="module" src="/assets/token-abc.js"></script></head>
<body><div data-island="token" class="live">Reading the token.</div></body></html>`;
const HOSTILE = '</script><script>alert(1)</script>"\'<img src=x>';

const LISTED = Date.parse('2026-11-20T12:00:00.000Z');
const token = tokenRow({
  ...{ tokenId: 7, mint: MINT, name: 'Otter', symbol: 'OTT', decimals: 2, supply: 123_456_789n },
  ...{ description: 'swims', image: 'https://pictures.test/otter.png', createdAt: LISTED, listedAt: LISTED },
});

const RESERVE = wallet(81);
const WITNESS = wallet(82);
const MULTISIG = wallet(83);

type Chain = Readonly<Record<string, { readonly owner: string; readonly data: Uint8Array }>>;

async function pageOf(path: string, row: TokenRow | Error | undefined, chain?: Chain): Promise<Response> {
  const one = async (key: string | number) => {
    if (row instanceof Error) throw row;
    return key === row?.mint || key === row?.tokenId ? row : undefined;
  };
  const memory = new Cache({ kv: undefined, release: undefined, now: Date.now, defer: () => undefined });
  const readAccounts = async (addresses: readonly string[]) => {
    if (!chain) throw new Error('no node');
    return { accounts: addresses.map((address) => chain[address] ?? null) };
  };
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
    officialMints: new Map([[ABSR, 'ABSR']]),
    reserve: { solanaAddress: RESERVE },
  };
  const pages = { assets, renderIslands, publicBaseUrl: ORIGIN };
  const app = createApp(() => ({ log: () => undefined, tokens, pages }) as object as Deps);
  return app.request(path, {}, OPEN_GATE, createExecutionContext());
}

it('the token page shows name and state without scripts, and contains data for its scripts', async () => {
  const response = await pageOf(`/token/${MINT}`, token);
  const text = await response.text();
  expect([response.status, response.headers.get('content-security-policy')]).toEqual([200, POLICY]);
  expect(response.headers.get('etag')).not.toBe('"built"');
  expect(text.match(/<title>[^<]*<\/title>/g)).toEqual(['<title>Otter (OTT) · Sluice</title>']);
  expect(text.match(/property="og:image[^>]*/g)).toEqual([
    'property="og:image" content="https://pictures.test/otter.png"',
  ]);
  expect(text.match(/rel="canonical" href="[^"]*"/g)).toEqual([
    `rel="canonical" href="${ORIGIN}/token/${MINT}"`,
  ]);
  expect(text).toContain(`content="Rights not known. swims · Supply 1,234,567.89 OTT. Mint ${MINT}."`);
  expect(text).toMatch(
    /data-island="token" class="live" data-filled="">.*<div class="token-head[^>]*>.*<h1><bdi [^>]*>Otter<\/bdi><\/h1>/s,
  );
  const first = /id="first-answers">(.*?)<\/script>/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(first)).toMatchObject({ [`getToken {"id":"${MINT}"}`]: { id: 7, name: 'Otter' } });
});

it.each([null, 'http://pictures.test/otter.png', 'javascript:alert(1)'])(
  'a link preview keeps the picture of the site for a token with the picture %s',
  async (image) => {
    const text = await (await pageOf(`/token/${MINT}`, { ...token, image })).text();
    expect(text.match(/property="og:image" content="[^"]*"/g)).toEqual([
      'property="og:image" content="/card.png"',
    ]);
  },
);

const mintOf = (authority: string | null) => ({
  owner: TOKEN_PROGRAM,
  data: mintData({ authority, supply: 1_061_975n }),
});

it.each([
  ['two keys', MULTISIG, [RESERVE, WITNESS], 'Minting needs two keys: '],
  ['the reserve', RESERVE, null, 'hot key at Cloudflare can mint more.'],
  ['a stranger', wallet(84), null, 'An address other than the reserve can mint more.'],
  ['strangers', MULTISIG, [WITNESS, wallet(84)], 'An address other than the reserve can mint more.'],
  ['nobody', null, null, 'The supply is fixed: no key can create more.'],
] as const)(
  'the page of ABSR shows that it is official, and who can mint more: %s',
  async (_, authority, signers, words) => {
    const multisig = signers && { owner: TOKEN_PROGRAM, data: multisigData(...signers) };
    const chain = { [ABSR]: mintOf(authority), ...(multisig && { [MULTISIG]: multisig }) };
    const response = await pageOf(`/token/${ABSR}`, undefined, chain);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain('<title>ABSR · Sluice</title>');
    expect(text).toContain(
      `content="Official ABSR of this reserve, ${authority ? 'can mint more' : 'supply fixed'}.`,
    );
    expect(text).toContain('official ABSR');
    expect(text).toMatch(/>Supply<\/span><span class="value"><span title="1,061,975">1,061,975</);
    expect(authority ? text.slice(text.indexOf('May mint more')) : text).toContain(words);
    if (authority) expect(text).toContain(authority);
  },
);

it('the page of ABSR returns 503 while no node can be read, and 404 if its address is not a mint', async () => {
  expect((await pageOf(`/token/${ABSR}`, undefined)).status).toBe(503);
  expect((await pageOf(`/token/${ABSR}`, undefined, {})).status).toBe(404);
});

it.each([
  ['its present name', 'Heron', '<title>Heron (HER) · Sluice</title>'],
  ['no name that imitates ABSR', 'ABSR', '<title>Token without a name (HER) · Sluice</title>'],
  ['no name without metadata', null, '<title>Token without a name · Sluice</title>'],
])('the page of an unlisted token reads the chain, not its row: it shows %s', async (_, name, title) => {
  const metadata = name && metaplexMetadata(MINT, { name, symbol: 'HER', uri: '' });
  const chain = {
    [MINT]: mintOf(null),
    ...(metadata && { [metaplexAddress(MINT)]: { owner: METAPLEX_PROGRAM, data: metadata } }),
  };
  const text = await (await pageOf(`/token/${MINT}`, { ...token, listedAt: null }, chain)).text();
  expect(text).toContain(title);
  expect(text).not.toContain('Otter');
  expect(text).not.toContain('swims');
});

it('the page of an unlisted token returns 503 while no node can be read', async () => {
  const response = await pageOf(`/token/${MINT}`, { ...token, listedAt: null });
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain('Otter');
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
  ['text that is not a mint', '/token/otter', token, 404],
  ['a deeper path', `/token/${MINT}/x`, token, 404],
  ['an unreadable database', `/token/${MINT}`, new Error('D1'), 503],
] as const)('responds to %s with a page of status %4$i', async (_, path, row, status) => {
  const response = await pageOf(path, row);
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html']);
  expect(response.headers.get('cache-control')).toBe('no-store');
});

it('redirects the symbol of an official token, in upper or lower case, to the page of its mint', async () => {
  for (const symbol of ['absr', 'ABSR']) {
    const response = await pageOf(`/token/${symbol}`, undefined);
    expect([response.status, response.headers.get('location')]).toEqual([302, `/token/${ABSR}`]);
  }
  // This service has no ASRY.
  expect((await pageOf('/token/asry', undefined)).status).toBe(404);
});

it("redirects a token's id to the page of its mint", async () => {
  const response = await pageOf('/token/7', token);
  expect([response.status, response.headers.get('location')]).toEqual([302, `/token/${MINT}`]);
});
