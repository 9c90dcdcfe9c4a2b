/**
 * Dependencies that features share: the platform, the configuration, the upstreams' clients, and reads for several
 * features.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { Deps } from '../app.ts';
import type { Config } from '../config.ts';
import { Budget } from '../core/budget.ts';
import { BUDGETS, READ_NODE, SALE_NODE } from '../core/call-limits.ts';
import { AppError } from '../core/errors.ts';
import { readBitcoinReserve } from '../features/reserves/get-reserves.ts';
import { createAbsrStore, createProofStore, readLastChange } from '../features/reserves/reserves-store.ts';
import { Cache } from '../http/cached.ts';
import { replicatedReads } from '../http/read-session.ts';
import { createWaiting } from '../http/wait.ts';
import { createSolanaRpc, type SolanaRpc } from '../providers/solana-rpc.ts';
import { clients } from './clients.ts';
import { CustodianClient } from './custodian-client.ts';
import { missingFor } from './missing-settings.ts';
import { fetchFor, log, type Wired, wired } from './telemetry.ts';
export type Sources = ReturnType<typeof sourcesOf>;

/** The platform, the configuration and the upstreams' clients, built once and passed to the features. */
export function sourcesOf(env: Env) {
  const config = wired(env);
  const newCache = (kv?: KVNamespace) =>
    new Cache({
      kv,
      release: env.VERSION?.id,
      lastChange: () => readLastChange(env.DB, Date.now()),
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
    /** A cache in this isolate's memory only, for keys that callers choose. */
    memory: newCache(),
    /** Token facts by mint, in a separate cache, because one page of a list adds a hundred. */
    facts: newCache(),
    waiting: createWaiting({ memory: newCache(), now: Date.now, sleep }),
    takeExchange: exchangeBudget(),
    sleep,
    ...clients(config),
    rpc: readNodes(config, READ_NODE),
    saleRpc: readNodes(config, SALE_NODE),
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

/**
 * Nodes other than the custodian's, so that callers' reads do not use up the custodian's rate. @param name the budget
 * of the calls
 */
const readNodes = (config: Wired, name: string): SolanaRpc =>
  createSolanaRpc({
    urls: config.SOLANA_READ_RPC_URL,
    fetch: fetchFor(config, 'SOLANA_READ_RPC_URL'),
    name,
  });

/** Counts the exchanges that the requests of one isolate open. */
function exchangeBudget(): (client: string) => void {
  const limit = 'exchanges_per_hour';
  const budget = new Budget(BUDGETS[limit]);
  return (client) => {
    const verdict = budget.take(client, Date.now());
    if (verdict.ok) return;
    throw new AppError(
      'RATE_LIMITED',
      'Your IP address, or its range, has used up its share of new exchanges.',
      {
        retryAfterSeconds: Math.max(Math.ceil(verdict.retryAfterMs / 1_000), 1),
        details: { limit },
      },
    );
  };
}

export function reservesDeps(sources: Sources): Deps['reserves'] {
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

export const knownMints = (config: Config) =>
  Object.entries({
    ABSR: config.ABSR_MINT_ADDRESS,
    ASRY: config.ASRY_MINT_ADDRESS,
    ...config.DOLLAR_MINTS,
  }).flatMap(([asset, mint]) => (mint === undefined ? [] : [{ asset, mint }]));

/** @returns the accounts at `confirmed`, from the first node that responds */
export const accountReader = (rpc: SolanaRpc) => (addresses: readonly string[], bytes?: number) =>
  rpc.first((node) => node.accounts(addresses, 'confirmed', bytes));
