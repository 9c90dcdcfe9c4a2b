/**
 * Builds each API feature's dependencies, once per set of bindings and at the first request that needs them.
 * One function per feature, so that a feature receives only its own part. Each function imports the modules
 * that only its feature needs: building the schemas of one upstream takes milliseconds of an isolate's first
 * request.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { SwapRoute } from '../bridges/route.ts';
import { encodeBase58 } from '../chain/solana/address.ts';
import type { Config } from '../config.ts';
import { notConfigured } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { CALL_LIMITS } from '../core/limits.ts';
import type { TransactionStatus } from '../core/wait-for-finality.ts';
import type { UpstreamState } from '../features/status/get-status.ts';
import { type Cache, createCache } from '../http/cached.ts';
import { replicatedReads } from '../http/read-session.ts';
import { createWaiting } from '../http/wait.ts';
import type { Deps, Feature } from '../mounted-app.ts';
import type { SolanaRpc } from '../providers/solana-rpc.ts';
import type { clients } from './clients.ts';
import { custodianClient } from './custodian-client.ts';
import { missingAnywhere, missingFor } from './missing-settings.ts';
import { ipRetentionDays, pageViewBackup, pageViewObjects } from './page-views.ts';
import type { Reserve } from './swap-route.ts';
import { fetchFor, wired } from './telemetry.ts';
import type { UpstreamProbe } from './upstream-probes.ts';

type Sources = Awaited<ReturnType<typeof sourcesOf>>;

/** The platform, the configuration and the upstreams' clients, built once and passed to the features. */
async function sourcesOf(env: Env) {
  const config = wired(env);
  const { log } = config.telemetry;
  const newCache = (kv?: KVNamespace): Cache => createCache({ kv, now: Date.now, defer: waitUntil });
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const reserve = {
    solanaAddress: config.RESERVE_SOLANA_ADDRESS ?? null,
    bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null,
  };
  let upstreams: ReturnType<typeof clients> | undefined;
  return {
    env,
    config,
    log,
    reads: replicatedReads(env.DB),
    cache: newCache(env.KV),
    /** This isolate's memory only, for keys chosen by callers. */
    memory: newCache(),
    waiting: createWaiting({ memory: newCache(), now: Date.now, sleep }),
    sleep,
    /** The clients of the nodes, the Bitcoin indexes and the price venues. */
    async upstreams() {
      const module = await import('./clients.ts');
      upstreams ??= module.clients(config);
      return upstreams;
    },
    reserve,
    treasuryAddress: config.TREASURY_SOLANA_ADDRESS ?? reserve.solanaAddress,
    custody: custodianClient(env, reserve.solanaAddress, missingFor(config, 'custody'), log),
    publicBaseUrl: config.PUBLIC_BASE_URL ?? '',
  };
}

const FEATURES: { readonly [F in Feature]: (sources: Sources) => Promise<Deps[F]> } = {
  analytics: analyticsDeps,
  asry: asryDeps,
  exchange: exchangeDeps,
  nostr: nostrDeps,
  openapi: openApiDeps,
  ops: opsDeps,
  pools: poolsDeps,
  reserves: reservesDeps,
  status: statusDeps,
  swap: swapDeps,
  tokens: tokensDeps,
};

async function analyticsDeps({ env, config }: Sources): Promise<Deps['analytics']> {
  return {
    pageViews: () => pageViewObjects(env),
    siteHost: config.PUBLIC_BASE_URL && new URL(config.PUBLIC_BASE_URL).host,
    ipRetentionDays: ipRetentionDays(env),
    now: Date.now,
  };
}

async function asryDeps({
  reads,
  config,
  upstreams,
  custody,
  sleep,
  treasuryAddress,
}: Sources): Promise<Deps['asry']> {
  const { createAsryMirror } = await import('../features/asry/asry-store.ts');
  return {
    custody,
    claims: createAsryMirror(reads),
    transactionStatus: async (signature) => transactionStatus((await upstreams()).rpc, signature),
    treasuryAddress,
    depositMints: { USDC: config.USDC_MINT_ADDRESS, USDT: config.USDT_MINT_ADDRESS },
    requireAsry: () => {
      const absent = missingFor(config, 'asry');
      const mint = config.ASRY_MINT_ADDRESS;
      if (absent.length > 0 || mint === undefined) throw notConfigured(absent);
      return mint;
    },
    sleep,
    now: Date.now,
  };
}

