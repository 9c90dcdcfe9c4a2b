/**
 * The smallest swap, and the largest swap that is possible now.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { refusalError } from '../../core/errors.ts';
import type { CustodianApi, SwapRoom } from '../../custody/api.ts';
import type { Cache } from '../../http/cached.ts';

/** Lower bound of a swap in the API contract: 0.001 SOL. */
export const CONTRACT_MINIMUM = lamports(1_000_000n);

export type SwapMinimumDeps = {
  readonly cache: Cache;
  readonly custody: Pick<CustodianApi, 'swapRoom'>;
};

const ROOM_POLICY = { freshMs: 3_000, revalidateMs: 10_000, staleMs: HOUR_MS, changedByOperations: true };

/**
 * Smallest and largest swap now. If swaps are not possible, also when the next swap may be.
 * @throws AppError with the reason if no smallest swap is known
 */
export async function getMinimum(deps: SwapMinimumDeps) {
  const {
    value: room,
    asOf,
    stale,
  } = await deps.cache.read('swap:room', ROOM_POLICY, () => deps.custody.swapRoom());
  if (room.minimum.type === 'unknown') throw refusalError(room.minimum.refusal);
  const { minimum, refusal } = room.minimum;
  const next = room.refusal?.details?.nextAvailableAt;
  const reason = stale ? 'CUSTODIAN_UNAVAILABLE' : reasonOf(room, lamports(minimum.lamports));
  return {
    minimum: lamports(minimum.lamports),
    source: minimum.source,
    maximum: lamports(room.maximumLamports),
    balance: room.balanceLamports === null ? null : lamports(room.balanceLamports),
    available: reason === null,
    /** Stable code of the reason why no swap can start now. */
    reason,
    nextAvailableAt: typeof next === 'string' ? next : null,
    asOf: Math.min(minimum.at, asOf),
    stale: stale || refusal !== null,
  };
}

function reasonOf({ refusal, maximumLamports, minimum }: SwapRoom, least: Lamports): string | null {
  const unread = minimum.type === 'known' ? minimum.refusal?.code : undefined;
  // The quotas for create calls and for reads of the minimum are separate.
  const bridge = unread === 'QUOTE_BUDGET_SPENT' ? undefined : unread;
  const none = maximumLamports > 0n && maximumLamports < least ? 'SWAP_LIMIT_REACHED' : null;
  return refusal?.code ?? bridge ?? none;
}
