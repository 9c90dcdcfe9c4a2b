import { getWhirlpoolDecoder } from '@orca-so/whirlpools-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { metaplexAddress } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { findPool } from '../../src/features/pools/get-pool.ts';
import { Cache } from '../../src/http/cached.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { eachScene } from '../kit/scenes.ts';
import {
  ADAPTIVE_POOL,
  CONSTANTS,
  chainWithPools,
  FIXED_POOL,
  SPYX,
  USDC,
  vault,
  vaultsOf,
  WSOL,
} from './pool-accounts.ts';
import { type Handler, startPoolUpstreams } from './pool-upstreams.ts';

let upstreams: Awaited<ReturnType<typeof startPoolUpstreams>>;
beforeAll(async () => {
  upstreams = await startPoolUpstreams();
});
afterAll(() => upstreams.stop());
beforeEach(() => upstreams.reset());

const PATH = `/api/dex/pool/${FIXED_POOL}`;
const plantPools = () => {
  for (const [address, account] of chainWithPools()) upstreams.chain.set(address, account);
};
const send =
  (status: number, body: string, headers: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

/**
 * Text that no parser and writer would preserve: digits, exponents, escapes, order, spacing, unknown members.
 */
const poolText = (balanceA: string, balanceB: string): string => {
  const [vaultA, vaultB] = vaultsOf(FIXED_POOL);
  return `{ "meta": {"cursor":null},\r\n "data" : {"address":"${FIXED_POOL}","price":"73.20551387", "tokenBalanceA" : ${balanceA},
 "tokenMintA":"${WSOL}","tokenMintB":"${USDC}","tokenVaultA":"${vaultA}","tokenVaultB":"${vaultB}",
 "note":"\\u0041\\/ } \\" {é","nested":{"tokenBalanceA":"0","list":[1,{"data":"x"}]},"tokenBalanceB":${balanceB},
 "writeVersion":1459165811157000000001,"tiny":1.0e-7,"ten":1E+1,"half":0.50,"unknown_member":[ ],"tvlUsdc":null}}\n`;
};
const POOL = poolText('"1"', '"2"');

const jsonOf = async (response: Response) => (await response.json()) as Record<string, unknown>;

describe('the pool API responds', () => {
  it('returns the JSON of the pool API byte for byte', async () => {
    upstreams.answerWith(send(200, POOL));
    const response = await upstreams.service().get(PATH);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(POOL);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-data-source')).toBe('orca');
    expect(upstreams.requests).toEqual([`${upstreams.host}/v2/solana/pools/${FIXED_POOL}`]);
    expect(upstreams.chainReads).toEqual([]);
  });

  const VAULTS: Readonly<Record<string, () => unknown>> = {
    full: () => undefined,
    empty: () =>
      vaultsOf(FIXED_POOL).map((each, at) => upstreams.chain.set(each, vault(at ? USDC : WSOL, 0n))),
    unreadable: () => upstreams.breakChain(),
    missing: () => upstreams.chain.clear(),
    'of another token': () => upstreams.chain.set(vaultsOf(FIXED_POOL)[0], vault(USDC, 5n)),
  };
  eachScene(`
    "0"  | "0"  | full             | "123456789012345" | "18446744073709551615"
    0    | 0    | full             | 123456789012345   | 18446744073709551615
    0.0  | "0"  | full             | 123456789012345   | "18446744073709551615"
    -0   | 0e5  | full             | 123456789012345   | 18446744073709551615
    "0"  | "0"  | empty            | "0"               | "0"
    "0"  | "2"  | full             | unchanged         |
    "2"  | 0    | full             | unchanged         |
    null | null | full             | unchanged         |
    "0"  | "0"  | unreadable       | stale             |
    "0"  | "0"  | missing          | stale             |
    "0"  | "0"  | of another token | stale             |
  `)('the balances %s and %s beside vaults that are %s are shown as %s %s', async (...scene) => {
    const [a = '', b = '', vaults = '', shownA = '', shownB = ''] = scene;
    plantPools();
    VAULTS[vaults]?.();
    upstreams.answerWith(send(200, poolText(a, b)));
    const service = upstreams.service();
    const response = await service.get(PATH);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(upstreams.chainReads).toEqual(shownA === 'unchanged' ? [] : [[...vaultsOf(FIXED_POOL)]]);
    expect([response.headers.get('x-data-stale'), service.logged.length]).toEqual(
      shownA === 'stale' ? ['true', 1] : [null, 0],
    );
    if (shownB === '') return expect(text).toBe(poolText(a, b));
    const source = '"data" : {"vault_balances_source":"chain_rpc",';
    expect(JSON.parse(text)).toEqual(JSON.parse(poolText(shownA, shownB).replace('"data" : {', source)));
    // Nothing else is changed, not even a notation.
    expect(text).toContain(`"tokenBalanceA":${shownA},`);
    expect(text).toContain(`"tokenBalanceB":${shownB},`);
    expect(text).toContain('"writeVersion":1459165811157000000001,"tiny":1.0e-7,"ten":1E+1,"half":0.50,');
  });

  it('does not cache a pool response that could not be corrected, but caches the next response', async () => {
    let now = Date.now();
    plantPools();
    upstreams.breakChain();
    upstreams.answerWith(send(200, poolText('"0"', '"0"')));
    const service = upstreams.service({ now: () => now });
    await service.get(PATH);
    upstreams.breakChain(false);
    now += 3_000;
    expect(await (await service.get(PATH)).text()).toContain('"vault_balances_source":"chain_rpc"');
  });

  it('passes on a pool response of unusual size and does not cache it', async () => {
    let now = Date.now();
    const body = POOL.replace('"unknown_member":[ ]', `"unknown_member":"${'x'.repeat(300_000)}"`);
    upstreams.answerWith(send(200, body));
    const service = upstreams.service({ now: () => now });
    expect(await (await service.get(PATH)).text()).toBe(body);
    now += 3_000;
    expect(await (await service.get(PATH)).text()).toBe(body);
    expect(upstreams.requests).toHaveLength(2);
  });
});

const HTML = `<html><body>${'é'.repeat(600)}</body></html>`;
const NEVER: Handler = () => undefined;
const huge: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"data":{"address":"${FIXED_POOL}","x":"${'x'.repeat(2 * 1024 * 1024)}"}}`);
};
const cutOff: Handler = (_request, response) => {
  response.writeHead(200, { 'content-length': '5000' });
  response.write(POOL.slice(0, 200));
  setTimeout(() => response.destroy(), 20);
};
const json = (body: string) => ({ body });
const nonJson = (preview: string) => ({
  ...{
    error: 'dex_non_json',
    error_code: 'DEX_NON_JSON',
    body_preview: preview,
    request_id: expect.any(String),
  },
});
const silent = (reason: string) => ({ error_code: 'UPSTREAM_FAILED', details: { upstream: 'orca', reason } });
const failed = (rest: string, code = 'UPSTREAM_FAILED') => json(`{"error_code":"${code}",${rest}}`);
const redirected = { location: '/v2/solana/elsewhere' };

/** The upstream's behaviour, and the response when the chain has no such pool. */
const REFUSALS = [
  ['404', send(404, '{"message": "unknown"}'), 404, failed('"message": "unknown"', 'NOT_FOUND')],
  ['400', send(400, '{"error":1.50}'), 400, failed('"error":1.50')],
  ['429', send(429, '{"error":"slow"}', { 'retry-after': '7' }), 429, failed('"error":"slow"')],
  ['500', send(500, '{"error":"oops"}'), 500, failed('"error":"oops"')],
  ['404 as text', send(404, 'Not Found'), 404, nonJson('Not Found')],
  ['503 as HTML', send(503, HTML), 503, nonJson(HTML.slice(0, 500))],
  ['HTML with 200', send(200, HTML, { 'content-type': 'text/html' }), 502, nonJson(HTML.slice(0, 500))],
  ['nothing with 200', send(200, ''), 502, nonJson('')],
  ['204', (_request, response) => void response.writeHead(204).end(), 502, nonJson('')],
  ['truncated JSON', send(200, POOL.slice(0, 120)), 502, nonJson(POOL.slice(0, 120))],
  ['a connection cut in the body', cutOff, 502, silent('unreachable')],
  ['a body over 2 MiB', huge, 502, silent('too_large')],
  ['no answer', NEVER, 502, silent('timeout')],
  ['a hang-up', (request) => void request.destroy(), 502, silent('unreachable')],
  ['a redirect', send(302, '', redirected), 502, nonJson('')],
  ['a redirect with JSON', send(301, '{"a":1}', redirected), 502, failed('"a":1')],
  ['JSON without a pool', send(200, '{"data":null,"meta":{}}'), 200, json('{"data":null,"meta":{}}')],
  ['an empty object as pool', send(200, '{"data":{}}'), 200, json('{"data":{}}')],
  ['an error that has a code', send(500, '{"error_code":"X"}'), 500, json('{"error_code":"X"}')],
  ['an empty error', send(404, '{}'), 404, json('{"error_code":"NOT_FOUND"}')],
  ['a list', send(200, '[1.0]'), 200, json('[1.0]')],
] satisfies [string, Handler, number, object][];

describe.each(REFUSALS)('the pool API sends %s', (_name, handler, status, expected) => {
  beforeEach(() => upstreams.answerWith(handler));
  /** Uses a short timeout only where no response will ever arrive. */
  const service = () => upstreams.service({}, handler === NEVER ? 300 : undefined);

  it('returns the chain’s data with 200 when the pool API fails and the chain has the pool', async () => {
    plantPools();
    const response = await service().get(PATH);
    expect(response.status).toBe(200);
    const { data } = await jsonOf(response);
    expect(data).toMatchObject({ address: FIXED_POOL, poolDataSource: 'chain_rpc' });
    expect(response.headers.get('x-data-source')).toBe('chain_rpc');
    expect(upstreams.requests).toHaveLength(1);
  });

  it.each([
    ['the chain has no such account', () => undefined],
    ['the account is not a Whirlpool', () => upstreams.chain.set(FIXED_POOL, vault(USDC, 1n))],
    ['the chain cannot be read', () => upstreams.breakChain()],
  ])(`returns ${status} when the pool API fails and %s`, async (_why, spoil) => {
    spoil();
    const response = await service().get(PATH);
    expect(response.status).toBe(status);
    const text = await response.text();
    if ('body' in expected) expect(text).toBe(expected.body);
    else expect(JSON.parse(text)).toMatchObject(expected);
    // A redirect's target is never called.
    expect(upstreams.requests).toHaveLength(1);
  });
});

it('a rate-limit refusal keeps its waiting time, in the header and in the error body', async () => {
  upstreams.answerWith(send(429, '{}', { 'retry-after': '7' }));
  expect((await upstreams.service().get(PATH)).headers.get('retry-after')).toBe('7');
  upstreams.answerWith(send(429, 'slow down', { 'retry-after': '8' }));
  const response = await upstreams.service().get(PATH);
  expect(response.headers.get('retry-after')).toBe('8');
  expect(await response.json()).toMatchObject({ error: 'dex_non_json', retry_after_s: 8 });
  upstreams.answerWith(send(429, '{}', { 'retry-after': 'soon' }));
  expect((await upstreams.service().get(PATH)).headers.get('retry-after')).toBeNull();
});

it('the preview of an upstream body never ends in half a character', async () => {
  upstreams.answerWith(send(200, `${'x'.repeat(499)}😀`));
  const { body_preview } = await jsonOf(await upstreams.service().get(PATH));
  expect(body_preview).toBe('x'.repeat(499));
});

describe('the chain replaces the pool API', () => {
  beforeEach(() => {
    plantPools();
    upstreams.answerWith(send(404, '{}'));
  });

  it('the chain gives the whole pool in the upstream’s shape, in two round trips', async () => {
    const [vaultA, vaultB] = vaultsOf(FIXED_POOL);
    const peer = getWhirlpoolDecoder().decode(upstreams.chain.get(FIXED_POOL)?.data ?? new Uint8Array());
    const now = Date.parse('2026-11-20T10:00:00.000Z');
    const classic = { programId: TOKEN_PROGRAM, imageUrl: null, tags: [] };
    const response = await upstreams.service({ now: () => now }).get(PATH);
    expect(await response.json()).toEqual({
      data: {
        ...{ address: FIXED_POOL, poolType: 'whirlpool', poolDataSource: 'chain_rpc' },
        ...{ whirlpoolsConfig: '2LecshUwdy9xi7meFgHtFJQNSKk4KdTrcpvaB56dP2NQ', whirlpoolBump: [255] },
        ...{ tickSpacing: 4, tickSpacingSeed: [4, 0], feeTierIndex: 4, tickCurrentIndex: -26147 },
        ...{ feeRate: 400, swapFeePercentDisplay: '0.04%', protocolFeeRate: 1300 },
        ...{
          liquidity: '689480494328519',
          sqrtPrice: '4991046536690114137',
          price: '73.205513870173952480595',
        },
        ...{ tokenMintA: WSOL, tokenMintB: USDC, tokenVaultA: vaultA, tokenVaultB: vaultB },
        ...{ tokenBalanceA: '123456789012345', tokenBalanceB: '18446744073709551615' },
        tokenA: { ...classic, address: WSOL, name: null, symbol: null, decimals: 9 },
        tokenB: { ...classic, address: USDC, name: 'USD Coin', symbol: 'USDC', decimals: 6 },
        protocolFeeOwedA: peer.protocolFeeOwedA.toString(),
        protocolFeeOwedB: peer.protocolFeeOwedB.toString(),
        feeGrowthGlobalA: peer.feeGrowthGlobalA.toString(),
        feeGrowthGlobalB: peer.feeGrowthGlobalB.toString(),
        rewardLastUpdatedTimestamp: new Date(Number(peer.rewardLastUpdatedTimestamp) * 1000).toISOString(),
        rewards: [
          {
            mint: 'orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE',
            vault: peer.rewardInfos[0]?.vault,
            authority: 'DXnB9N9JLH5c9AYdKMGHQyspewSsvhFnwLK1tz1iPmZw',
            ...{ emissions_per_second_x64: '0', growth_global_x64: '4903944807059099939', active: false },
          },
        ],
        ...{ adaptiveFeeEnabled: false, adaptiveFee: null, tradeEnableTimestamp: '1970-01-01T00:00:00.000Z' },
        ...{ updatedAt: '2026-11-20T10:00:00.000Z', updatedSlot: 441_977_650 },
      },
    });
    expect(upstreams.chainReads).toHaveLength(2);
    const named = [metaplexAddress(WSOL), metaplexAddress(USDC)];
    expect(upstreams.chainReads[1]).toEqual([vaultA, vaultB, WSOL, USDC, ...named]);
  });

  it('the chain gives names from a Token-2022 mint and the adaptive fee from its oracle', async () => {
    const { data } = await jsonOf(await upstreams.service().get(`/api/dex/pool/${ADAPTIVE_POOL}`));
    expect(data).toMatchObject({
      tokenA: { address: SPYX, name: 'SP500 xStock', symbol: 'SPYx', decimals: 8 },
      tokenBalanceA: '7000000001',
      // The recording gives 774.5543181742219.
      price: '774.554318174221901886783',
      feeTierIndex: 1027,
      adaptiveFeeEnabled: true,
      adaptiveFee: {
        constants: CONSTANTS,
        variables: {
          lastReferenceUpdateTimestamp: new Date(1_787_800_000_000).toISOString(),
          volatilityReference: 5_000,
          tickGroupIndexReference: 319,
          volatilityAccumulator: 10_000,
        },
        currentRate: 164,
        maxRate: 16_384,
      },
    });
    expect(upstreams.chainReads).toHaveLength(2);
  });

  it('a pool read from the chain never shows zero for a vault that could not be read', async () => {
    upstreams.chain.delete(vaultsOf(FIXED_POOL)[1]);
    const service = upstreams.service();
    expect((await service.get(PATH)).status).toBe(404);
    expect(service.logged).toHaveLength(1);
  });

  it('refuses an account with the bytes of a pool that belongs to another program', async () => {
    const pool = upstreams.chain.get(FIXED_POOL);
    if (pool) upstreams.chain.set(FIXED_POOL, { ...pool, owner: USDC });
    expect((await upstreams.service().get(PATH)).status).toBe(404);
    expect(upstreams.chainReads).toHaveLength(1);
  });
});

/** Texts that would lead an unsafe proxy to another host, path or method. POOL is the address of a pool. */
const NO_ADDRESSES = String.raw`
  .. ../../admin ..%2f..%2fadmin %2e%2e%2f%2e%2e%2f ..\\..\\admin ....//....// ./../search /etc/passwd
  //evil.test/pools \\\\evil.test\\share http://127.0.0.1/ https://evil.test/x http:127.0.0.1 file:///etc/passwd
  gopher://127.0.0.1:6379/_INFO data:application/json,{} javascript:alert(1) @evil.test user:pass@evil.test
  127.0.0.1 localhost:8787 [::1] [::ffff:127.0.0.1] 0x7f000001 2130706433 017700000001 127.0.0.1.nip.io
  169.254.169.254/latest/meta-data metadata.google.internal ①②⑦.⓪.⓪.①
  POOL?stats=5m POOL#fragment POOL/../search POOL/extra POOL;x=1 POOL&q=1 POOL%00 POOL\u0000 POOL. POOL1 POOLPOOL
  POOL\u0020 \u0020POOL POOL\r\nHost:\u0020evil.test POOL@evil.test
