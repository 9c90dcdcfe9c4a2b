/**
 * Searches the chain for the transaction that paid a refund back: finalized, signed by the reserve first, with a memo that
 * names the refund. Anyone can write such a memo; only the reserve can sign under it.
 * @module
 */
import { memoText } from '../../chain/solana/memo.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { orUnreadable } from '../kernel/solana-view.ts';
import { refundOfMemo } from './refund-operation.ts';

export type RefundSearchNode = {
  /** Finalized signatures of the reserve, newest first. */
  signatures(page: { limit: number; before?: string }): Promise<SignatureEntry[]>;
  /** A finalized transaction, or null while the node does not have it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
};

const PAGE = 1_000;
/** Pages of one call. The next call continues below them, so a search of any length ends. */
const PAGES_PER_CALL = 10;
/** Clocks and block times differ by less. */
const SKEW_MS = 10 * 60_000;

type Search = (refund: string, since: number) => Promise<string | null>;

/** A search of one node. Its place in a long history outlives a call, not the instance. */
function createNodeSearch(node: RefundSearchNode, reserveAddress: string): Search {
  /** Where the search for a refund goes on. */
  const places = new Map<string, string>();

  async function paidIn(page: readonly SignatureEntry[], refund: string): Promise<string | null> {
    for (const { signature, err, memo } of page) {
      if (err !== null || refundOfMemo(memoText(memo)) !== refund) continue;
      const transaction = await orUnreadable(node.transaction(signature));
      // The custodian never signs a version that nodes do not show.
      if (transaction === 'unreadable') continue;
      if (!transaction) throw upstreamFailed('solana-rpc', 'transaction_missing');
      if (!transaction.failed && transaction.signers[0] === reserveAddress) return signature;
    }
    return null;
  }

  return async (refund, since) => {
    for (let pages = 0; pages < PAGES_PER_CALL; pages++) {
      const before = places.get(refund);
      const page = await node.signatures({ limit: PAGE, ...(before === undefined ? {} : { before }) });
      const found = await paidIn(page, refund);
      const last = page.at(-1);
      const isOlder = last?.blockTime != null && last.blockTime * 1_000 < since - SKEW_MS;
      if (found !== null || !last || page.length < PAGE || isOlder) {
        places.delete(refund);
        return found;
      }
      places.set(refund, last.signature);
    }
    throw upstreamFailed('solana-rpc', 'history_continues');
  };
}

/**
 * @param nodes all must answer: a single node that lags or keeps too little would not show the payment
 * @returns the search: the signature that paid a refund back since a time in Unix milliseconds, or null. It throws AppError
 *          UPSTREAM_FAILED `history_continues` when a further call must go on
 */
export function createRefundSearch(nodes: readonly RefundSearchNode[], reserveAddress: string): Search {
  const searches = nodes.map((node) => createNodeSearch(node, reserveAddress));
  const results = new Map<string, (string | null | undefined)[]>();

  return async (refund, since) => {
    // A node whose search has ended is not asked again while another's continues.
    const known = results.get(refund) ?? [];
    results.set(refund, known);
    const outcomes = await Promise.allSettled(
      searches.map(async (search, index) => {
        if (known[index] === undefined) known[index] = await search(refund, since);
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    results.delete(refund);
    return known.find((signature) => typeof signature === 'string') ?? null;
  };
}
