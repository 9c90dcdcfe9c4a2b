/**
 * Builds the dependencies of the API's features. One function per feature, so that a feature receives only its own
 * part.
 * @module
 */

import { waitUntil } from 'cloudflare:workers';
import { base64 } from '@scure/base';
import { renderIslands } from '../../site/render.js';
import type { Deps } from '../app.ts';
import { encodeBase58 } from '../chain/solana/address.ts';
import { movableAtoms } from '../chain/solana/token-program.ts';
import { signedTransaction } from '../chain/solana/transaction.ts';
import type { Config } from '../config.ts';
import { Budget } from '../core/budget.ts';
import { BUDGETS } from '../core/call-limits.ts';
import { HOUR_MS } from '../core/durations.ts';
import { AppError, failureReason, notConfigured } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import type { OfficialMints } from '../core/official-tokens.ts';
import { createAsryMirror } from '../features/asry/asry-store.ts';
import { createFeedReader } from '../features/nostr-feed/read-feed.ts';
import { readDocument } from '../features/openapi/routes.ts';
import { listBalances } from '../features/ops/list-balances.ts';
import { createRefundStore } from '../features/ops/refund-store.ts';
import type { OpsReport } from '../features/ops/routes.ts';
import { getReserves, readBitcoinReserve } from '../features/reserves/get-reserves.ts';
import { readCoverage } from '../features/reserves/get-summary.ts';
import { createAbsrStore, createProofStore, readLastChange } from '../features/reserves/reserves-store.ts';
import type { AlarmFacts } from '../features/status/alarm-rules.ts';
import { createAlarmStore } from '../features/status/alarm-store.ts';
import { type AlarmMessage, type Reporter, testMessage } from '../features/status/check-alarms.ts';
import { checkReady } from '../features/status/checks.ts';
import { createDatabaseStore } from '../features/status/database-store.ts';
import { createHeartbeat, readRelease, readState, type StatusReport } from '../features/status/get-status.ts';
import { readOperatorState, stateText } from '../features/status/operator-state.ts';
import { createSwapStore } from '../features/swap/swap-store.ts';
import { createSearchStore } from '../features/tokens/search-store.ts';
import { createTokenStore } from '../features/tokens/token-store.ts';
import { Cache } from '../http/cached.ts';
import { replicatedReads } from '../http/read-session.ts';
import { createWaiting } from '../http/wait.ts';
import { atPriority } from '../providers/admission.ts';
import { createSolanaRpc } from '../providers/solana-rpc.ts';
import { createWebhook } from '../providers/webhook.ts';
import { clients, relaysOf } from './clients.ts';
import { CustodianClient } from './custodian-client.ts';
import { missingAnywhere, missingFor } from './missing-settings.ts';
import { pageViewObjects } from './page-views.ts';
import { fetchFor, log, type Wired, wired } from './telemetry.ts';
import { type UpstreamProbed, upstreamProbes } from './upstream-probes.ts';

export type Sources = ReturnType<typeof sourcesOf>;

/** The platform, the configuration and the upstreams' clients, built once and passed to the features. */
function sourcesOf(env: Env) {
  const config = wired(env);
  const newCache = (kv?: KVNamespace) =>
    new Cache({
      kv,
      release: env.VERSION?.id,
      lastChange: () => readLastChange(env.DB),
      now: Date.now,
      defer: waitUntil,
    });
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const reserve = {
    solanaAddress: config.RESERVE_SOLANA_ADDRESS ?? null,
    bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null,
  };
  return {
    env,
    config,
    log,
    reads: replicatedReads(env.DB),
    cache: newCache(env.KV),
    /** This isolate's memory only, for keys chosen by callers. */
    memory: newCache(),
    /** Facts of tokens by mint, in a separate cache, because one page of a list adds a hundred. */
    facts: newCache(),
    waiting: createWaiting({ memory: newCache(), now: Date.now, sleep }),
    takeExchange: exchangeBudget(),
    sleep,
    ...clients(config),
    /** Not the custodian's nodes, so no read of a caller uses up their rate. */
    rpc: createSolanaRpc({
      urls: config.SOLANA_READ_RPC_URL,
      fetch: fetchFor(config, 'SOLANA_READ_RPC_URL'),
      name: 'solana-read',
    }),
    reserve,
    treasuryAddress: config.TREASURY_SOLANA_ADDRESS ?? reserve.solanaAddress,
    custody: new CustodianClient({
      env,
      location: config.CUSTODIAN_LOCATION,
      missing: missingFor(config, 'custody'),
      log,
    }),
    publicBaseUrl: config.PUBLIC_BASE_URL ?? '',
  };
}

