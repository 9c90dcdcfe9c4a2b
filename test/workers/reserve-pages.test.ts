import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { renderIslands } from '../../site/render.js';
import { createApp, type Deps } from '../../src/app.ts';
import { buildProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import { Cache } from '../../src/http/cached.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const MINT = 'So11111111111111111111111111111111111111112';
const ASRY = '7kLh5EwWsfm18XUodfmF2ABJnQJRxJPxwTkEj9q7pjZK';
const BUILT = `<!doctype html><html><head><title>Sluice</title></head><body>
<section data-island="alerts"></section><div data-island="hero">none</div><div data-island="flow">none</div>
<div data-island="keys">none</div><div data-island="mints">reading</div><div data-island="wallets">Reading both chains.</div></body></html>`;

const message = buildProofMessage({
  service: 'sluice.test',
  bitcoinAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  solanaAddress: MINT,
  reserveSats: sats(1_061_975n),
  solanaLamports: lamports(9_500_000_000n),
  absr: { mint: MINT, atoms: 1_000_000n, decimals: 0 },
  bitcoinTip: { height: 100, hash: 'a'.repeat(64) },
  solanaTip: { slot: 5n, blockhash: MINT },
  time: new Date(NOW - 60_000).toISOString(),
  previousProof: null,
});
const proof = {
  message,
  timestamp: new Date(NOW - 60_000).toISOString(),
  hash: 'b'.repeat(64),
  bitcoin: { scheme: 'bip322-simple', signature: 'smp1', unprefixed: '1' },
  solana: { scheme: 'ed25519-utf8', signature: '2' },
  offline: false,
};

type World = { sats: bigint; now: number; isHung?: boolean; lastChange?: number };

function service(world: World) {
  const cache = new Cache({
    kv: undefined,
    release: undefined,
    lastChange: async () => world.lastChange ?? 0,
    now: () => world.now,
    defer: () => undefined,
  });
  const balance = async () => {
    if (world.isHung) return new Promise<never>(() => undefined);
    return { confirmed: world.sats, pendingDelta: 0n };
  };
  const account = { owner: MINT, lamports: 9_500_000_000n, data: new Uint8Array() };
  const accounts = async () => ({ slot: 5n, accounts: [account, null] });
  const reserves = {
    cache,
    memory: new Cache({ kv: undefined, release: undefined, now: () => world.now, defer: () => undefined }),
    reserve: { bitcoinAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', solanaAddress: MINT },
    treasuryAddress: MINT,
    bitcoinSources: [{ name: 'esplora-1', balance }],
    solanaSources: [{ name: 'rpc-1', accounts }],
    mintAuthority: null,
    supplySources: [
      { name: 'rpc-1', tokenSupply: async () => ({ atoms: 1_000_000n, decimals: 0, slot: 5n }) },
    ],
    absrMint: MINT,
    asryMint: ASRY,
    readReserve: async () => ({ value: { confirmed: String(world.sats) }, asOf: world.now, stale: false }),
    readPrices: async () => [{ source: 'kraken', btcUsd: 80_000_000_000n, solUsd: 200_000_000n }],
    sleep: async () => undefined,
    custody: { signingState: async () => ({ watchOnly: false }) },
    proofs: { newest: async () => proof },
    now: () => world.now,
  };
  const assets = { fetch: async () => new Response(BUILT, { headers: { 'Content-Type': 'text/html' } }) };
  const deps = {
    log: () => undefined,
    pages: { assets, renderIslands, publicBaseUrl: '' },
    reserves,
  };
  const app = createApp(() => deps as object as Deps);
  return async (path: string) => {
    const response = await app.request(path, {}, {}, createExecutionContext());
    return { status: response.status, text: await response.text() };
  };
}

it('the HTML of the overview contains its first figures with their time, as text and as data for its scripts', async () => {
  const { status, text } = await service({ sats: 1_061_975n, now: NOW })('/');
  expect(status).toBe(200);
  expect(text).toMatch(/data-island="hero" data-filled="">.*1,061,975.*1,000,000/s);
  expect(text).toContain('<strong>Covered: 1,061,975 sats for 1,000,000 ABSR.</strong>');
  expect(text).toMatch(
    /Bitcoin key and Solana key <a [^>]*>signed<\/a> 1,061,975 sats .*2026-11-20 11:59 UTC/s,
  );
  expect(text).toMatch(/Checked <time [^>]*>2026-11-20 12:00 UTC<\/time> by this service/);
  expect(text).toMatch(/data-island="flow" data-filled="">.*9\.5 SOL/s);
  const first = JSON.parse(/id="first-answers">(.*?)<\/script>/.exec(text)?.[1] ?? '{}');
  expect(first).toMatchObject({
    'getReserves {}': { bitcoin: { balanceSatoshis: '1061975' } },
    'getAbsrSummary {}': { gapSatoshis: '61975' },
    'getProof {}': { hash: proof.hash, as_of: proof.timestamp },
  });
});

it('the HTML of the reserves page contains its first figures', async () => {
  const { text } = await service({ sats: 1_061_975n, now: NOW })('/reserves');
  expect(text).toMatch(/data-island="wallets" data-filled="">.*1,061,975 sats.*9\.5 SOL/s);
  expect(text).not.toContain('Reading both chains.');
});

it('the HTML of the trust page states that this treasury is the reserve itself', async () => {
  const { text } = await service({ sats: 1n, now: NOW })('/trust');
  expect(text).toMatch(/data-island="keys" data-filled="">.*own Solana key/s);
});

it.each([
  ['our own operation, 2 seconds after it ended', 2_000, 0],
  ["a stranger's transaction, a minute later", 60_000, null],
])('the HTML of a page shows the effect of %s', async (_what, laterMs, endedAfterMs) => {
  const world: World = { sats: 5n, now: NOW };
  const page = service(world);
  await page('/');
  world.sats = 7n;
  if (endedAfterMs !== null) world.lastChange = NOW + endedAfterMs;
  world.now += laterMs;
  expect((await page('/')).text).toContain('Not covered: 7 sats for 1,000,000 ABSR.');
  expect((await page('/reserves')).text).toContain('7 sats');
});

it.each(['/', '/reserves', '/trust', '/asry'])(
  'the HTML of %s names the mints of ABSR and ASRY, even while a source hangs',
  async (path) => {
    const { text } = await service({ sats: 1n, now: NOW, isHung: true })(path);
    expect(text).toMatch(
      new RegExp(`data-island="mints" data-filled=""><dl.*ABSR.*/token/${MINT}.*ASRY.*/token/${ASRY}`),
    );
  },
);

it('returns a page without its first figures while a source hangs', async () => {
  const { status, text } = await service({ sats: 1n, now: NOW, isHung: true })('/');
  expect(status).toBe(200);
  expect(text).toContain('<div data-island="flow">none</div>');
  expect(text).toContain('Not covered: 1 sat for 1,000,000 ABSR.');
});

it('the HTML of a page has the banner while there is more ABSR than the reserve has sats', async () => {
  const { text } = await service({ sats: 999_999n, now: NOW })('/reserves');
  expect(text).toMatch(/data-island="alerts" data-filled="">.*exceeds the reserve by 1 sat/s);
});

it('returns the built page unchanged when its figures cannot be read', async () => {
  const { status, text } = await service({ sats: 1n, now: NOW })('/status');
  expect(status).toBe(200);
  expect(text).toContain('<div data-island="hero">none</div>');
});

describe('several reads in one response', () => {
  const read = async (query: string) => {
    const { status, text } = await service({ sats: 7n, now: NOW })(`/read?${query}`);
    return { status, body: JSON.parse(text) };
  };

  it('a response to several reads has the status, headers and body of each, in the order of the request', async () => {
    const { status, body } = await read('of=/api/proof&of=/api/unknown&of=/api/reserves');
    expect(status).toBe(200);
    expect(body.map((part: { status: number }) => part.status)).toEqual([200, 404, 200]);
    expect(JSON.parse(body[0].body).hash).toBe(proof.hash);
    expect(JSON.parse(body[1].body).error_code).toBe('ROUTE_NOT_FOUND');
    expect(JSON.parse(body[2].body).bitcoin.balanceSatoshis).toBe('7');
    expect(body[2].headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['no path', ''],
    ['the path of the operator', 'of=/api/ops'],
    ['a hidden path of the operator', 'of=/api/../api/ops'],
    ['another origin', 'of=//other.test/api/reserves'],
    ['itself', 'of=/read?of=/api/proof'],
    ['more paths than a page shows', 'of=/api/proof&'.repeat(13)],
  ])('a request for several reads is refused for %s', async (_what, query) => {
    const { status, body } = await read(query);
    expect([status, body.error_code]).toEqual([400, 'INVALID_INPUT']);
  });
});
