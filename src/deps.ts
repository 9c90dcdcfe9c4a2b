/**
 * Builds every client and store from the configuration, once an isolate.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { Deps } from './app.ts';
import { createNearIntentsRoute } from './bridges/near-intents.ts';
import type { SwapRoute } from './bridges/route.ts';
import { encodeBase58 } from './chain/solana/address.ts';
import { depositTerms } from './chain/solana/deposit.ts';
import { EXCHANGE_WALLETS } from './chain/solana/deposit-exchanges.ts';
import { decodeMint } from './chain/solana/mint.ts';
import { signedTransaction } from './chain/solana/transaction.ts';
import { type Config, readConfig } from './config.ts';
import { AppError } from './core/errors.ts';
import { stringifyJson } from './core/json.ts';
import { type PriceReport, USD_DECIMALS } from './core/price.ts';
import type { CustodianApi } from './custody/api.ts';
import { createAsryPorts } from './custody/asry-ports.ts';
import { createChainPort } from './custody/chain-port.ts';
import type { CustodyDeps } from './custody/create-custodian.ts';
import { createTokenKind } from './custody/kinds/token.ts';
import { createD1Mirror } from './custody/outbox.ts';
import type { Signer } from './custody/ports.ts';
import { createReservePorts } from './custody/reserve-ports.ts';
import {
  addressOfSecret,
  createMintKeys,
  createProofSigner,
  createSigner,
  isBitcoinKey,
  type MintKeys,
} from './custody/signer.ts';
import { createAbsrStore } from './features/absr/absr-store.ts';
import { getSummary, type SummaryDeps } from './features/absr/get-summary.ts';
import { watchBacking } from './features/absr/watch-backing.ts';
import { createAnalyticsStore } from './features/analytics/analytics-store.ts';
import { purgeAnalytics } from './features/analytics/purge-analytics.ts';
import { createAsryMirror } from './features/asry/asry-store.ts';
import type { DepositStatus } from './features/asry/claim-from-deposit.ts';
import { createExchangeStore } from './features/exchange/exchange-store.ts';
import { purgeExchange } from './features/exchange/purge-exchange.ts';
import { createFeedReader } from './features/nostr-feed/read-feed.ts';
import { getProof } from './features/reserves/get-proof.ts';
import { getReserves, readBitcoinReserve } from './features/reserves/get-reserves.ts';
import { listBitcoin } from './features/reserves/list-bitcoin.ts';
import { listSolana } from './features/reserves/list-solana.ts';
import { createProofStore } from './features/reserves/proof-store.ts';
import { raiseAlarms } from './features/status/check-alarms.ts';
import { createDatabaseStore } from './features/status/database-store.ts';
import { getStatus } from './features/status/get-status.ts';
import { createHeartbeat } from './features/status/heartbeat.ts';
import { createQuoteBudgetStore } from './features/swap/quote-budget-store.ts';
import { READ_QUOTES_PER_WINDOW } from './features/swap/read-quote.ts';
import { createSwapStore } from './features/swap/swap-store.ts';
import { createSearchStore } from './features/tokens/search-store.ts';
import { createTokenStore } from './features/tokens/token-store.ts';
import { type Cache, createCache } from './http/cached.ts';
import { createChangeNow } from './providers/changenow.ts';
import { createEsplora } from './providers/esplora.ts';
import type { Fetch } from './providers/http.ts';
import { createNearIntents } from './providers/near-intents.ts';
import { createNostrRelays } from './providers/nostr-relays.ts';
import { createOrca } from './providers/orca.ts';
import { createCoinbase, createHyperliquid, createKraken } from './providers/price-venues.ts';
import { createSolanaRpc, type SolanaRpc } from './providers/solana-rpc.ts';
import { createWebhook } from './providers/webhook.ts';
import type { ScheduledDeps } from './scheduled.ts';

const log = (line: Readonly<Record<string, unknown>>) => console.log(stringifyJson(line));
const fetchUpstream: Fetch = (url, init) => fetch(url, init);

/** Clients that the API and the custodian build alike. */
function clients(config: Config) {
  const fetch = fetchUpstream;
  const rpc = createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch });
  const esploras = config.ESPLORA_API_URLS.map((baseUrl, index) =>
    createEsplora({ baseUrl, name: `esplora-${index + 1}`, fetch }),
  );
  const venues = [
    createHyperliquid({ baseUrl: config.HYPERLIQUID_API_URL, fetch }),
    createCoinbase({ baseUrl: config.COINBASE_API_URL, fetch }),
    createKraken({ baseUrl: config.KRAKEN_API_URL, fetch }),
  ];

  /** Reports of the venues that answer, in their order. */
  async function readPrices(): Promise<PriceReport[]> {
    const reports = await Promise.allSettled(venues.map((venue) => venue.read()));
    return reports.flatMap((report) => (report.status === 'fulfilled' ? [report.value] : []));
  }

  return { rpc, esploras, venues, readPrices };
}

