/**
 * Searches the chain for the transaction that paid a refund: finalized, with the reserve as first signer and a memo that
 * names the refund. Anybody can write such a memo; only the reserve can sign it.
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
/** The search ends after this many pages; the operator searches further back. */
const PAGES = 10;
/** Clocks and block times differ by less. */
const SKEW_MS = 10 * 60_000;

/** @param nodes each must answer, since one that is behind would not show the transaction */
export function createRefundSearch(nodes: readonly RefundSearchNode[], reserveAddress: string) {
  async function search(node: RefundSearchNode, refund: string, since: number): Promise<string | null> {
    let before: string | undefined;
    for (let pages = 0; pages < PAGES; pages++) {
      const page = await node.signatures({ limit: PAGE, ...(before === undefined ? {} : { before }) });
      for (const { signature, err, memo } of page) {
        if (err !== null || refundOfMemo(memoText(memo)) !== refund) continue;
        const transaction = await orUnreadable(node.transaction(signature));
        if (transaction === 'unreadable') continue;
        if (!transaction) throw upstreamFailed('solana-rpc', 'transaction_missing');
        if (!transaction.failed && transaction.signers[0] === reserveAddress) return signature;
      }
      const last = page[page.length - 1];
      if (!last || page.length < PAGE) return null;
      if (last.blockTime !== null && last.blockTime * 1_000 < since - SKEW_MS) return null;
      before = last.signature;
    }
    throw upstreamFailed('solana-rpc', 'history_too_long');
  }

  /** @param since Unix milliseconds. @throws AppError UPSTREAM_FAILED */
  return async function findPaid(refund: string, since: number): Promise<string | null> {
    const found = await Promise.all(nodes.map((node) => search(node, refund, since)));
    return found.find((signature) => signature !== null) ?? null;
  };
}
