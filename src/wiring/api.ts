/**
 * Builds what the API runs on, once per set of bindings.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { Deps } from '../app.ts';
import { encodeBase58 } from '../chain/solana/address.ts';
import { signedTransaction } from '../chain/solana/transaction.ts';
import type { Config } from '../config.ts';
import { notConfigured } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import type { TransactionStatus } from '../core/wait-for-finality.ts';
import { createAnalyticsStore } from '../features/analytics/analytics-store.ts';
import { createAsryMirror } from '../features/asry/asry-store.ts';
import { createExchangeStore } from '../features/exchange/exchange-store.ts';
import { createFeedReader } from '../features/nostr-feed/read-feed.ts';
import { documentReader } from '../features/openapi/stored-documents.ts';
import { createRefundStore } from '../features/ops/refund-store.ts';
import { createAbsrStore } from '../features/reserves/absr-store.ts';
import { readBitcoinReserve } from '../features/reserves/get-reserves.ts';
import { getSummary, type SummaryDeps } from '../features/reserves/get-summary.ts';
import { createProofStore } from '../features/reserves/proof-store.ts';
import { activeAlarms } from '../features/status/check-alarms.ts';
import { createDatabaseStore } from '../features/status/database-store.ts';
import type { UpstreamState } from '../features/status/get-status.ts';
import { createHeartbeat } from '../features/status/heartbeat.ts';
import { releaseReader } from '../features/status/release.ts';
import { createQuoteBudgetStore } from '../features/swap/quote-budget-store.ts';
import { READ_QUOTES_PER_WINDOW } from '../features/swap/read-quote.ts';
import { createSwapStore } from '../features/swap/swap-store.ts';
import { createSearchStore } from '../features/tokens/search-store.ts';
import { createTokenFacts } from '../features/tokens/token-facts.ts';
import { createTokenStore } from '../features/tokens/token-store.ts';
import { type Cache, createCache } from '../http/cached.ts';
import { createWaiting } from '../http/wait.ts';
import { createChangeNow } from '../providers/changenow.ts';
import { createNostrRelays } from '../providers/nostr-relays.ts';
import { createOrca } from '../providers/orca.ts';
import type { SolanaRpc } from '../providers/solana-rpc.ts';
import { analyticsDatabase } from './analytics-database.ts';
import { clients, feeNotes, fetchFor, swapRoutes } from './clients.ts';
import { missingAnywhere, missingFor, reserveOf } from './configured.ts';
import { custodianClient } from './custodian-client.ts';
import { type Wired, wired } from './telemetry.ts';
import { type UpstreamProbe, upstreamProbes } from './upstream-probes.ts';

function changeNowOf(config: Wired) {
  const { CHANGENOW_API_URL: baseUrl, CHANGENOW_API_KEY: apiKey } = config;
  if (apiKey === undefined) return undefined;
  return createChangeNow({ baseUrl, apiKey, fetch: fetchFor(config, 'CHANGENOW_API_URL') });
}

const feedReader = (urls: readonly string[], cache: Cache, memory: Cache) =>
  createFeedReader({
    relays: createNostrRelays({ urls, connect: (url) => new WebSocket(url) }),
    cache,
    memory,
    now: Date.now,
  });

function buildApiDeps(env: Env): Deps {
  const config = wired(env);
  const { log } = config.telemetry;
  const cache = createCache({ kv: env.KV, now: Date.now, defer: waitUntil });
  const memory = createCache({ kv: undefined, now: Date.now, defer: waitUntil });
  const { rpc, esploras, readPrices } = clients(config);
  const reserve = reserveOf(config);
  const { solanaAddress, bitcoinAddress } = reserve;
  const missing = missingFor(config, 'custody');
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const reserveSources = { cache, bitcoinSources: esploras, sleep };
  const summary: SummaryDeps = {
    cache,
    readPrices,
    absrMint: config.ABSR_MINT_ADDRESS ?? null,
    supplySources: rpc.nodes,
    readReserve: bitcoinAddress
      ? (refresh) => readBitcoinReserve(reserveSources, bitcoinAddress, refresh)
      : null,
    sleep,
  };
  return {
    ...summary,
    readBacking: () => getSummary(summary),
    log,
    config,
    cache,
    db: env.DB,
    now: Date.now,
    reserve,
    treasuryAddress: config.TREASURY_SOLANA_ADDRESS ?? solanaAddress,
    depositMints: { USDC: config.USDC_MINT_ADDRESS, USDT: config.USDT_MINT_ADDRESS },
    bitcoinSources: esploras,
    solanaSources: rpc.nodes,
    holdsBitcoinKey: config.BTC_PRIVATE_KEY_WIF !== undefined,
    proofs: createProofStore(env.DB),
    missingForProof: missingFor(config, 'proof'),
    absr: createAbsrStore(env.DB),
    opsSecret: config.OPS_SECRET,
    missingForMint: missingFor(config, 'mint'),
    refunds: createRefundStore(env.DB),
    knownMints: knownMints(config),
    missingVariables: missingAnywhere(config),
    pingDatabase: () => createDatabaseStore(env.DB).ping(),
    database: createDatabaseStore(env.DB),
    heartbeat: createHeartbeat(env.KV),
    maxQuotes: READ_QUOTES_PER_WINDOW,
    probeUpstreams: () => Promise.all(upstreamProbes(config).map(probe)),
    readAlarms: () => activeAlarms(env.KV),
    readRelease: releaseReader({ assets: env.ASSETS, metadata: env.VERSION }),
    custody: custodianClient(env, solanaAddress, missing, log),
    routes:
      solanaAddress && bitcoinAddress
        ? swapRoutes(config, { solanaAddress, bitcoinAddress }, feeNotes(env.KV, waitUntil))
        : [],
    readPrices,
    maxCostBps: config.SWAP_MAX_COST_BPS,
    maxSwap: config.SWAP_MAX_SOL,
    quoteBudget: createQuoteBudgetStore(env.DB),
    swaps: createSwapStore(env.DB),
    finalSwaps: new Map(),
    maxCreatesPerClientHour: config.SWAP_MAX_CREATES_IP_HOUR,
    publicBaseUrl: config.PUBLIC_BASE_URL ?? '',
    documents: documentReader(env.ASSETS, config.PUBLIC_BASE_URL ?? ''),
    securityContact: config.SECURITY_CONTACT,
    memory,
    waiting: createWaiting({
      memory: createCache({ kv: undefined, now: Date.now, defer: waitUntil }),
      now: Date.now,
      sleep,
    }),
    changenow: changeNowOf(config),
    exchanges: createExchangeStore(env.DB),
    sleep,
    defer: waitUntil,
    analytics: createAnalyticsStore(analyticsDatabase(env), waitUntil),
    siteHost: config.PUBLIC_BASE_URL && new URL(config.PUBLIC_BASE_URL).host,
    // A value that cannot be read must not keep addresses for longer than the operator meant.
    ipRetentionDays: config.invalid.includes('ANALYTICS_IP_RETENTION_DAYS')
      ? 0
      : config.ANALYTICS_IP_RETENTION_DAYS,
    orca: createOrca({ baseUrl: config.ORCA_API_URL, fetch: fetchFor(config, 'ORCA_API_URL') }),
    readAccounts: (addresses) => rpc.first((node) => node.accounts(addresses, 'confirmed')),
    feeds: config.invalid.includes('NOSTR_RELAYS')
      ? undefined
      : feedReader(config.NOSTR_RELAYS, cache, memory),
    identity: config.NOSTR_NPUB ?? config.NOSTR_NSEC,
    rentExemption: (bytes) => rpc.first((node) => node.rentExemption(bytes)),
    messageVersion: config.SOLANA_TRANSACTION_VERSION,
    simulate: async (message, signers) => {
      const blank = new Uint8Array(64);
      const { wire } = signedTransaction(message, [blank, ...Array<Uint8Array>(signers - 1).fill(blank)]);
      const { err } = await rpc.first((node) => node.simulate(btoa(String.fromCharCode(...wire))));
      return err === null ? null : stringifyJson(err).slice(0, 200);
    },
    isProgram: async (address) =>
      (await rpc.first((node) => node.accounts([address], 'confirmed'))).accounts[0] !== null,
    invoiceMargin: config.INVOICE_MARGIN_SOL,
    randomAddress: () => encodeBase58(crypto.getRandomValues(new Uint8Array(32))),
    listingFee: config.LISTING_FEE_SOL,
    tokens: createTokenStore(env.DB),
    tokenFacts: createTokenFacts({
      readAccounts: (addresses) => rpc.first((node) => node.accounts(addresses, 'confirmed')),
      now: Date.now,
    }),
    search: createSearchStore(env.DB),
    requirePayments: () => {
      const absent = missingFor(config, 'payments');
      const treasury = config.TREASURY_SOLANA_ADDRESS ?? solanaAddress;
      if (absent.length > 0 || treasury === null) throw notConfigured(absent);
      return treasury;
    },
    claims: createAsryMirror(env.DB),
    transactionStatus: (signature) => transactionStatus(rpc, signature),
    requireAsry: () => {
      const absent = missingFor(config, 'asry');
      const mint = config.ASRY_MINT_ADDRESS;
      if (absent.length > 0 || mint === undefined) throw notConfigured(absent);
      return mint;
    },
    requireSwaps: () => {
      if (missing.length > 0) throw notConfigured(missing);
    },
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

const built = new WeakMap<Env, Deps>();

/**
 * One set per `env`, because caches live in it. The runtime passes the same `env` to every request of an isolate until a
 * variable or secret changes; then it may keep the isolate and pass a new one.
 */
export function apiDeps(env: Env): Deps {
  let deps = built.get(env);
  if (deps === undefined) {
    deps = buildApiDeps(env);
    built.set(env, deps);
  }
  return deps;
}

/** The most that any node knows of a transaction. */
async function transactionStatus(rpc: SolanaRpc, signature: string): Promise<TransactionStatus> {
  const answers = await Promise.allSettled(rpc.nodes.map((node) => node.signatureStatus(signature)));
  const seen = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  // None answered: the failure of the first is as good as any.
  if (seen.length === 0) await rpc.first((node) => node.signatureStatus(signature));
  if (seen.some((status) => status?.commitment === 'finalized')) return 'final';
  // A node that failed may know it.
  return seen.length === answers.length && seen.every((status) => status === null) ? 'unknown' : 'pending';
}
