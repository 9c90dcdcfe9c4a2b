/**
 * Looks on the chain for what paid a refund back: a final transaction that the reserve signed first and whose memo
 * names the refund. Anybody can write such a memo; only we can sign under it.
 * @module
 */
import { memoText } from '../../chain/solana/memo.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import { refundOfMemo } from './refund-operation.ts';

export type RefundSearchNode = {
  /** Finalized signatures of the reserve, newest first. */
  signatures(page: { limit: number; before?: string }): Promise<SignatureEntry[]>;
  /** A finalized transaction, or null while the node does not have it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
};

const PAGE = 1_000;
/** Further back than so many signatures nobody looks by itself. */
const PAGES = 10;
/** Clocks and block times differ by less. */
const SKEW_MS = 10 * 60_000;

/** @param nodes all must answer: one that is behind alone would not show it */
export function createRefundSearch(nodes: readonly RefundSearchNode[], reserveAddress: string) {
  async function search(node: RefundSearchNode, refund: string, since: number): Promise<string | null> {
    let before: string | undefined;
    for (let pages = 0; pages < PAGES; pages++) {
      const page = await node.signatures({ limit: PAGE, ...(before === undefined ? {} : { before }) });
      for (const { signature, err, memo } of page) {
        if (err !== null || refundOfMemo(memoText(memo)) !== refund) continue;
        const transaction = await node.transaction(signature);
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