type Reserve = { readonly solanaAddress: string; readonly bitcoinAddress: string };

function swapRoutes(config: Config, reserve: Reserve): SwapRoute[] {
  const { NEAR_INTENTS_API_URL: baseUrl, NEAR_INTENTS_JWT: jwt, NEAR_INTENTS_QUOTE_KEY: quoteKey } = config;
  const provider = createNearIntents({ baseUrl, jwt, fetch: fetchUpstream });
  const { solanaAddress: reserveAddress, bitcoinAddress } = reserve;
  return config.SWAP_ROUTES.map(() =>
    createNearIntentsRoute({ provider, quoteKey, reserveAddress, bitcoinAddress, now: Date.now }),
  );
}

/** Variables that swaps need and do not have. */
const missingForSwaps = (config: Config): string[] =>
  (['SOLANA_PRIVATE_KEY', 'RESERVE_BTC_ADDRESS', 'PUBLIC_BASE_URL'] as const).filter((name) => !config[name]);

/** Variables that claims need and do not have, or have wrong. */
const missingForAsry = (config: Config): string[] => [
  ...(['SOLANA_PRIVATE_KEY', 'RESERVE_BTC_ADDRESS', 'ASRY_MINT_ADDRESS'] as const).filter(
    (name) => !config[name],
  ),
  ...config.invalid.filter((name) => /^(ASRY_(?!MINT)|RENT_BUDGET|USD|TREASURY_SOLANA)/.test(name)),
];

/** The Bitcoin key, where one is configured, must be the reserve's. */
const wrongBitcoinKey = ({ BTC_PRIVATE_KEY_WIF: wif, RESERVE_BTC_ADDRESS: address }: Config): string[] =>
  address === undefined || isBitcoinKey(wif, address) ? [] : ['BTC_PRIVATE_KEY_WIF'];

function reserveOf(config: Config) {
  const secret = config.SOLANA_PRIVATE_KEY;
  return {
    solanaAddress: (secret && addressOfSecret(secret)) ?? null,
    bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? null,
  };
}

const notConfigured = (variables: string[]): AppError =>
  new AppError('NOT_CONFIGURED', `The operator has not configured ${variables.join(', ')}.`, {
    details: { variables },
  });

/** The custodian's calls over the wire. A call that fails says so; whether it acted is the custodian's to know. */
function custodianClient(env: Env, reserveAddress: string | null): CustodianApi {
  async function call<T>(ask: (stub: ReturnType<Env['CUSTODIAN']['getByName']>) => Promise<T>): Promise<T> {
    if (reserveAddress === null) throw notConfigured(['SOLANA_PRIVATE_KEY']);
    try {
      return await ask(env.CUSTODIAN.getByName(reserveAddress));
    } catch (cause) {
      log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
      throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not answer.', {
        retryAfterSeconds: 5,
        cause,
      });
    }
  }
  return {
    createSwap: (request) => call(async (stub) => stub.createSwap(request)),
    previewSwap: (request) => call(async (stub) => stub.previewSwap(request)),
    findSwap: (signature) => call(async (stub) => stub.findSwap(signature)),
    swapRoom: () => call(async (stub) => stub.swapRoom()),
    report: () => call(async (stub) => stub.report()),
    openRequest: (request) => call(async (stub) => stub.openRequest(request)),
    findRequest: (id) => call(async (stub) => stub.findRequest(id)),
    confirmPayment: (id, signature) => call(async (stub) => stub.confirmPayment(id, signature)),
    proof: () => call(async (stub) => stub.proof()),
    draftProof: () => call(async (stub) => stub.draftProof()),
    submitProof: (signature) => call(async (stub) => stub.submitProof(signature)),
    claimDeposit: (request) => call(async (stub) => stub.claimDeposit(request)),
    findClaim: (signature) => call(async (stub) => stub.findClaim(signature)),
    listAsryEpochs: (limit) => call(async (stub) => stub.listAsryEpochs(limit)),
    previewMint: () => call(async (stub) => stub.previewMint()),
    listMints: (limit) => call(async (stub) => stub.listMints(limit)),
    ops: (command) => call(async (stub) => stub.ops(command)),
    wake: () => call(async (stub) => stub.wake()),
  };
}