`
  .trim()
  .split(/\s+/)
  .map((text) => String(JSON.parse(`"${text.replaceAll('POOL', FIXED_POOL)}"`)));

it.each([
  ...NO_ADDRESSES,
  FIXED_POOL.slice(3),
  FIXED_POOL.replace('f', 'О'),
  '1'.repeat(31),
  '1'.repeat(5_000),
])(
  'the text %j in place of a pool address causes no upstream call, or only a call for the pool that it begins with',
  async (text) => {
    upstreams.answerWith(send(200, POOL));
    const { status } = await upstreams.service().get(`/api/dex/pool/${encodeURIComponent(text)}`);
    expect([400, 404]).toContain(status);
    expect([upstreams.requests, upstreams.chainReads]).toEqual([[], []]);
    await upstreams.service().get(`/api/dex/pool/${text}`);
    const allowed = `${upstreams.host}/v2/solana/pools/${FIXED_POOL}`;
    expect(upstreams.requests.filter((request) => request !== allowed)).toEqual([]);
  },
);

describe('caching of pools', () => {
  it('a configured pool that the cron has read is served by every isolate without another read', async () => {
    const { stored, kv } = createKv();
    const isolate = () =>
      upstreams.service({
        addresses: { default: FIXED_POOL },
        cache: new Cache({ kv, now: Date.now, defer: (work) => void work }),
      });
    upstreams.answerWith(send(200, POOL));
    await findPool(isolate().deps, FIXED_POOL, true);
    for (const service of [isolate(), isolate()]) expect(await (await service.get(PATH)).text()).toBe(POOL);
    expect(upstreams.requests).toHaveLength(1);
    await isolate().get(`/api/dex/pool/${ADAPTIVE_POOL}`);
    expect([...stored.keys()]).toEqual([`cache::pool:${FIXED_POOL}`]);
  });

  it.each([
    ['an address that is not a pool', send(404, '{"message":"unknown"}'), 404, 1],
    ['an upstream that is overloaded', send(429, '{}'), 429, 2],
  ])('%s is requested again after a pause unless it is a miss', async (_name, handler, status, asked) => {
    let now = 0;
    const service = upstreams.service({ now: () => now });
    upstreams.answerWith(handler);
    for (now of [0, 30_000]) expect((await service.get(PATH)).status).toBe(status);
    expect(upstreams.requests).toHaveLength(asked);
    expect(upstreams.chainReads).toHaveLength(asked);
  });

  it('refuses the figures of another pool', async () => {
    upstreams.answerWith(send(200, POOL));
    const response = await upstreams.service().get(`/api/dex/pool/${ADAPTIVE_POOL}`);
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { error_code: 'UPSTREAM_FAILED', details: { reason: 'other_pool' } },
    ]);
  });
});

describe('the default pools', () => {
  const DEFAULTS = [
    ['pool-default', 'default'],
    ['pool-saeth-sausd-default', 'saeth-sausd'],
    ['pool-sausd-usdc-default', 'sausd-usdc'],
  ] as const;

  it.each(DEFAULTS)(
    '%s redirects to its pool; if POOL_ADDRESSES has no such pool, it returns 503 and names that setting',
    async (path, pool) => {
      const addresses = Object.fromEntries(DEFAULTS.map(([, name]) => [name, ADAPTIVE_POOL]));
      const at = (address: string | undefined) =>
        upstreams.service({ addresses: { ...addresses, [pool]: address } }).get(`/api/dex/${path}`);
      const found = await at(FIXED_POOL);
      expect([found.status, found.headers.get('location')]).toEqual([307, `/api/dex/pool/${FIXED_POOL}`]);
      const unset = await at(undefined);
      const details = { variables: ['POOL_ADDRESSES'] };
      expect([unset.status, await unset.json()]).toMatchObject([
        503,
        { error_code: 'NOT_CONFIGURED', details },
      ]);
      expect(upstreams.requests).toEqual([]);
    },
  );
});
