import { isSignature } from '../../chain/solana/address.ts';
import { AppError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import type { SwapRow, SwapStore } from './swap-store.ts';

export type SwapStatusDeps = {
  readonly swaps: Pick<SwapStore, 'bySignature'>;
  readonly custody: Pick<CustodianApi, 'findSwap'>;
};

/**
 * The stored state of a swap: a poll costs no upstream call. A row that D1 does not have yet, or cannot give, is read
 * from the custodian, so that no id is ever unknown after it was handed out.
 * @throws AppError NOT_FOUND
 */
export async function getSwapStatus(d: SwapStatusDeps, signature: string): Promise<SwapRow> {
  const notFound = new AppError('NOT_FOUND', 'No swap has this id.');
  if (!isSignature(signature)) throw notFound;
  const row = await d.swaps.bySignature(signature).catch(() => undefined);
  if (row) return row;
  const swap = await d.custody.findSwap(signature);
  if (!swap) throw notFound;
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
  };
}
