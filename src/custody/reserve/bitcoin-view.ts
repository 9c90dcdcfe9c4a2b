/**
 * One Bitcoin index's view of the reserve at one tip of the chain. An index answers each request separately
 * and may advance in between. The tip is read before and after, and a view is only valid if both are the
 * same.
 * @module
 */

import { netEffect } from '../../chain/bitcoin/net-effect.ts';
import type { Sats } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { Esplora } from '../../providers/esplora.ts';
import { MAX_TIP_DISTANCE, type ReserveView, type YoungTx } from './agreement.ts';

export type BitcoinIndex = Pick<Esplora, 'name' | 'tipHash' | 'tipHeight' | 'balance' | 'chainTxs'>;

/** Three tries: a new block may interrupt one of them. */
const TRIES = 3;
/** Of about 25 rows each. More young transactions than this mean an attack. */
const MAX_PAGES = 10;

/**
 * @param depth confirmations that count; 0 omits the transactions
 * @throws AppError UPSTREAM_FAILED
 */
export async function readReserveView(
  index: BitcoinIndex,
  address: string,
  depth: number,
): Promise<ReserveView> {
  for (let tries = 0; tries < TRIES; tries++) {
    const hash = await index.tipHash();
    const height = await index.tipHeight();
    // The balance is read before the list: a newer list can only reduce the result.
    const balance = await index.balance(address);
    const fromHeight = height - depth - MAX_TIP_DISTANCE + 2;
    const young = depth === 0 ? [] : await readYoung(index, address, fromHeight, balance.confirmedTxs);
    if ((await index.tipHash()) !== hash) continue;
    const { confirmed, pendingSpent } = balance;
    return { source: index.name, tip: { height, hash }, confirmed, pendingSpent, young };
  }
  throw upstreamFailed(index.name, 'tip_moves');
}

/**
 * Confirmed transactions from this height on. The list must be sorted and complete: a missed row would count
 * as settled.
 */
async function readYoung(
  index: BitcoinIndex,
  address: string,
  fromHeight: number,
  known: number,
): Promise<YoungTx[]> {
  const young = new Map<string, { height: number; net: Sats }>();
  let last: string | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (let page = 0; page < MAX_PAGES; page++) {
    const txs = await index.chainTxs(address, last);
    const before = young.size;
    for (const tx of txs) {
      const height = tx.block?.height;
      if (height === undefined || height > lowest) throw upstreamFailed(index.name, 'unsorted_list');
      if (height < fromHeight) return [...young.values()];
      lowest = height;
      young.set(tx.txid, { height, net: netEffect(tx, address) });
    }
    if (young.size === before) {
      if (young.size < known) throw upstreamFailed(index.name, 'incomplete_list');
      return [...young.values()];
    }
    last = txs.at(-1)?.txid;
  }
  throw upstreamFailed(index.name, 'too_many_young');
}