async function exchangeDeps(sources: Sources): Promise<Deps['exchange']> {
  const { createExchangeStore } = await import('../features/exchange/exchange-store.ts');
  const { createChangeNow } = await import('../providers/changenow.ts');
  const { env, config, log, cache, memory, waiting, sleep } = sources;
  const { CHANGENOW_API_URL: baseUrl, CHANGENOW_API_KEY: apiKey } = config;
  return {
    changenow:
      apiKey === undefined
        ? undefined
        : createChangeNow({ baseUrl, apiKey, fetch: fetchFor(config, 'CHANGENOW_API_URL') }),
    exchanges: createExchangeStore(env.DB),
    cache,
    memory,
    waiting,
    sleep,
    defer: waitUntil,
    now: Date.now,
    log,
  };
}

async function nostrDeps({ config, cache, memory }: Sources): Promise<Deps['nostr']> {
  const { createFeedReader } = await import('../features/nostr-feed/read-feed.ts');
  const { createNostrRelays } = await import('../providers/nostr-relays.ts');
  return {
    feeds: config.invalid.includes('NOSTR_RELAYS')
      ? undefined
      : createFeedReader({
          relays: createNostrRelays({ urls: config.NOSTR_RELAYS, connect: (url) => new WebSocket(url) }),
          cache,
          memory,
          now: Date.now,
        }),
    identity: config.NOSTR_NPUB ?? config.NOSTR_NSEC,
  };
}

async function openApiDeps({ env, config, publicBaseUrl }: Sources): Promise<Deps['openapi']> {
  const { documentReader } = await import('../features/openapi/routes.ts');
  return {
    publicBaseUrl,
    securityContact: config.SECURITY_CONTACT,
    documents: documentReader(env.ASSETS, publicBaseUrl),
    now: Date.now,
  };
}

async function opsDeps(sources: Sources): Promise<Deps['ops']> {
  const { createRefundStore } = await import('../features/ops/refund-store.ts');
  const { esploras } = await sources.upstreams();
  return {
    opsSecret: sources.config.OPS_SECRET,
    custody: sources.custody,
    refunds: createRefundStore(sources.env.DB),
    pageViews: pageViewBackup(sources.env),
    missingForMint: missingFor(sources.config, 'mint'),
    reserve: sources.reserve,
    treasuryAddress: sources.treasuryAddress,
    knownMints: knownMints(sources.config),
    bitcoinSources: esploras,
    readAccounts: accountReader(sources),
  };
}

async function poolsDeps(sources: Sources): Promise<Deps['pools']> {
  const { createOrca } = await import('../providers/orca.ts');
  const { config, log, cache } = sources;
  return {
    orca: createOrca({ baseUrl: config.ORCA_API_URL, fetch: fetchFor(config, 'ORCA_API_URL') }),
    readAccounts: accountReader(sources),
    config: {
      POOL_DEFAULT_ADDRESS: config.POOL_DEFAULT_ADDRESS,
      POOL_SAETH_SAUSD_ADDRESS: config.POOL_SAETH_SAUSD_ADDRESS,
      POOL_SAUSD_USDC_ADDRESS: config.POOL_SAUSD_USDC_ADDRESS,
    },
    cache,
    now: Date.now,
    log,
  };
}

async function reservesDeps(sources: Sources): Promise<Deps['reserves']> {
  const [{ createAbsrStore, createProofStore }, { readBitcoinReserve }] = await Promise.all([
    import('../features/reserves/reserves-store.ts'),
    import('../features/reserves/get-reserves.ts'),
  ]);
  const { config, cache, sleep, reserve } = sources;
  const { rpc, esploras, readPrices } = await sources.upstreams();
  const { bitcoinAddress } = reserve;
  const reserveSources = { cache, bitcoinSources: esploras, sleep };
  return {
    ...reserveSources,
    memory: sources.memory,
    reserve,
    treasuryAddress: sources.treasuryAddress,
    solanaSources: rpc.nodes,
    supplySources: rpc.nodes,
    absrMint: config.ABSR_MINT_ADDRESS ?? null,
    absr: createAbsrStore(sources.reads),
    readReserve: bitcoinAddress
      ? (refresh) => readBitcoinReserve(reserveSources, bitcoinAddress, refresh)
      : null,
    readPrices,
    custody: sources.custody,
    proofs: createProofStore(sources.reads),
    now: Date.now,
  };
}