/** Counts the exchanges that the requests of one isolate open. */
function exchangeBudget(): (client: string) => void {
  const limit = 'exchanges_per_hour';
  const budget = new Budget(BUDGETS[limit]);
  return (client) => {
    const verdict = budget.take(client, Date.now());
    if (verdict.ok) return;
    throw new AppError('RATE_LIMITED', 'This network has used its share of new exchanges.', {
      retryAfterSeconds: Math.max(Math.ceil(verdict.retryAfterMs / 1_000), 1),
      details: { limit },
    });
  };
}

function analyticsDeps({ env, config }: Sources): Deps['analytics'] {
  return {
    pageViews: () => pageViewObjects(env, config),
    siteHost: config.PUBLIC_BASE_URL && new URL(config.PUBLIC_BASE_URL).host,
    now: Date.now,
  };
}

function asryDeps(sources: Sources): Deps['asry'] {
  const { reads, config, custody, memory, treasuryAddress } = sources;
  const { ASRY_MINT_ADDRESS: asry, ASRY_SOURCE_ACCOUNT: source, RESERVE_SOLANA_ADDRESS: reserve } = config;
  return {
    custody,
    claims: createAsryMirror(reads),
    contact: config.SECURITY_CONTACT,
    treasuryAddress,
    depositMints: config.DOLLAR_MINTS,
    requireAsry: () => {
      const absent = missingFor(config, 'asry');
      const mint = config.ASRY_MINT_ADDRESS;
      if (absent.length > 0 || mint === undefined) throw notConfigured(absent);
      return mint;
    },
    memory,
    ...(asry && source && reserve
      ? {
          async readAllowance() {
            const [account] = (await accountReader(sources)([source])).accounts;
            return account ? movableAtoms(account.owner, account.data, asry, reserve) : 0n;
          },
        }
      : {}),
    now: Date.now,
  };
}

function exchangeDeps(sources: Sources): Deps['exchange'] {
  const { changenow, takeExchange, log, cache, memory } = sources;
  return { changenow, takeCreate: takeExchange, cache, memory, log };
}

function nostrDeps({ config, memory }: Sources): Deps['nostr'] {
  return {
    feeds: config.invalid.includes('NOSTR_RELAYS')
      ? undefined
      : createFeedReader({
          relays: relaysOf(config),
          memory,
          now: Date.now,
        }),
    identity: config.NOSTR_NPUB,
  };
}

/** Number of tokens in the sitemap, and how long an isolate keeps their list. */
const SITEMAP_TOKENS = 1_000;
const SITEMAP_POLICY = { freshMs: 300_000, revalidateMs: 0, staleMs: HOUR_MS };

function openApiDeps({ env, config, reads, memory, publicBaseUrl }: Sources): Deps['openapi'] {
  const tokens = createTokenStore(reads, env.DB);
  return {
    listedMints: async () =>
      (await memory.read('sitemap', SITEMAP_POLICY, () => tokens.listedMints(SITEMAP_TOKENS))).value,
    publicBaseUrl,
    operatorName: config.OPERATOR_NAME,
    securityContact: config.SECURITY_CONTACT,
    documents: (name) => readDocument({ assets: env.ASSETS, memory, origin: publicBaseUrl }, name),
    now: Date.now,
  };
}

