import { type MintKeys, mintAuthorityOf, mintKeysOf } from '../../chain/solana/mint-keys.ts';
import { BTC_DECIMALS, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { type CachePolicy, refreshing } from '../../http/cache-policy.ts';
import type { Body, Cache, Cached } from '../../http/cached.ts';
import { type HeldAbsr, heldAbsrOf, heldAccounts } from './held-absr.ts';
import {
  absent,
  attempt,
  bestOf,
  errorsOf,
  failureOf,
  querySources,
  type SourceResult,
} from './query-sources.ts';

type ChainAccount = {
  /** The program that owns it. */
  readonly owner: string;
  readonly lamports: bigint;
  readonly data: Uint8Array;
} | null;

type ReservesNode = {
  readonly name: string;
  /** Accounts of one slot, null if absent. */
  accounts(
    addresses: readonly string[],
    commitment: 'finalized',
  ): Promise<{
    readonly slot: bigint;
    readonly accounts: readonly ChainAccount[];
  }>;
};

export type ReservesDeps = {
  readonly cache: Cache;
  readonly reserve: { readonly bitcoinAddress: string | null; readonly solanaAddress: string | null };
  /** Bitcoin indexes, queried separately. */
  readonly bitcoinSources: readonly {
    readonly name: string;
    balance(address: string): Promise<BitcoinView>;
  }[];
  /** Solana nodes, queried separately. */
  readonly solanaSources: readonly ReservesNode[];
  /** Null while no mint is configured. */
  readonly absrMint: string | null;
  /** The configured multisig that mints ABSR; null if the reserve mints alone. */
  readonly mintAuthority: string | null;
  /** Owner of the token account that receives each mint of ABSR. */
  readonly treasuryAddress: string | null;
  readonly sleep: (ms: number) => Promise<void>;
  readonly custody: Pick<CustodianApi, 'signingState'>;
};

/**
 * Policy for figures from the chains. A stranger's transaction is shown within a minute, although KV and the cron can
 * each lag by a minute. While the sources fail, a figure may be up to 15 minutes old; after that the read fails.
 */
export const CHAIN_POLICY: CachePolicy = {
  freshMs: 20_000,
  revalidateMs: 30_000,
  staleMs: HOUR_MS / 4,
  changedByOperations: true,
  kv: 'read',
};

/** Amounts are decimal strings, so that they can be cached. */
type StoredBitcoin = NonNullable<ReturnType<typeof chooseBalance>>;
type StoredSolana = {
  readonly lamports: string;
  readonly slot: string;
  readonly source: string;
  /** Who can mint ABSR; null without a mint. */
  readonly minting: MintKeys | null;
  readonly absr: HeldAbsr | null;
  /** The nodes that responded. */
  readonly sources: readonly string[];
};
type TokenDeps = Pick<ReservesDeps, 'absrMint' | 'mintAuthority' | 'treasuryAddress'>;
type SolanaDeps = Pick<ReservesDeps, 'cache' | 'solanaSources' | 'sleep'> & TokenDeps;

/** The reserve's confirmed sats: the lowest of all views. @throws AppError UPSTREAM_FAILED if every index fails */
export function readBitcoinReserve(
  deps: Pick<ReservesDeps, 'cache' | 'bitcoinSources' | 'sleep'>,
  address: string,
  refresh: boolean,
): Promise<Cached<StoredBitcoin>> {
  return deps.cache.read('reserves:bitcoin', refreshing(CHAIN_POLICY, refresh), async () => {
    const results = await querySources(deps.bitcoinSources, deps.sleep, (source) => source.balance(address));
    const balance = chooseBalance(results);
    if (!balance) throw failureOf(results);
    return balance;
  });
}

/**
 * The lowest finalized balance of all nodes, as with the Bitcoin indexes. `minting` and `absr` are null while nodes contradict
 * each other, so one node can invent neither a balance, a second key nor a holding.
 */
function readSolanaReserve(
  deps: SolanaDeps,
  address: string,
  refresh: boolean,
): Promise<Cached<StoredSolana>> {
  return deps.cache.read('reserves:solana', refreshing(CHAIN_POLICY, refresh), async () => {
    const ask = (node: ReservesNode) => readAccounts(node, address, deps);
    const results = await querySources(deps.solanaSources, deps.sleep, ask);
    const { name, value } = bestOf(results, (a, b) => a.lamports < b.lamports);
    const views = results.flatMap((result) => (result.ok ? [result.value] : []));
    const agreed = (part: 'minting' | 'absr') =>
      new Set(views.map((view) => stringifyJson(view[part]))).size === 1;
    return {
      lamports: value.lamports.toString(),
      slot: value.slot.toString(),
      minting: agreed('minting') ? value.minting : null,
      absr: agreed('absr') ? value.absr : null,
      source: name,
      sources: results.filter(({ ok }) => ok).map((result) => result.name),
    };
  });
}

/** One call if the mint authority is the reserve or the configured multisig; otherwise two. */
async function readAccounts(node: ReservesNode, address: string, deps: TokenDeps) {
  const { absrMint, mintAuthority: multisig, treasuryAddress: treasury } = deps;
  const held = absrMint === null || treasury === null ? [] : heldAccounts(treasury, absrMint);
  const addresses = [address, absrMint, multisig, ...held].filter((each) => each !== null);
  const { slot, accounts } = await node.accounts(addresses, 'finalized');
  const accountAt = (each: string) => accounts[addresses.indexOf(each)];
  const lamports = accounts[0]?.lamports ?? 0n;
  const mint = absrMint === null ? null : accountAt(absrMint);
  const authority = mint ? mintAuthorityOf(mint.data) : undefined;
  if (absrMint === null || !mint || authority === undefined)
    return { slot, lamports, minting: null, absr: null };
  const isRead = authority === null || addresses.includes(authority);
  const account = isRead
    ? accountAt(authority ?? address)
    : (await node.accounts([authority], 'finalized')).accounts[0];
  return {
    slot,
    lamports,
    minting: mintKeysOf(mint.owner, authority, account ?? null),
    absr: treasury === null ? null : heldAbsrOf({ address: absrMint, treasury }, mint, accountAt),
  };
}

/** The value changes only with the secrets of a deployment. */
const WATCH_ONLY_POLICY = { freshMs: 150_000, revalidateMs: 45_000, staleMs: HOUR_MS / 4 };

/** True if no Bitcoin key is set. Only the custodian reads the key; null while the custodian does not respond. */
async function readWatchOnly({ cache, custody }: Pick<ReservesDeps, 'cache' | 'custody'>) {
  try {
    const read = async () => (await custody.signingState()).watchOnly;
    return (await cache.read('reserves:watch-only', WATCH_ONLY_POLICY, read)).value;
  } catch {
    return null;
  }
}

/** @throws AppError UPSTREAM_FAILED (503) when no configured part can be read */
async function readParts(deps: ReservesDeps, refresh: boolean) {
  const { bitcoinAddress, solanaAddress } = deps.reserve;
  const [btc, sol, watchOnly] = await Promise.all([
    bitcoinAddress === null ? absent : attempt('bitcoin', readBitcoinReserve(deps, bitcoinAddress, refresh)),
    solanaAddress === null ? absent : attempt('solana', readSolanaReserve(deps, solanaAddress, refresh)),
    readWatchOnly(deps),
  ]);
  const errors = errorsOf<'bitcoin' | 'solana'>([btc, sol]);
  if (errors.length > 0 && !btc.value && !sol.value) {
    throw new AppError('UPSTREAM_FAILED', 'Neither chain can be read and no recent balance is known.', {
      status: 503,
      retryAfterSeconds: 15,
      cause: btc.cause ?? sol.cause,
    });
  }
  return { bitcoin: btc.value, solana: sol.value, watchOnly, errors };
}

/**
 * Both balances. A part whose sources all fail has its last known value, marked stale, or is null with its error.
 * @throws AppError UPSTREAM_FAILED (503) when no configured part can be read
 */
export async function getReserves(deps: ReservesDeps, refresh = false): Promise<ReserveReport> {
  return reportOf(deps.reserve, await readParts(deps, refresh));
}

/** Both balances as a response body, which is cached until a balance is read again. @throws as `getReserves` */
export async function reservesBody(deps: ReservesDeps): Promise<Body<ReserveReport>> {
  const parts = await readParts(deps, false);
  const { bitcoin, solana, watchOnly, errors } = parts;
  const from = [bitcoin, solana, watchOnly, errors.length === 0 || errors];
  return deps.cache.body('reserves', from, () => reportOf(deps.reserve, parts));
}

type ReserveReport = ReturnType<typeof reportOf>;

function reportOf(
  { bitcoinAddress, solanaAddress }: ReservesDeps['reserve'],
  { bitcoin, solana, watchOnly, errors }: Awaited<ReturnType<typeof readParts>>,
) {
  const ages = [bitcoin?.asOf, solana?.asOf].filter((at) => at !== undefined);
  return {
    bitcoin: {
      address: bitcoinAddress,
      balanceBtc: bitcoin && toNumber(BigInt(bitcoin.value.confirmed), BTC_DECIMALS),
      balanceSat: bitcoin && Number(bitcoin.value.confirmed),
      balanceSatoshis: bitcoin?.value.confirmed ?? null,
      pendingSatoshis: bitcoin?.value.pendingDelta ?? null,
      watchOnly,
      agreed: bitcoin?.value.agreed ?? null,
      sources: (bitcoin?.value.views ?? []).map(({ name, confirmed }) => ({
        name,
        balanceSatoshis: confirmed,
      })),
      source: bitcoin?.value.source ?? null,
      ...timeOf(bitcoin),
    },
    solana: {
      address: solanaAddress,
      balanceSol: solana && toNumber(BigInt(solana.value.lamports), SOL_DECIMALS),
      balanceLamports: solana?.value.lamports ?? null,
      slot: solana?.value.slot ?? null,
      source: solana?.value.source ?? null,
      sources: [...(solana?.value.sources ?? [])],
      minting: shownKeys(solana?.value.minting ?? null),
      absr: solana?.value.absr ?? null,
      ...timeOf(solana),
    },
    as_of: ages.length > 0 ? new Date(Math.min(...ages)).toISOString() : null,
    stale: (bitcoin?.stale ?? false) || (solana?.stale ?? false),
    ...(errors.length > 0 ? { errors: [...errors] } : {}),
  };
}

function shownKeys(keys: MintKeys | null) {
  if (keys?.authority === null) return { authority: null, required: 0, signers: [] };
  return keys && { ...keys, signers: [...keys.signers] };
}

const timeOf = (part: Cached<unknown> | null) => ({
  as_of: part && new Date(part.asOf).toISOString(),
  stale: part?.stale ?? false,
});

type BitcoinView = { readonly confirmed: bigint; readonly pendingDelta: bigint };

/**
 * The lowest confirmed balance of all sources, so that the figure is never too high; null when none has
 * responded.
 */
function chooseBalance(results: readonly SourceResult<BitcoinView>[]) {
  const known = results.flatMap((result) => (result.ok ? [{ source: result.name, ...result.value }] : []));
  const [first] = known;
  if (!first) return null;
  const lowest = known.reduce((low, view) => (view.confirmed < low.confirmed ? view : low), first);
  return {
    confirmed: lowest.confirmed.toString(),
    pendingDelta: lowest.pendingDelta.toString(),
    source: lowest.source,
    /** Whether all responding sources agree; null when only one responded. */
    agreed: known.length < 2 ? null : known.every((view) => view.confirmed === first.confirmed),
    views: results.map((result) => ({
      name: result.name,
      confirmed: result.ok ? result.value.confirmed.toString() : null,
    })),
  };
}
