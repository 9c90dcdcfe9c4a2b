/**
 * Evidence about a proof from sources independent of the service: Bitcoin explorers and a Solana node.
 * @module
 */

import type { ExplorerReport, ProofEvidence } from '../chain/bitcoin/proof-lines.ts';
import type { ProofMessage } from '../chain/bitcoin/proof-message.ts';
import { createEsplora, type Esplora, netEffect } from '../providers/esplora.ts';
import { createSolanaRpc } from '../providers/solana-rpc.ts';

export type ProofSources = {
  /** Base URLs of two or more Esplora APIs of different operators. */
  readonly explorerUrls: readonly string[];
  readonly rpcUrl: string;
  readonly fetch: typeof globalThis.fetch;
};

export const PUBLIC_EXPLORERS = 'https://mempool.space/api,https://blockstream.info/api';
export const PUBLIC_RPC = 'https://api.mainnet-beta.solana.com';

/** Of about 25 transactions. Proofs are signed every hour, so more would mean a hostile explorer. */
const MAX_PAGES = 40;

/** Reads every source in parallel. A source that does not answer is part of the evidence, not an error. */
export async function collectEvidence(
  message: ProofMessage,
  { explorerUrls, rpcUrl, fetch }: ProofSources,
): Promise<Pick<ProofEvidence, 'explorers' | 'supply'>> {
  const explorers = explorerUrls.map((baseUrl) =>
    createEsplora({ baseUrl: baseUrl.replace(/\/+$/, ''), name: new URL(baseUrl).host, fetch }),
  );
  const rpc = createSolanaRpc({ urls: [rpcUrl], fetch });
  const { absr } = message;
  const [reports, supply] = await Promise.all([
    Promise.all(explorers.map((explorer) => explorerReport(explorer, message))),
    absr ? rpc.first((node) => node.tokenSupply(absr.mint, 'finalized')).catch(() => null) : null,
  ]);
  return { explorers: reports, supply };
}

async function explorerReport(
  explorer: Esplora,
  { bitcoinAddress, bitcoinTip }: ProofMessage,
): Promise<ExplorerReport> {
  try {
    const { confirmed } = await explorer.balance(bitcoinAddress);
    const [gained, blockHash] = await Promise.all([
      gainedSince(explorer, bitcoinAddress, bitcoinTip.height),
      explorer.blockHash(bitcoinTip.height),
    ]);
    return {
      name: explorer.name,
      figures: { satsAtProof: confirmed - gained, satsNow: confirmed, blockHash },
    };
  } catch {
    return { name: explorer.name, figures: null };
  }
}

/** Net sats received by confirmed transactions after a block. */
async function gainedSince(explorer: Esplora, address: string, height: number): Promise<bigint> {
  let gained = 0n;
  let last: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const txs = (await explorer.chainTxs(address, last)).filter(({ txid }) => !seen.has(txid));
    if (txs.length === 0) return gained;
    for (const tx of txs) {
      if ((tx.block?.height ?? 0) <= height) return gained;
      seen.add(tx.txid);
      gained += netEffect(tx, address);
    }
    last = txs.at(-1)?.txid;
  }
  throw new Error('too many transactions since the proof');
}
