/** Every read of the reserve shows an ended operation two seconds later, in each isolate, while KV repeats old reads for a minute. */

import { afterEach, expect, it, vi } from 'vitest';
import type { Deps } from '../../src/app.ts';
import { buildProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import { analyticsRoutes } from '../../src/features/analytics/routes.ts';
import { asryRoutes } from '../../src/features/asry/routes.ts';
import { absrRoutes } from '../../src/features/reserves/absr-routes.ts';
import { getProof } from '../../src/features/reserves/get-proof.ts';
import { getReserves, readBitcoinReserve } from '../../src/features/reserves/get-reserves.ts';
import { getSummary } from '../../src/features/reserves/get-summary.ts';
import { listBitcoin, listSolana } from '../../src/features/reserves/list-transactions.ts';
import { proofRoutes } from '../../src/features/reserves/proof-routes.ts';
import { reservesRoutes } from '../../src/features/reserves/routes.ts';
import { swapQuoteRoutes } from '../../src/features/swap/quote-routes.ts';
import { tokenRoutes } from '../../src/features/tokens/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createApi } from '../../src/mcp/api-client.ts';
import { callTool } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { wallet } from '../kit/addresses.ts';
import { PlatformKv } from '../kit/platform/kv.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { routerOver } from '../kit/router.ts';
import { mintData, tokenRow } from '../kit/token-accounts.ts';
import { openRoom } from './swap-service.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const [RESERVE, MINT] = [wallet(1), wallet(2)];
const ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

/** What the chains show before and after an operation. No figure is part of another one. */
const BEFORE = { sats: 51_739n, lamports: 22_817n, atoms: 40_253n, txid: '4'.repeat(64), slot: 35_507n };
const AFTER = { sats: 68_147n, lamports: 77_391n, atoms: 59_023n, txid: '9'.repeat(64), slot: 36_061n };
type World = { chain: typeof BEFORE; lastChange: number };

const proofOf = ({ sats: amount }: typeof BEFORE) => ({
  message: buildProofMessage({
    ...{ service: 'sluice.test', bitcoinAddress: ADDRESS, solanaAddress: RESERVE },
    ...{ reserveSats: sats(amount), solanaLamports: lamports(1n), absr: null },
    ...{ bitcoinTip: { height: 100, hash: 'a'.repeat(64) }, solanaTip: { slot: 5n, blockhash: MINT } },
    ...{ time: new Date(NOW).toISOString(), previousProof: null },
  }),
  ...{ timestamp: new Date(NOW).toISOString(), hash: 'b'.repeat(64), offline: false },
  bitcoin: { scheme: 'bip322-simple', signature: 'smp1', unprefixed: '1' },
  solana: { scheme: 'ed25519-utf8', signature: '2' },
});

/** An epoch in which this much was deposited. */
const epochOf = (depositsAtoms: bigint) => ({
  ...{ number: 1, startsAt: NOW / 1_000 - 60, endsAt: NOW / 1_000 + 3_600 },
  ...{ claims: 1, decimals: 9, price: null },
  ...{ capAtoms: 1n, depthAtoms: 1n, depositsAtoms, entitledAtoms: 1n, paidAtoms: 1n },
  ...{ nextUnitMicroAtoms: 1n, nextDollarAtoms: 1n },
});

/** One isolate over the chains of the world, with its own memory. */
function isolate(world: World, kv: KVNamespace) {
  const options = { now: Date.now, lastChange: async () => world.lastChange, defer: () => undefined };
  const [cache, memory] = [new Cache({ ...options, kv }), new Cache(options)];
  const accounts = async () => ({
    slot: world.chain.slot,
    accounts: [
      { owner: RESERVE, lamports: world.chain.lamports, data: new Uint8Array() },
      { owner: TOKEN_PROGRAM, lamports: 1n, data: mintData({ supply: world.chain.atoms }) },
    ],
  });
  const esplora = {
    name: 'esplora-1',
    balance: async () => ({ confirmed: world.chain.sats, pendingDelta: 0n, confirmedTxs: 1, pendingTxs: 0 }),
    mempoolTxs: async () => [],
    chainTxs: async (_: string, after?: string) =>
      after === undefined ? [{ txid: world.chain.txid, block: null, inputs: [], outputs: [] }] : [],
  };
  const node = {
    name: 'rpc-1',
    accounts,
    tokenSupply: async () => ({ atoms: world.chain.atoms, decimals: 0, slot: world.chain.slot }),
    signaturesFor: async () => [{ signature: 's', slot: world.chain.slot, err: null, blockTime: 1 }],
  };
  const reserve = { bitcoinAddress: ADDRESS, solanaAddress: RESERVE };
  const sources = { cache, bitcoinSources: [esplora], sleep: async () => undefined };
  const custody = {
    signingState: async () => ({ watchOnly: false }),
    swapRoom: async () => ({ ...openRoom, balanceLamports: world.chain.lamports }),
  };
  const deps = {
    reserves: {
      ...{
        ...sources,
        memory,
        reserve,
        custody,
        now: Date.now,
        solanaSources: [node],
        supplySources: [node],
      },
      ...{ absrMint: MINT, asryMint: null, mintAuthority: null, treasuryAddress: null },
      readReserve: (refresh: boolean) => readBitcoinReserve(sources, ADDRESS, refresh),
      readPrices: async () => [{ source: 'kraken', btcUsd: 80_000_000_000n, solUsd: 200_000_000n }],
      proofs: { newest: async () => proofOf(world.chain) },
    },
    swap: { cache, custody, requireSwaps: () => undefined },
    analytics: {
      pageViews: () => [
        {
          read: async () => ({
            ...{ paths: [], referrers: [], recent: [] },
            periods: [{ period: 'total', pageviews: Number(world.chain.atoms), visitors: 0, bots: 0 }],
          }),
        },
      ],
      now: Date.now,
    },
    asry: {
      ...{ memory, custody, requireAsry: () => MINT, treasuryAddress: RESERVE },
      ...{ depositMints: {}, now: Date.now },
      claims: { epochs: async () => [epochOf(world.chain.sats)] },
      readAllowance: async () => world.chain.atoms,
    },
    tokens: {
      tokens: { list: async () => [tokenRow({ name: `paid ${world.chain.slot}` })] },
      facts: { memory, readAccounts: async () => ({ accounts: [(await accounts()).accounts[1] ?? null] }) },
      officialMints: new Map([[MINT, 'ABSR']]),
      reserve,
    },
  };
  const { reserves } = deps as unknown as Deps;
  const cron = async () => {
    for (const read of [getReserves, getSummary, listBitcoin, listSolana, getProof])
      await read(reserves, true);
  };
  const all = [
    reservesRoutes,
    absrRoutes,
    proofRoutes,
    swapQuoteRoutes,
    tokenRoutes,
    asryRoutes,
    analyticsRoutes,
  ];
  const app = routerOver(
    () => deps as unknown as Deps,
    (router) => {
      for (const routes of all) router.route('/api', routes as never);
    },
  );
  return { app, cron };
}

/** The figure of the operation in each read. */
const READS: readonly (readonly [path: string, figure: keyof typeof BEFORE])[] = [
  ['/api/reserves', 'sats'],
  ['/api/reserves', 'lamports'],
  ['/api/transactions/bitcoin', 'txid'],
  ['/api/transactions/solana', 'slot'],
  ['/api/arbitrage/summary', 'sats'],
  ['/api/arbitrage/summary', 'atoms'],
  ['/api/badge/reserve.svg', 'sats'],
  ['/api/badge/reserve.svg', 'atoms'],
  ['/api/proof', 'sats'],
  ['/api/swap/min', 'lamports'],
  [`/api/tokens/${MINT}`, 'atoms'],
  ['/api/asry/epoch', 'atoms'],
  ['asry_epoch', 'atoms'],
  ['get_reserves', 'sats'],
  ['swap_min', 'lamports'],
];

/** Reads of rows and objects, which no cache holds: a payment, a deposit and a page view show at once. */
const UNCACHED: typeof READS = [
  ['/api/tokens', 'slot'],
  ['/api/asry/epoch', 'sats'],
  ['/api/analytics/stats', 'atoms'],
];

type App = ReturnType<typeof isolate>['app'];
/** The text of a path or of an agent's tool, without the breaks in long numbers. */
async function textOf(app: App, read: string): Promise<string> {
  if (read.startsWith('/')) return (await (await app(read)).text()).replace(/(\d),(?=\d)/g, '$1');
  const tool = TOOLS.find(({ name }) => name === read);
  if (!tool) throw new Error(`no tool ${read}`);
  const fetch = (input: string | URL | Request, init?: RequestInit) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return app(pathname + search, init);
  };
  const api = createApi({ origin: 'http://sluice.test', unreachableRepair: '', fetch });
  const recent = { find: () => undefined, keep: () => undefined };
  return JSON.stringify(await callTool(tool, {}, { api, recent, verifyProof: async () => ({}) }));
}