function opsDeps(sources: Sources): Deps['ops'] {
  return {
    opsSecret: sources.config.OPS_SECRET,
    custody: sources.custody,
    refunds: createRefundStore(sources.env.DB),
    missingForMint: missingFor(sources.config, 'mint'),
    probeUpstreams: () => probeAll(sources),
    sendTestAlarm: testAlarmOf(sources.config, sources.env.KV),
    readState: () => showState(sources),
  };
}

/** The facts that decide the alarms, with a status that was just read. */
export async function alarmFacts(sources: Sources, status: StatusReport): Promise<AlarmFacts> {
  const { config, custody, reserve } = sources;
  const readSol = async () =>
    reserve.solanaAddress ? (await getReserves(reservesDeps(sources))).solana?.balanceLamports : null;
  const [view, balance] = await Promise.all([
    custody.operatorView().catch(() => null),
    readSol().catch(() => null),
  ]);
  const level = { balance: balance == null ? null : BigInt(balance), floor: config.RESERVE_FLOOR_SOL };
  return { status, view, level, nowMs: Date.now() };
}

async function showState(sources: Sources): Promise<OpsReport> {
  const { config, env, custody } = sources;
  const balances = {
    reserve: sources.reserve,
    treasuryAddress: sources.treasuryAddress,
    knownMints: knownMints(config),
    bitcoinSources: sources.esploras,
    readAccounts: accountReader(sources),
  };
  const state = await readOperatorState({
    readBalances: () => listBalances(balances),
    readState: () => readState(statusDeps(sources)),
    readFacts: (status) => alarmFacts(sources, status),
    probeNodes: () => custody.probeNodes(),
    databaseBytes: () => createDatabaseStore(env.DB).bytes(),
    readCalls: () => createHeartbeat(env.KV).calls(),
    operatingFloat: config.OPERATING_FLOAT_SOL,
    ...reporterOf(config),
  });
  return { ok: state.isComplete, message: stateText(state), state };
}

function poolsDeps(sources: Sources): Deps['pools'] {
  const { config, orca, log, cache, memory } = sources;
  return {
    orca,
    readAccounts: accountReader(sources),
    addresses: config.POOL_ADDRESSES ?? {},
    cache,
    memory,
    now: Date.now,
    log,
  };
}

function reservesDeps(sources: Sources): Deps['reserves'] {
  const { config, cache, sleep, reserve, rpc, esploras, readPrices } = sources;
  const { bitcoinAddress } = reserve;
  const reserveSources = { cache, bitcoinSources: esploras, sleep };
  return {
    ...reserveSources,
    reserve,
    treasuryAddress: sources.treasuryAddress,
    solanaSources: rpc.nodes,
    supplySources: rpc.nodes,
    absrMint: config.ABSR_MINT_ADDRESS ?? null,
    asryMint: config.ASRY_MINT_ADDRESS ?? null,
    mintAuthority: config.ABSR_MINT_AUTHORITY ?? null,
    absr: createAbsrStore(sources.reads),
    readReserve: bitcoinAddress
      ? (refresh: boolean) => readBitcoinReserve(reserveSources, bitcoinAddress, refresh)
      : null,
    readPrices,
    custody: sources.custody,
    proofs: createProofStore(sources.reads),
    now: Date.now,
  };
}

/**
 * Health and readiness are polled often, so an isolate asks the custodian and the database at most once in this time.
 */
const READY_POLICY = { freshMs: 2_000, revalidateMs: 0, staleMs: 0 };

