/**
 * Checks a service's proof of its reserve from a terminal, without trusting it:
 *   npm run verify -- https://example.org
 * The signatures are checked here; balances and block come from two public explorers, the supply from a public node.
 * `--explorers a,b` and `--rpc url` name others. Five lines; exit code 1 when one is red.
 */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { checkProof } from '../src/chain/bitcoin/proof-check.ts';
import { parseProofMessage } from '../src/chain/bitcoin/proof-message.ts';
import { gatherEvidence, PUBLIC_EXPLORERS, PUBLIC_RPC } from '../src/mcp/proof-evidence.ts';

const TIMEOUT_MS = 30_000;

const signed = z.object({ address: z.string(), signature: z.string() });
const Proof = z.object({ message: z.string(), bitcoin: signed, solana: signed });

async function verify(url: URL, explorerUrls: readonly string[], rpcUrl: string): Promise<boolean> {
  const response = await fetch(new URL('/api/proof', url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.host} answers ${response.status} to /api/proof`);
  const proof = Proof.parse(await response.json());
  const message = parseProofMessage(proof.message);
  const { explorers, supply } = await gatherEvidence(message, { explorerUrls, rpcUrl, fetch });
  const lines = checkProof({ proof, host: url.host, explorers, supply, now: Date.now() });
  for (const { name, ok, text } of lines) console.log(`${ok ? 'ok ' : 'RED'}  ${name.padEnd(17)}  ${text}`);
  return lines.every(({ ok }) => ok);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    explorers: { type: 'string', default: PUBLIC_EXPLORERS },
    rpc: { type: 'string', default: PUBLIC_RPC },
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
