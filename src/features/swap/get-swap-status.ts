import { isSignature } from '../../chain/solana/address.ts';
import { AppError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import type { Cache } from '../../http/cached.ts';
import type { SwapRow, SwapStore } from './swap-store.ts';

export type SwapStatusDeps = {
  /** This isolate's memory. It also caches for two seconds that a signature is unknown. */
  readonly memory: Pick<Cache, 'read'>;
  readonly swaps: Pick<SwapStore, 'bySignature'>;
  readonly custody: Pick<CustodianApi, 'findSwap'>;
};

/** One read per second and swap, regardless of the number of polling callers. */
const ONE_SECOND = { freshMs: 1_000, revalidateMs: 0, staleMs: 0 };

/**
 * The stored state of a swap, at most a second old: a poll costs no upstream call.
 * @throws AppError NOT_FOUND
 */
export async function getSwapStatus(d: SwapStatusDeps, signature: string): Promise<SwapRow> {
  if (!isSignature(signature)) throw notFound();
  return (await d.memory.read(`swap:${signature}`, ONE_SECOND, () => readSwap(d, signature))).value;
}

const notFound = () => new AppError('NOT_FOUND', 'No swap has this id.');

/**
 * A row that D1 does not have yet, or cannot return, is read from the custodian, so a published id is never
 * unknown.
 */
async function readSwap(d: SwapStatusDeps, signature: string): Promise<SwapRow> {
  const row = await d.swaps.bySignature(signature).catch(() => undefined);
  if (row) return row;
  const swap = await d.custody.findSwap(signature);
  if (!swap) throw notFound();
  const { amountLamports, expectedSats, btcSats, btcTxid, status, detail, reason } = swap;
  return {
    seq: null,
    signature,
    status,
    detail,
    reason,
    amountLamports,
    expectedSats,
    btcSats,
    btcTxid,
    blockTime: null,
    final: false,
  };
}