const changeNowOf = ({ CHANGENOW_API_URL: baseUrl, CHANGENOW_API_KEY: apiKey }: Config) =>
  apiKey === undefined || baseUrl === undefined
    ? undefined
    : createChangeNow({ baseUrl, apiKey, fetch: fetchUpstream });

const feedReader = (urls: readonly string[], cache: Cache, memory: Cache) =>
  createFeedReader({
    relays: createNostrRelays({ urls, connect: (url) => new WebSocket(url) }),
    cache,
    memory,
    now: Date.now,
  });

function buildApiDeps(env: Env): Deps {
  const config = readConfig(env);
  const cache = createCache({ kv: env.KV, now: Date.now, defer: waitUntil });
  const memory = createCache({ kv: undefined, now: Date.now, defer: waitUntil });
  const { rpc, esploras, venues, readPrices } = clients(config);
  const reserve = reserveOf(config);
  const { solanaAddress, bitcoinAddress } = reserve;
  const missing = missingForSwaps(config);
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
    bitcoinSources: esploras,
    solanaSources: rpc.nodes,
    holdsBitcoinKey: config.BTC_PRIVATE_KEY_WIF !== undefined,
    proofs: createProofStore(env.DB),
    missingForProof: [...missing, ...wrongBitcoinKey(config)],
    absr: createAbsrStore(env.DB),
    opsSecret: config.OPS_SECRET,
    missingVariables: [...new Set([...missing, ...wrongBitcoinKey(config), ...config.invalid])],
    pingDatabase: () => createDatabaseStore(env.DB).ping(),
    database: createDatabaseStore(env.DB),
    heartbeat: createHeartbeat(env.KV),
    maxQuotes: READ_QUOTES_PER_WINDOW,
    probeUpstreams: () =>
      Promise.all([
        ...rpc.nodes.map((node) => probe(node.name, () => node.epochInfo('finalized'))),
        ...esploras.map((esplora) => probe(esplora.name, () => esplora.tipHeight())),
        ...venues.map((venue) => probe(venue.name, () => venue.read())),
      ]),
    custody: custodianClient(env, solanaAddress),
    routes: solanaAddress && bitcoinAddress ? swapRoutes(config, { solanaAddress, bitcoinAddress }) : [],
    readPrices,
    maxCostBps: config.SWAP_MAX_COST_BPS,
    quoteBudget: createQuoteBudgetStore(env.DB),
    swaps: createSwapStore(env.DB),
    publicBaseUrl: config.PUBLIC_BASE_URL ?? '',
    memory,
    changenow: changeNowOf(config),
    exchanges: createExchangeStore(env.DB),
    sleep,
    defer: waitUntil,
    analytics: createAnalyticsStore(env.DB),
    siteHost: config.PUBLIC_BASE_URL && new URL(config.PUBLIC_BASE_URL).host,
    // A value that cannot be read must not keep addresses for longer than the operator meant.
    ipRetentionDays: config.ANALYTICS_IP_RETENTION_DAYS ?? 0,
    orca: createOrca({ baseUrl: config.ORCA_API_URL, fetch: fetchUpstream }),
    readAccounts: (addresses) => rpc.first((node) => node.accounts(addresses, 'confirmed')),
    feeds: config.NOSTR_RELAYS && feedReader(config.NOSTR_RELAYS, cache, memory),
    identity: config.NOSTR_NPUB ?? config.NOSTR_NSEC,
    rentExemption: (bytes) => rpc.first((node) => node.rentExemption(bytes)),
    simulate: async (message, signers) => {
      const blank = new Uint8Array(64);
      const { wire } = signedTransaction(message, [blank, ...Array<Uint8Array>(signers - 1).fill(blank)]);
      const { err } = await rpc.first((node) => node.simulate(toBase64(wire)));
      return err === null ? null : stringifyJson(err).slice(0, 200);
    },
    isProgram: async (address) =>
      (await rpc.first((node) => node.accounts([address], 'confirmed'))).accounts[0] !== null,
    invoiceMargin: config.INVOICE_MARGIN_SOL,
    randomAddress: () => encodeBase58(randomBytes(32)),
    listingFee: config.LISTING_FEE_SOL,
    tokens: createTokenStore(env.DB),
    search: createSearchStore(env.DB),
    requirePayments: () => {
      const absent = [...missing, ...(config.MINT_KEY_SEED ? [] : ['MINT_KEY_SEED'])];
      const treasury = config.TREASURY_SOLANA_ADDRESS ?? solanaAddress;
      if (absent.length > 0 || treasury === null) throw notConfigured(absent);
      return treasury;
    },
    claims: createAsryMirror(env.DB),
    depositStatus: (signature) => depositStatus(rpc, signature),
    requireAsry: () => {
      const absent = missingForAsry(config);
      const mint = config.ASRY_MINT_ADDRESS;
      if (absent.length > 0 || mint === undefined) throw notConfigured(absent);
      return mint;
    },
    requireSwaps: () => {
      if (missing.length > 0) throw notConfigured(missing);
    },
  };
}

