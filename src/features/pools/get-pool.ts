import * as z from 'zod';
import { AppError, type ErrorCode, upstreamFailed } from '../../core/errors.ts';
import { tryJson } from '../../core/json.ts';
import { type CachePolicy, prewarmed, refreshing } from '../../http/cache-policy.ts';
import { type CacheReader, Miss } from '../../http/cached.ts';
import type { UpstreamResponse } from '../../providers/http.ts';
import type { Orca } from '../../providers/orca.ts';
import { readPoolFromChain } from './read-pool-from-chain.ts';
import {
  type ChainReads,
  correctBalances,
  hasZeroBalances,
  isOtherPool,
  readUpstreamPool,
} from './upstream-pool.ts';

export type PoolDeps = ChainReads & {
  orca: Pick<Orca, 'pool'>;
  /** A cache in this isolate's memory only, because callers choose these pools. */
  memory: CacheReader;
  now: () => number;
  log: (line: Readonly<Record<string, unknown>>) => void;
};

export type ConfiguredPoolDeps = PoolDeps & {
  readonly addresses: Readonly<Partial<Record<'default' | 'saeth-sausd' | 'sausd-usdc', string>>>;
  /** Shared by all isolates; the cron reads the configured pools. */
  readonly cache: CacheReader;
};

/** The JSON is passed to the caller as text, so that it stays unchanged byte for byte. */
export type PoolAnswer = {
  readonly status: number;
  readonly text: string;
  /** Source of the response; absent for an error of the upstream. */
  readonly source?: 'orca' | 'chain_rpc';
  /** Unix milliseconds. */
  readonly asOf?: number;
  readonly stale?: boolean;
  /** The header as the upstream sent it. */
  readonly retryAfter?: string;
};

type Kept = { readonly text: string; readonly source: 'orca' | 'chain_rpc' };

const STALE_MS = 900_000;
const CONFIGURED_POLICY = prewarmed(STALE_MS);
const OTHER_POLICY = { freshMs: 10_000, revalidateMs: 50_000, staleMs: STALE_MS };
/** Maximum characters of a cached response. A pool is about 6 KB; a larger response is passed on, but not cached. */
const MAX_KEPT_CHARS = 256 * 1024;
const PREVIEW_CHARS = 500;

/** A response that may be returned but not cached: an error, or balances that could not be corrected. */
class NotKept extends Error {
  readonly answer: PoolAnswer | NonJson;
  constructor(answer: PoolAnswer | NonJson) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

/** The beginning of a body that is not JSON, with the status to return. */
export type NonJson = Pick<PoolAnswer, 'status' | 'retryAfter'> & { readonly preview: string };

/**
 * A configured pool as the cron has read it, or any other pool, read for this caller.
 * @param refresh true: the cron reads a configured pool for all isolates
 * @throws AppError like `getPool`
 */
export const findPool = (deps: ConfiguredPoolDeps, address: string, refresh = false) =>
  Object.values(deps.addresses).includes(address)
    ? readPool(deps, deps.cache, refreshing(CONFIGURED_POLICY, refresh), address)
    : getPool(deps, address);

/**
 * The pool from the upstream, or from the chain if the upstream lacks it; otherwise the upstream's refusal.
 * @throws AppError UPSTREAM_FAILED if neither has it and the upstream did not respond
 */
export const getPool = (deps: PoolDeps, address: string): Promise<PoolAnswer | NonJson> =>
  readPool(deps, deps.memory, OTHER_POLICY, address);

async function readPool(
  deps: PoolDeps,
  kept: CacheReader,
  policy: CachePolicy,
  address: string,
): Promise<PoolAnswer | NonJson> {
  try {
    const { value, asOf, stale } = await kept.read(`pool:${address}`, policy, () => load(deps, address));
    return { status: 200, ...value, asOf, stale };
  } catch (error) {
    if (error instanceof NotKept) return error.answer;
    throw error;
  }
}

async function load(deps: PoolDeps, address: string): Promise<Kept> {
  const upstream = await askUpstream(deps, address);
  if ('status' in upstream && isSuccess(upstream.status)) {
    const pool = readUpstreamPool(upstream.text, address);
    if (pool) {
      if (!hasZeroBalances(pool)) return kept({ text: upstream.text, source: 'orca' }, deps.now());
      const corrected = await orLog(deps, address, () => correctBalances(deps, upstream.text, pool));
      if (corrected !== undefined) return kept({ text: corrected, source: 'orca' }, deps.now());
      // The zeros are returned unchanged, because the vaults could not be read.
      throw new NotKept({ status: 200, text: upstream.text, source: 'orca', asOf: deps.now(), stale: true });
    }
  }
  const found = await orLog(deps, address, async () => ({ text: await readPoolFromChain(deps, address) }));
  if (found?.text !== undefined) return kept({ text: found.text, source: 'chain_rpc' }, deps.now());
  if (!('status' in upstream)) throw upstream.failure;
  const refusal = refusalOf(upstream, address);
  // Both sources report that the pool does not exist. Any other refusal may be temporary.
  const isMiss = found !== undefined && ([400, 404].includes(upstream.status) || isSuccess(upstream.status));
  throw isMiss ? new Miss(refusal) : refusal;
}

async function askUpstream(
  deps: PoolDeps,
  address: string,
): Promise<UpstreamResponse | { failure: AppError }> {
  try {
    return await deps.orca.pool(address);
  } catch (error) {
    if (error instanceof AppError) return { failure: error };
    throw error;
  }
}

/** The chain is the second choice: if it fails too, the caller gets the upstream's response. */
async function orLog<T>(deps: PoolDeps, address: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log({ level: 'warn', pool: address, chain_read: error.message });
    return undefined;
  }
}

function kept(answer: Kept, asOf: number): Kept {
  if (answer.text.length > MAX_KEPT_CHARS) throw new NotKept({ status: 200, ...answer, asOf });
  return answer;
}

function refusalOf({ status, text, headers }: UpstreamResponse, address: string): NotKept | AppError {
  if (isSuccess(status) && isOtherPool(text, address)) return upstreamFailed('orca', 'other_pool');
  const isError = status >= 400 && status <= 599;
  const wait = headers.get('retry-after');
  const retryAfter = wait !== null && /^\d{1,6}$/.test(wait) ? { retryAfter: wait } : {};
  if (tryJson(text) === undefined) {
    const preview = text.slice(0, PREVIEW_CHARS).replace(/[\uD800-\uDBFF]$/, '');
    return new NotKept({ status: isError ? status : 502, preview, ...retryAfter });
  }
  return new NotKept({
    // A redirect becomes 502: it is not followed, and its target is not passed to the caller.
    status: isError || isSuccess(status) ? status : 502,
    text: isSuccess(status) ? text : withErrorCode(text, status === 404 ? 'NOT_FOUND' : 'UPSTREAM_FAILED'),
    ...retryAfter,
  });
}

/** The upstream's error, with an error code of this service before its own members, which stay unchanged. */
function withErrorCode(text: string, code: ErrorCode): string {
  const body = z.looseObject({}).safeParse(tryJson(text)).data;
  if (body === undefined || 'error_code' in body) return text;
  return text.replace(/^\s*\{\s*(\}?)/, (_, end: string) => `{"error_code":"${code}"${end || ','}`);
}

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;