async function statusDeps(sources: Sources): Promise<Deps['status']> {
  const [{ activeAlarms }, { createDatabaseStore }, { createHeartbeat, releaseReader }] = await Promise.all([
    import('../features/status/check-alarms.ts'),
    import('../features/status/database-store.ts'),
    import('../features/status/get-status.ts'),
  ]);
  const { env, config, cache, custody } = sources;
  return {
    cache,
    memory: sources.memory,
    custody,
    missingVariables: missingAnywhere(config),
    pingDatabase: () => createDatabaseStore(env.DB).ping(),
    database: createDatabaseStore(sources.reads),
    heartbeat: createHeartbeat(env.KV),
    maxQuotes: CALL_LIMITS.read_quotes.quota,
    async readBacking() {
      const { getSummary } = await import('../features/reserves/get-summary.ts');
      return getSummary(await reservesDeps(sources));
    },
    async probeUpstreams() {
      const { upstreamProbes } = await import('./upstream-probes.ts');
      return Promise.all(upstreamProbes(config).map(probe));
    },
    readAlarms: () => activeAlarms(env.KV),
    readRelease: releaseReader({ assets: env.ASSETS, metadata: env.VERSION }),
    now: Date.now,
  };
}

async function swapDeps(sources: Sources): Promise<Deps['swap']> {
  const { createQuoteBudgetStore, createSwapStore } = await import('../features/swap/swap-store.ts');
  const { env, config } = sources;
  const { solanaAddress, bitcoinAddress } = sources.reserve;
  const missing = missingFor(config, 'custody');
  return {
    custody: sources.custody,
    swaps: createSwapStore(sources.reads),
    finalSwaps: new Map(),
    quote:
      solanaAddress && bitcoinAddress
        ? quoteReader(sources, { solanaAddress, bitcoinAddress })
        : () => Promise.reject(notConfigured(missing)),
    readPrices: async () => (await sources.upstreams()).readPrices(),
    quoteBudget: createQuoteBudgetStore(env.DB),
    maxCostBps: config.SWAP_MAX_COST_BPS,
    maxSwap: config.SWAP_MAX_SOL,
    maxCreatesPerClientHour: config.SWAP_MAX_CREATES_IP_HOUR,
    requireSwaps: () => {
      if (missing.length > 0) throw notConfigured(missing);
    },
    publicBaseUrl: sources.publicBaseUrl,
    cache: sources.cache,
    memory: sources.memory,
    waiting: sources.waiting,
    now: Date.now,
  };
}

/** Quotes of the swap route, which is built at the first quote. */
function quoteReader({ env, config }: Sources, reserve: Reserve): SwapRoute['quote'] {
  let route: SwapRoute | undefined;
  return async (request) => {
    const { feeNotes, swapRoute } = await import('./swap-route.ts');
    route ??= swapRoute(config, reserve, feeNotes(env.KV, waitUntil));
    return route.quote(request);
  };
}

