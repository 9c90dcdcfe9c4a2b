/**
 * Builds the dependencies of the API's features. One function per feature, so that a feature receives only its own
 * part.
 * @module
 */

import { base64 } from '@scure/base';
import { renderIslands } from '../../site/render.js';
import type { Deps } from '../app.ts';
import { encodeBase58 } from '../chain/solana/address.ts';
import { movableAtoms } from '../chain/solana/token-program.ts';
import { signedTransaction } from '../chain/solana/transaction.ts';
import type { Config } from '../config.ts';
import { HOUR_MS } from '../core/durations.ts';
import { notConfigured } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import type { OfficialMints } from '../core/official-tokens.ts';
import { createAsryMirror } from '../features/asry/asry-store.ts';
import { createFeedReader } from '../features/nostr-feed/read-feed.ts';
import { readDocument } from '../features/openapi/routes.ts';
import { createSwapStore } from '../features/swap/swap-store.ts';
import { createSearchStore } from '../features/tokens/search-store.ts';
import { createTokenStore } from '../features/tokens/token-store.ts';
import { atPriority } from '../providers/admission.ts';
import { relaysOf } from './clients.ts';
import { missingFor } from './missing-settings.ts';
import { opsDeps, statusDeps } from './oversight.ts';
import { pageViewObjects } from './page-views.ts';
import { accountReader, knownMints, reservesDeps, type Sources, sourcesOf } from './sources.ts';

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
            const [account] = (await accountReader(sources.rpc)([source])).accounts;
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

function poolsDeps(sources: Sources): Deps['pools'] {
  const { config, orca, log, cache, memory } = sources;
  return {
    orca,
    readAccounts: accountReader(sources.rpc),
    addresses: config.POOL_ADDRESSES ?? {},
    cache,
    memory,
    now: Date.now,
    log,
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

/**
 * Rents and programs change rarely, and all callers share them, so their reads use no client's budget. The custodian
 * refuses to sell a creation whose cost differs from its own nodes' figure.
 */
const RENT_POLICY = { freshMs: 60_000, revalidateMs: 0, staleMs: 0 };

function tokensDeps(sources: Sources): Deps['tokens'] {
  const { env, config, custody, memory, treasuryAddress, saleRpc } = sources;
  const readAccounts = accountReader(saleRpc);
  const exists = async (address: string) => (await readAccounts([address], 0)).accounts[0] !== null;
  const tokens = createTokenStore(sources.reads, env.DB);
  return {
    custody,
    contact: config.SECURITY_CONTACT,
    tokens,
    facts: { memory: sources.facts, readAccounts: accountReader(sources.rpc) },
    officialMints: officialMints(config),
    search: createSearchStore(sources.reads),
    readAccounts,
    leastBalance: async () => {
      const read = () => atPriority('own', () => saleRpc.first((node) => node.rentExemption(0)));
      return BigInt((await memory.read('rent', RENT_POLICY, read)).value);
    },
    messageVersion: config.SOLANA_TRANSACTION_VERSION,
    simulate: async (message) => {
      const blank = new Uint8Array(64);
      const { wire } = signedTransaction(message, [blank, blank]);
      const err = await saleRpc.first((node) => node.simulate(base64.encode(wire)));
      return err === null ? null : stringifyJson(err).slice(0, 200);
    },
    ownerOf: async (address) => (await readAccounts([address], 0)).accounts[0]?.owner ?? null,
    ownAddresses: ownAddresses(sources),
    isProgram: async (address) =>
      (await memory.read(`program:${address}`, RENT_POLICY, () => atPriority('own', () => exists(address))))
        .value,
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
  pages: {
    assets: sources.env.ASSETS,
    renderIslands,
    publicBaseUrl: sources.publicBaseUrl,
  },
  reserves: reservesDeps(sources),
  status: statusDeps(sources),
  swap: swapDeps(sources),
  tokens: tokensDeps(sources),
});

export const sourcesFor = (env: Env): Sources => builtFor(env).sources;

export const apiDeps = (env: Env): Deps => builtFor(env).deps;
