/**
 * Collects what one Bitcoin explorer shows about a proof. A terminal and a browser each read the explorer in their own
 * way.
 * @module
 */
import { netEffect } from './net-effect.ts';
import type { ExplorerReport } from './proof-lines.ts';
import type { ProofMessage } from './proof-message.ts';

type ConfirmedTx = Parameters<typeof netEffect>[0] & {
  readonly txid: string;
  readonly height: number | null;
};

export type ExplorerReads = {
  readonly name: string;
  /** Confirmed sats of an address. */
  balance(address: string): Promise<bigint>;
  /** One page of the confirmed transactions of an address, newest first. @param last txid at the end of the page before */
  page(address: string, last: string | undefined): Promise<readonly ConfirmedTx[]>;
  /** The hash of the best chain's block at a height. */
  blockHash(height: number): Promise<string | null>;
};

/**
 * Maximum pages, each of about 25 transactions. Proofs are signed every hour, so only a hostile explorer has more
 * pages.
 */
const MAX_PAGES = 40;

/** A failing explorer is part of the evidence, not an error. */
export async function explorerReport(
  explorer: ExplorerReads,
  { bitcoinAddress, bitcoinTip }: ProofMessage,
): Promise<ExplorerReport> {
  try {
    const satsNow = await explorer.balance(bitcoinAddress);
    const [gained, blockHash] = await Promise.all([
      gainedSince(explorer, bitcoinAddress, bitcoinTip.height),
      explorer.blockHash(bitcoinTip.height),
    ]);
    return { name: explorer.name, figures: { satsAtProof: satsNow - gained, satsNow, blockHash } };
  } catch {
    return { name: explorer.name, figures: null };
  }
}

/** Net sats received by confirmed transactions after a block. */
async function gainedSince(explorer: ExplorerReads, address: string, height: number): Promise<bigint> {
  let gained = 0n;
  let last: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const txs = (await explorer.page(address, last)).filter(({ txid }) => !seen.has(txid));
    if (txs.length === 0) return gained;
    for (const tx of txs) {
      if ((tx.height ?? 0) <= height) return gained;
      seen.add(tx.txid);
      gained += netEffect(tx, address);
    }
    last = txs.at(-1)?.txid;
  }
  throw new Error('too many transactions since the proof');
}