function statusDeps(sources: Sources): Deps['status'] {
  const { env, config, cache, memory, custody } = sources;
  const signingState = async () =>
    (await memory.read('signing-state', READY_POLICY, () => custody.signingState())).value;
  const ready = () =>
    checkReady({
      missingVariables: missingAnywhere(config),
      pingDatabase: () => createDatabaseStore(env.DB).ping(),
      signingState: () => custody.signingState(),
    });
  return {
    cache,
    memory,
    custody,
    reserveAddress: sources.reserve.solanaAddress,
    signingState,
    checkReady: async () => (await memory.read('ready', READY_POLICY, ready)).value,
    database: createDatabaseStore(sources.reads),
    heartbeat: createHeartbeat(env.KV),
    readCoverage: () => readCoverage(reservesDeps(sources)),
    probeUpstreams: async () =>
      (await probeAll(sources)).map(({ name, ok, needed, ms }) => ({ name, ok, needed, ms })),
    openCircuits: () => config.admission.openCircuits(),
    readAlarms: () => createAlarmStore(env.DB).rows(),
    readRelease: () => readRelease({ assets: env.ASSETS, memory, metadata: env.VERSION }),
    now: Date.now,
  };
}

function swapDeps(sources: Sources): Deps['swap'] {
  const { config } = sources;
  const missing = missingFor(config, 'custody');
  return {
    custody: sources.custody,
    swaps: createSwapStore(sources.reads),
    contact: config.SECURITY_CONTACT,
    requireSwaps: () => {
      if (missing.length > 0) throw notConfigured(missing);
    },
    publicBaseUrl: sources.publicBaseUrl,
    cache: sources.cache,
    waiting: sources.waiting,
  };
}

/** Rents and programs change rarely. A creation that costs more than its invoice has reserved is not signed. */
const RENT_POLICY = { freshMs: 60_000, revalidateMs: 0, staleMs: 0 };

function tokensDeps(sources: Sources): Deps['tokens'] {
  const { env, config, custody, memory, treasuryAddress, rpc } = sources;
  const readAccounts = accountReader(sources);
  const tokens = createTokenStore(sources.reads, env.DB);
  return {
    custody,
    contact: config.SECURITY_CONTACT,
    tokens,
    facts: { memory: sources.facts, readAccounts },
    officialMints: officialMints(config),
    search: createSearchStore(sources.reads),
    readAccounts,
    rentExemption: async (bytes) =>
      BigInt(
        (
          await memory.read(`rent:${bytes}`, RENT_POLICY, () =>
            rpc.first((node) => node.rentExemption(bytes)),
          )
        ).value,
      ),
    messageVersion: config.SOLANA_TRANSACTION_VERSION,
    simulate: async (message) => {
      const blank = new Uint8Array(64);
      const { wire } = signedTransaction(message, [blank, blank]);
      const err = await rpc.first((node) => node.simulate(base64.encode(wire)));
      return err === null ? null : stringifyJson(err).slice(0, 200);
    },
    ownerOf: async (address) => (await readAccounts([address])).accounts[0]?.owner ?? null,
    ownAddresses: ownAddresses(sources),
    isProgram: async (address) =>
      (await memory.read(`program:${address}`, RENT_POLICY, () => readAccounts([address]))).value
        .accounts[0] !== null,
    randomAddress: () => encodeBase58(crypto.getRandomValues(new Uint8Array(32))),
    reserve: sources.reserve,
    invoiceMargin: config.PRICES_SOL.creation,
    listingFee: config.PRICES_SOL.listing,
    requirePayments: () => {
      const absent = missingFor(config, 'payments');
      if (absent.length > 0 || treasuryAddress === null) throw notConfigured(absent);
      return treasuryAddress;
    },
    publicBaseUrl: sources.publicBaseUrl,
    memory,
    waiting: sources.waiting,
  };
}

const ownAddresses = ({ config, reserve, treasuryAddress }: Sources): ReadonlySet<string> =>
  new Set(
    [
      reserve.solanaAddress,
      treasuryAddress,
      config.ASRY_SOURCE_ACCOUNT,
      ...knownMints(config).map(({ mint }) => mint),
    ].filter((address) => address != null),
  );