async function probe(
  name: string,
  ask: () => Promise<unknown>,
): Promise<{ name: string; ok: boolean; ms: number }> {
  const started = Date.now();
  const ok = await ask().then(
    () => true,
    () => false,
  );
  return { name, ok, ms: Date.now() - started };
}

let built: Deps | undefined;

/** One set an isolate: caches live in it, and its configuration cannot change. */
export function apiDeps(env: Env): Deps {
  built ??= buildApiDeps(env);
  return built;
}

export function scheduledDeps(env: Env): ScheduledDeps {
  const deps = apiDeps(env);
  const { custody, config, now, reserve } = deps;
  const analytics = createAnalyticsStore(env.DB);
  const ipRetentionDays = config.ANALYTICS_IP_RETENTION_DAYS ?? 0;
  const exchanges = createExchangeStore(env.DB);
  const heartbeat = createHeartbeat(env.KV);
  return {
    log,
    everyMinute: [
      { name: 'heartbeat', run: () => heartbeat.beat('minute', now()) },
      { name: 'wake', run: () => custody.wake() },
      { name: 'watch_backing', run: () => watchBacking(deps) },
      ...(reserve.bitcoinAddress && reserve.solanaAddress ? warmReads(deps) : []),
      { name: 'purge_analytics', run: () => purgeAnalytics({ analytics, ipRetentionDays, now }) },
      { name: 'alarms', run: () => watchAlarms(env, deps) },
    ],
    // The mint's own cron: the custodian begins the day's operation, whichever tick comes first.
    daily: [
      { name: 'heartbeat', run: () => heartbeat.beat('daily', now()) },
      { name: 'wake', run: () => custody.wake() },
      { name: 'purge_exchange', run: () => purgeExchange({ exchanges, now }) },
    ],
  };
}

/** What is wrong now, told once: in the log, and to the operator's webhook where there is one. */
function watchAlarms(env: Env, deps: Deps): Promise<void> {
  const { config, reserve, now } = deps;
  const url = config.ALARM_WEBHOOK_URL;
  return raiseAlarms({
    readStatus: () => getStatus(deps),
    readSol: async () => {
      const { solana } = reserve.solanaAddress ? await getReserves(deps) : { solana: null };
      return { balance: solana ? BigInt(solana.value.lamports) : null, floor: config.RESERVE_FLOOR_SOL };
    },
    memory: env.KV,
    ...(url ? { notify: createWebhook({ url, fetch: fetchUpstream }) } : {}),
    log,
    now,
  });
}

/** Read anew for every isolate. A watch-only reserve without a proof has none to read. */
const warmReads = (deps: Deps) => [
  { name: 'warm_reserves', run: () => getReserves(deps, true) },
  { name: 'warm_bitcoin_list', run: () => listBitcoin(deps, true) },
  { name: 'warm_solana_list', run: () => listSolana(deps, true) },
  ...(deps.holdsBitcoinKey && deps.missingForProof.length === 0
    ? [{ name: 'warm_proof', run: () => getProof(deps, true) }]
    : []),
];