afterEach(() => vi.useRealTimers());

it.each([
  ['show', 'that has ended', 3_000],
  // The control: an operation that has not ended changes no read yet.
  ['do not show', 'that has not ended', null],
])('two isolates %s the effect of an operation %s, in every read', async (_verb, _what, endedAfterMs) => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const world: World = { chain: BEFORE, lastChange: 0 };
  const { stored, kv: memory } = createKv();
  const kv = new PlatformKv(memory);
  const isolates = [isolate(world, kv.location()), isolate(world, kv.location())];
  const shown = async () =>
    Promise.all(
      isolates.flatMap(({ app }) =>
        [...READS, ...UNCACHED].map(async ([read, figure]) => {
          const text = await textOf(app, read);
          const [isNew, isOld] = [AFTER, BEFORE].map((chain) => text.includes(String(chain[figure])));
          return [read, figure, isNew && !isOld ? 'new' : isOld && !isNew ? 'old' : text];
        }),
      ),
    );
  const all = (age: string, uncached = age) =>
    isolates.flatMap(() => [
      ...READS.map((read) => [...read, age]),
      ...UNCACHED.map((read) => [...read, uncached]),
    ]);
  await isolates[0]?.cron();
  expect(await shown()).toEqual(all('old'));
  expect(stored.size).toBeGreaterThan(5);
  world.chain = AFTER;
  if (endedAfterMs !== null) world.lastChange = NOW + endedAfterMs;
  vi.setSystemTime(NOW + 2_900);
  await shown();
  vi.setSystemTime(NOW + 5_000);
  expect(await shown()).toEqual(all(endedAfterMs === null ? 'old' : 'new', 'new'));
});
