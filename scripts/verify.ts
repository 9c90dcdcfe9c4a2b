/**
 * Checks a service's proof of its reserve from a terminal, without trusting it:
 *   npm run verify -- https://example.org
 * The signatures are checked here; balances and block come from two public explorers, the supply from a public node.
 * `--explorers a,b` and `--rpc url` name others. Five lines; exit code 1 when one is red.
 */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { netEffect } from '../src/chain/bitcoin/net-effect.ts';
import { checkProof, type ExplorerWord } from '../src/chain/bitcoin/proof-check.ts';
import { type ProofMessage, parseProofMessage } from '../src/chain/bitcoin/proof-message.ts';
import { createEsplora, type Esplora } from '../src/providers/esplora.ts';
import { createSolanaRpc } from '../src/providers/solana-rpc.ts';

const EXPLORERS = 'https://mempool.space/api,https://blockstream.info/api';
const RPC = 'https://api.mainnet-beta.solana.com';
/** Of about 25 transactions; a proof is an hour old, not a year. */
const MAX_PAGES = 40;
const TIMEOUT_MS = 30_000;

const signed = z.object({ address: z.string(), signature: z.string() });
const Proof = z.object({ message: z.string(), bitcoin: signed, solana: signed });

/** Sats that came in after a block, in confirmed transactions. */
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

async function ask(explorer: Esplora, { bitcoinAddress, bitcoinTip }: ProofMessage): Promise<ExplorerWord> {
  try {
    const { confirmed } = await explorer.balance(bitcoinAddress);
    const [gained, blockHash] = await Promise.all([
      gainedSince(explorer, bitcoinAddress, bitcoinTip.height),
      explorer.blockHash(bitcoinTip.height),
    ]);
    return { name: explorer.name, says: { satsAtProof: confirmed - gained, satsNow: confirmed, blockHash } };
  } catch {
    return { name: explorer.name, says: null };
  }
}

async function verify(url: URL, explorerUrls: readonly string[], rpcUrl: string): Promise<boolean> {
  const response = await fetch(new URL('/api/proof', url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.host} answers ${response.status} to /api/proof`);
  const proof = Proof.parse(await response.json());
  const message = parseProofMessage(proof.message);
  const explorers = explorerUrls.map((baseUrl) =>
    createEsplora({ baseUrl: baseUrl.replace(/\/+$/, ''), name: new URL(baseUrl).host, fetch }),
  );
  const rpc = createSolanaRpc({ urls: [rpcUrl], fetch });
  const [words, supply] = await Promise.all([
    Promise.all(explorers.map((explorer) => ask(explorer, message))),
    message.absr
      ? rpc.first((node) => node.tokenSupply(message.absr?.mint ?? '', 'finalized')).catch(() => null)
      : null,
  ]);
  const lines = checkProof({ proof, host: url.host, explorers: words, supply, now: Date.now() });
  for (const { name, ok, text } of lines) console.log(`${ok ? 'ok ' : 'RED'}  ${name.padEnd(17)}  ${text}`);
  return lines.every(({ ok }) => ok);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    explorers: { type: 'string', default: EXPLORERS },
    rpc: { type: 'string', default: RPC },
  },
});
try {
  const [url] = positionals;
  if (url === undefined) throw new Error('npm run verify -- URL [--explorers a,b] [--rpc url]');
  const ok = await verify(new URL(url), values.explorers.split(','), values.rpc);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