/** What the custodian runs on. @throws AppError NOT_CONFIGURED */
export function custodyDeps(env: Env): CustodyDeps {
  const config = readConfig(env);
  const { SOLANA_PRIVATE_KEY: secret, RESERVE_BTC_ADDRESS: bitcoinAddress } = config;
  if (!secret || !bitcoinAddress) throw notConfigured(missingForSwaps(config));
  const { rpc, esploras, readPrices } = clients(config);
  const signer = createSigner(secret);
  const reserveAddress = signer.address;
  return {
    chain: createChainPort(rpc, reserveAddress),
    mirror: createD1Mirror(env.DB),
    signer,
    swap: {
      reserveAddress,
      bitcoinAddress,
      routes: swapRoutes(config, { solanaAddress: reserveAddress, bitcoinAddress }),
      maxCostBps: config.SWAP_MAX_COST_BPS,
      readPrices,
      latestBlockhash: () => rpc.first((node) => node.latestBlockhash('confirmed')),
      bitcoinViews: (txid) =>
        Promise.all(esploras.map((esplora) => esplora.tx(txid).catch((error: unknown) => asError(error)))),
      reserveSignatures: (page) =>
        rpc.first((node) => node.signaturesFor(reserveAddress, { ...page, commitment: 'finalized' })),
      transaction: (signature) => rpc.first((node) => node.transaction(signature, 'finalized')),
    },
    ...reserveDesks(config, { signer, bitcoinAddress }),
    ...asryRewards(config, rpc, reserveAddress),
    ...(config.MINT_KEY_SEED && config.PUBLIC_BASE_URL
      ? paidRequests(rpc, {
          reserveAddress,
          treasuryAddress: config.TREASURY_SOLANA_ADDRESS ?? reserveAddress,
          mintKeys: createMintKeys(config.MINT_KEY_SEED),
          publicBaseUrl: config.PUBLIC_BASE_URL,
        })
      : {}),
    limits: {
      maxOperation: config.SWAP_MAX_SOL,
      maxHour: config.SWAP_MAX_SOL_HOUR,
      maxDay: config.SWAP_MAX_SOL_DAY,
      maxUnsettled: config.SWAP_MAX_UNSETTLED_SOL,
      maxCostDay: config.SWAP_MAX_COST_SOL_DAY,
      maxCostBps: config.SWAP_MAX_COST_BPS,
      floor: config.RESERVE_FLOOR_SOL,
    },
    swapsDisabled: config.SWAPS_DISABLED,
    maxCreatesPerClientHour: config.SWAP_MAX_CREATES_IP_HOUR,
    assemble: (message, signature, cosignatures) => {
      const { wire, signature: text } = signedTransaction(message, [signature, ...cosignatures]);
      return { wire: toBase64(wire), signature: text };
    },
    now: Date.now,
    randomId: () => crypto.randomUUID(),
    within,
    log,
  };
}

/** Rewards for deposits, where their mint is configured. */
function asryRewards(config: Config, rpc: SolanaRpc, reserveAddress: string): Pick<CustodyDeps, 'asry'> {
  const { ASRY_MINT_ADDRESS: mint } = config;
  if (mint === undefined || missingForAsry(config).length > 0) return {};
  const terms = depositTerms({
    treasury: config.TREASURY_SOLANA_ADDRESS ?? reserveAddress,
    reserve: reserveAddress,
    mints: { USDC: config.USDC_MINT_ADDRESS, USDT: config.USDT_MINT_ADDRESS },
    heldSenders: new Set([...EXCHANGE_WALLETS, ...config.ASRY_HELD_SENDERS]),
  });
  const program = {
    startsAt: config.ASRY_EPOCH_START ?? null,
    epochSeconds: config.ASRY_EPOCH_SECONDS,
    cap: config.ASRY_EPOCH_CAP * 10n ** BigInt(config.ASRY_DECIMALS),
    depth: config.ASRY_EPOCH_DEPTH * 10n ** BigInt(USD_DECIMALS),
    price: config.ASRY_PRICE_USD ?? null,
    decimals: config.ASRY_DECIMALS,
    minimumDeposit: config.ASRY_MIN_DEPOSIT_USD,
    maxAgeSeconds: config.ASRY_MAX_DEPOSIT_AGE_DAYS * 86_400,
    rentBudget: config.RENT_BUDGET_SOL_DAY,
    disabled: config.ASRY_CLAIMS_DISABLED,
  };
  return { asry: createAsryPorts(rpc, { reserveAddress, mint, terms, program }) };
}

