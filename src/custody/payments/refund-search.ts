/**
 * Searches the chain for the transaction that paid a refund: finalized, first signed by the reserve, with a
 * memo that names the refund. Anyone can write such a memo, but only the reserve can sign it.
 * @module
 */
import { memoText } from '../../chain/solana/transaction.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { SignatureEntry, SolanaNode } from '../../providers/solana-rpc.ts';
import type { Decide } from '../kernel/quorum.ts';
import { orUnreadable, type SolanaView } from '../kernel/solana-view.ts';
import { refundOfMemo } from './refund-operation.ts';

const PAGE = 1_000;
/** Pages per call. The next call continues below them, so a search of any length ends. */
const PAGES_PER_CALL = 10;

/** One node's position in the search. It outlives a call, but not the instance. */
type Progress = { before: string | undefined; found: string | null | undefined };

/**
 * A found signature needs a quorum that agrees. Its absence needs a quorum too, and no answering node may
 * list it.
 */
const decidePaid =
  (quorum: number): Decide<string | null, string | null> =>
  (given, complete) => {
    const paid = given.find(
      ({ value }) => value !== null && given.filter((other) => other.value === value).length >= quorum,
    );
    if (paid) return { agreed: paid.value };
    const isUnpaid = complete && given.length >= quorum && given.every(({ value }) => value === null);
    return isUnpaid ? { agreed: null } : undefined;
  };

/**
 * @returns the search: the signature that paid a refund, or null. It throws AppError UPSTREAM_FAILED
 * `history_pruned`
 * when nodes do not keep the refunded payment, `history_continues` when a further call must continue, and
 * `quorum_missing` while the nodes do not agree
 */
export function createRefundSearch(
  { ask, quorum, transaction, isAbsent }: Pick<SolanaView, 'ask' | 'quorum' | 'transaction' | 'isAbsent'>,
  reserveAddress: string,
): (refund: string) => Promise<string | null> {
  const progress = new Map<string, Progress>();

  async function paidIn(page: readonly SignatureEntry[], refund: string): Promise<string | null> {
    for (const entry of page) {
      if (entry.err !== null || refundOfMemo(memoText(entry.memo)) !== refund) continue;
      const found = await orUnreadable(transaction(entry.signature));
      // The custodian never signs a version that nodes do not show.
      if (found === 'unreadable' || (!found && (await isAbsent(entry)))) continue;
      if (!found) throw upstreamFailed('solana-rpc', 'transaction_missing');
      if (!found.failed && found.signers[0] === reserveAddress) return entry.signature;
    }
    return null;
  }

  /** What one node shows after the refunded payment. A node whose history begins later proves nothing. */
  async function searchNode(node: SolanaNode, refund: string, paidAt: bigint): Promise<string | null> {
    const name = `${refund} ${node.id}`;
    const place = progress.get(name) ?? { before: undefined, found: undefined };
    progress.set(name, place);
    for (let pages = 0; pages < PAGES_PER_CALL && place.found === undefined; pages++) {
      const next = place.before === undefined ? {} : { before: place.before };
      const page = await node.signaturesFor(reserveAddress, {
        limit: PAGE,
        commitment: 'finalized',
        ...next,
      });
      const found = await paidIn(page, refund);
      const last = page.at(-1);
      if (found !== null || !last || page.length < PAGE || last.slot < paidAt) place.found = found;
      else place.before = last.signature;
    }
    if (place.found === undefined) throw upstreamFailed('solana-rpc', 'history_continues');
    if (place.found === null && (await node.firstAvailableBlock()) > paidAt)
      throw upstreamFailed('solana-rpc', 'history_pruned');
    return place.found;
  }

  /** Forgets the ended searches for a refund, or all of them once it is decided. */
  function forget(refund: string, isDecided: boolean): void {
    for (const [name, { found }] of progress)
      if (name.startsWith(`${refund} `) && (isDecided || found !== undefined)) progress.delete(name);
  }

  return async (refund) => {
    const [payment = refund] = refund.split('.');
    const paid = await transaction(payment);
    if (!paid) throw upstreamFailed('solana-rpc', 'history_pruned');
    const answer = await ask(
      `refund ${refund}`,
      (node) => searchNode(node, refund, paid.slot),
      decidePaid(quorum),
    );
    // Searches that disagree start again, because a node may only have been late.
    forget(refund, answer !== undefined);
    if (!answer) throw upstreamFailed('solana-rpc', 'quorum_missing');
    return answer.agreed;
  };
}