const officialMints = ({ ABSR_MINT_ADDRESS: absr, ASRY_MINT_ADDRESS: asry }: Config): OfficialMints =>
  new Map([
    ...(absr === undefined ? [] : [[absr, 'ABSR'] as const]),
    ...(asry === undefined ? [] : [[asry, 'ASRY'] as const]),
  ]);

const knownMints = (config: Config) =>
  Object.entries({
    ABSR: config.ABSR_MINT_ADDRESS,
    ASRY: config.ASRY_MINT_ADDRESS,
    ...config.DOLLAR_MINTS,
  }).flatMap(([asset, mint]) => (mint === undefined ? [] : [{ asset, mint }]));

/** How alarm messages name this service. */
export const reporterOf = (config: Config): Reporter => ({
  service: config.PUBLIC_BASE_URL ?? '',
});

/** Undefined if no webhook is configured. */
export function alarmWebhook(
  config: Wired,
  kv: KVNamespace,
): ((message: AlarmMessage) => Promise<void>) | undefined {
  const { ALARM_WEBHOOK_URL: url } = config;
  if (url === undefined) return undefined;
  const post = createWebhook({ url, fetch: fetchFor(config, 'ALARM_WEBHOOK_URL') });
  return (message) => {
    const call = post(message);
    waitUntil(createHeartbeat(kv).noted('webhook', Date.now(), call));
    return call;
  };
}

function testAlarmOf(config: Wired, kv: KVNamespace): (() => Promise<string>) | undefined {
  const notify = alarmWebhook(config, kv);
  return (
    notify &&
    (async () => {
      const message = testMessage(reporterOf(config), new Date().toISOString());
      await notify(message);
      return message.text;
    })
  );
}

/** Only the custodian calls its own nodes. */
async function probeAll(sources: Sources): Promise<UpstreamProbed[]> {
  const own = upstreamProbes(sources).map(async ({ name, needed, ask }): Promise<UpstreamProbed> => {
    const failure = await atPriority('probe', ask).then(() => null, failureReason);
    return { name, ok: failure === null, needed, ms: sources.config.admission.durationOf(name), failure };
  });
  const nodes = await sources.custody
    .probeNodes()
    .catch((error: unknown) => [{ name: 'solana-rpc', ms: 0, failure: failureReason(error), slot: null }]);
  return [
    ...nodes.map(({ name, ms, failure }) => ({ name, ms, failure, ok: failure === null, needed: true })),
    ...(await Promise.all(own)),
  ];
}

/** @returns the accounts at `confirmed`, from the first node that responds */
const accountReader =
  ({ rpc }: Sources) =>
  (addresses: readonly string[]) =>
    rpc.first((node) => node.accounts(addresses, 'confirmed'));

const built = new WeakMap<Env, { readonly sources: Sources; readonly deps: Deps }>();

/**
 * Builds the dependencies once per `env`, because they include caches. The runtime passes the same `env` to every
 * request of an isolate until a variable or secret changes. It may then keep the isolate and pass a new `env`.
 */
function builtFor(env: Env) {
  const known = built.get(env);
  if (known) return known;
  const sources = sourcesOf(env);
  const made = { sources, deps: depsOf(sources) };
  built.set(env, made);
  return made;
}

const depsOf = (sources: Sources): Deps => ({
  log: sources.log,
  analytics: analyticsDeps(sources),
  asry: asryDeps(sources),
  exchange: exchangeDeps(sources),
  nostr: nostrDeps(sources),
  openapi: openApiDeps(sources),
  ops: opsDeps(sources),
  pools: poolsDeps(sources),
  pages: { assets: sources.env.ASSETS, renderIslands, publicBaseUrl: sources.publicBaseUrl },
  reserves: reservesDeps(sources),
  status: statusDeps(sources),
  swap: swapDeps(sources),
  tokens: tokensDeps(sources),
});

export const sourcesFor = (env: Env): Sources => builtFor(env).sources;

export const apiDeps = (env: Env): Deps => builtFor(env).deps;