/** The most that any node knows of a transaction. */
async function depositStatus(rpc: SolanaRpc, signature: string): Promise<DepositStatus> {
  const answers = await Promise.allSettled(rpc.nodes.map((node) => node.signatureStatus(signature)));
  const seen = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  // None answered: the failure of the first is as good as any.
  if (seen.length === 0) await rpc.first((node) => node.signatureStatus(signature));
  if (seen.some((status) => status?.commitment === 'finalized')) return 'final';
  // A node that failed may know it.
  return seen.length === answers.length && seen.every((status) => status === null) ? 'unknown' : 'pending';
}

/** The daily mint and the ownership proof, each where it is configured. */
function reserveDesks(
  config: Config,
  p: { signer: Signer; bitcoinAddress: string },
): Pick<CustodyDeps, 'absr' | 'proof'> {
  const { rpc, esploras, readPrices } = clients(config);
  const { ABSR_MINT_ADDRESS: mint, PUBLIC_BASE_URL: publicBaseUrl, BTC_PRIVATE_KEY_WIF: wif } = config;
  const { signer, bitcoinAddress } = p;
  const { reserveViews, supplyViews, solanaFigures, latestBlockhash } = createReservePorts({
    indexes: esploras,
    nodes: rpc.nodes,
    bitcoinAddress,
    solanaAddress: signer.address,
    absrMint: mint ?? null,
  });
  const depth = config.ABSR_CONFIRMATIONS;
  return {
    ...(mint && depth
      ? {
          absr: {
            reserveAddress: signer.address,
            mint,
            treasury: config.TREASURY_SOLANA_ADDRESS ?? signer.address,
            depth,
            nodes: rpc.nodes.length,
            reserveViews,
            supplyViews,
            readPrices,
            latestBlockhash,
            now: Date.now,
          },
        }
      : {}),
    ...(publicBaseUrl && isBitcoinKey(wif, bitcoinAddress)
      ? {
          proof: {
            service: new URL(publicBaseUrl).host,
            bitcoinAddress,
            signer: createProofSigner({ solana: signer, bitcoinAddress, wif }),
            indexes: esploras.length,
            reserveViews,
            solanaFigures,
          },
        }
      : {}),
  };
}

/** Token creations and listings: the desk that takes payments, and the kind that makes mints. */
function paidRequests(
  rpc: SolanaRpc,
  p: { reserveAddress: string; treasuryAddress: string; mintKeys: MintKeys; publicBaseUrl: string },
): Pick<CustodyDeps, 'payments' | 'kinds'> {
  const { reserveAddress, treasuryAddress, mintKeys, publicBaseUrl } = p;
  return {
    payments: {
      treasuryAddress,
      signatures: (page) =>
        rpc.first((node) => node.signaturesFor(treasuryAddress, { ...page, commitment: 'finalized' })),
      transaction: (signature) => rpc.first((node) => node.transaction(signature, 'finalized')),
      randomBytes,
      randomId: () => crypto.randomUUID(),
      mintAddress: mintKeys.address,
      metadataUri: (mint) => `${publicBaseUrl}/api/tokens/${mint}/metadata.json`,
      creationCost: (subject) => BigInt(String(subject.costLamports)),
    },
    kinds: {
      token: createTokenKind({
        reserveAddress,
        signMint: mintKeys.sign,
        rentExemption: (bytes) => rpc.first((node) => node.rentExemption(bytes)),
        latestBlockhash: () => rpc.first((node) => node.latestBlockhash('confirmed')),
        findMint: async (address) => {
          const [found] = (await rpc.first((node) => node.accounts([address], 'finalized'))).accounts;
          const mint = found && decodeMint(found.owner, found.data);
          return found
            ? { owner: found.owner, supply: mint?.supply ?? 0n, decimals: mint?.decimals ?? -1 }
            : null;
        },
      }),
    },
  };
}

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