async function tokensDeps(sources: Sources): Promise<Deps['tokens']> {
  const [{ createInvoiceReader }, { createSearchStore }, { createTokenFacts }, { createTokenStore }] =
    await Promise.all([
      import('../features/tokens/get-invoice.ts'),
      import('../features/tokens/search-store.ts'),
      import('../features/tokens/token-facts.ts'),
      import('../features/tokens/token-store.ts'),
    ]);
  const { env, config, custody, memory, treasuryAddress, upstreams } = sources;
  const readAccounts = accountReader(sources);
  const tokens = createTokenStore(sources.reads, env.DB);
  return {
    custody,
    tokens,
    invoices: createInvoiceReader({ tokens, custody, memory }),
    tokenFacts: createTokenFacts({ readAccounts, now: Date.now }),
    search: createSearchStore(sources.reads),
    readAccounts,
    rentExemption: async (bytes) => (await upstreams()).rpc.first((node) => node.rentExemption(bytes)),
    messageVersion: config.SOLANA_TRANSACTION_VERSION,
    simulate: async (message, signers) => {
      const { signedTransaction } = await import('../chain/solana/transaction.ts');
      const blank = new Uint8Array(64);
      const { wire } = signedTransaction(message, [blank, ...Array<Uint8Array>(signers - 1).fill(blank)]);
      const { rpc } = await upstreams();
      const { err } = await rpc.first((node) => node.simulate(btoa(String.fromCharCode(...wire))));
      return err === null ? null : stringifyJson(err).slice(0, 200);
    },
    isProgram: async (address) => (await readAccounts([address])).accounts[0] !== null,
    randomAddress: () => encodeBase58(crypto.getRandomValues(new Uint8Array(32))),
    reserve: sources.reserve,
    invoiceMargin: config.INVOICE_MARGIN_SOL,
    listingFee: config.LISTING_FEE_SOL,
    requirePayments: () => {
      const absent = missingFor(config, 'payments');
      if (absent.length > 0 || treasuryAddress === null) throw notConfigured(absent);
      return treasuryAddress;
    },
    transactionStatus: async (signature) => transactionStatus((await upstreams()).rpc, signature),
    publicBaseUrl: sources.publicBaseUrl,
    memory,
    waiting: sources.waiting,
    sleep: sources.sleep,
    now: Date.now,
  };
}

const knownMints = (config: Config) =>
  (['ABSR', 'ASRY', 'USDC', 'USDT'] as const).flatMap((asset) => {
    const mint = config[`${asset}_MINT_ADDRESS`];
    return mint === undefined ? [] : [{ asset, mint }];
  });

async function probe({ name, needed, ask }: UpstreamProbe): Promise<UpstreamState> {
  const started = Date.now();
  const ok = await ask().then(
    () => true,
    () => false,
  );
  return { name, ok, needed, ms: Date.now() - started };
}

/** @returns the accounts at `confirmed`, from the first node that answers */
const accountReader =
  ({ upstreams }: Sources) =>
  async (addresses: readonly string[]) =>
    (await upstreams()).rpc.first((node) => node.accounts(addresses, 'confirmed'));

type Built = { readonly sources: Sources; readonly features: Partial<Deps> };

const built = new WeakMap<Env, Built>();

/**
 * One set per `env`, because caches are part of it. The runtime passes the same `env` to every request of an
 * isolate until a variable or secret changes. It may then keep the isolate and pass a new one. Only finished
 * values are kept: a promise of a request that the runtime has cancelled would never settle.
 */
async function builtFor(env: Env): Promise<Built> {
  const known = built.get(env);
  if (known) return known;
  const sources = await sourcesOf(env);
  const made = built.get(env) ?? { sources, features: {} };
  built.set(env, made);
  return made;
}

export const sourcesFor = async (env: Env): Promise<Sources> => (await builtFor(env)).sources;

async function featureOf<F extends Feature>(env: Env, feature: F): Promise<Deps[F]> {
  const { sources, features } = await builtFor(env);
  const known: Deps[F] | undefined = features[feature];
  if (known) return known;
  const made = await FEATURES[feature](sources);
  const first: Deps[F] | undefined = features[feature];
  if (first) return first;
  features[feature] = made;
  return made;
}

/** The dependencies of some features, and the log. */
export async function featureDeps<F extends Feature>(
  env: Env,
  features: readonly F[],
): Promise<Pick<Deps, F | 'log'>> {
  const entries = features.map(async (feature) => [feature, await featureOf(env, feature)] as const);
  const { log } = await sourcesFor(env);
  return { log, ...Object.fromEntries(await Promise.all(entries)) } as Pick<Deps, F | 'log'>;
}

export const apiDeps = (env: Env): Promise<Deps> => featureDeps(env, Object.keys(FEATURES) as Feature[]);

/** The most advanced status that any node reports for a transaction. */
async function transactionStatus(rpc: SolanaRpc, signature: string): Promise<TransactionStatus> {
  const answers = await Promise.allSettled(rpc.nodes.map((node) => node.signatureStatus(signature)));
  const seen = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  // No node answered: throws the first node's failure.
  if (seen.length === 0) await rpc.first((node) => node.signatureStatus(signature));
  if (seen.some((status) => status?.commitment === 'finalized')) return 'final';
  // A failed node may have the transaction.
  return seen.length === answers.length && seen.every((status) => status === null) ? 'unknown' : 'pending';
}
