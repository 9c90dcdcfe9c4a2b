/**
 * Checks a service's proof of its reserve from a terminal, without trusting it:
 *   npm run verify -- https://example.org
 * It checks the signatures itself, and reads balances and block from two public explorers and the supply from
 * a public node. `--explorers a,b` and `--rpc url` name others. It prints five lines; the exit code is 1 when
 * one is red, and 2 when none is red but a source could not be reached.
 */
import * as z from 'zod';
import { checkProof } from '../src/chain/bitcoin/proof-check.ts';
import { parseProofMessage } from '../src/chain/bitcoin/proof-message.ts';
import { collectEvidence, PUBLIC_EXPLORERS, PUBLIC_RPC } from '../src/mcp/verify-proof.ts';
import { findWorld } from '../test/world/running-world.ts';
import { argumentsOrUsage, httpUrl, readArguments, UsageError } from './command-line.ts';

const TIMEOUT_MS = 30_000;

const signed = z.object({ address: z.string(), signature: z.string() });
/** `?` is not checked. */
const MARKS = { confirmed: 'ok ', contradicted: 'RED', unchecked: '?  ' } as const;
const Proof = z.object({ message: z.string(), bitcoin: signed, solana: signed });

async function verify(url: URL, explorerUrls: readonly string[], rpcUrl: string): Promise<number> {
  const response = await fetch(new URL('/api/proof', url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.host} answers ${response.status} to /api/proof`);
  const proof = Proof.parse(await response.json());
  const message = parseProofMessage(proof.message);
  const { explorers, supply } = await collectEvidence(message, { explorerUrls, rpcUrl, fetch });
  const lines = checkProof({ proof, host: url.host, explorers, supply, now: Date.now() });
  for (const { name, result, text } of lines) console.log(`${MARKS[result]}  ${name.padEnd(17)}  ${text}`);
  const results = lines.map(({ result }) => result);
  if (results.includes('contradicted')) return 1;
  return results.includes('unchecked') ? 2 : 0;
}

const USAGE = `npm run verify -- URL [--explorers a,b] [--rpc url]
Without a URL, or with that of the offline world that runs on this machine, the world's explorers and node are used.`;
const { url, explorers, rpc } = argumentsOrUsage(USAGE, (args) => {
  const options = { explorers: { type: 'string' }, rpc: { type: 'string' } } as const;
  const { values, positionals } = readArguments(args, options, 1);
  const found = findWorld();
  const given = positionals[0] ?? found?.url;
  if (given === undefined) throw new UsageError('No URL, and no offline world runs here.');
  const service = httpUrl('URL', given);
  const world = found && new URL(found.url).origin === service.origin ? found.bindings : undefined;
  const sources = (values.explorers ?? world?.ESPLORA_API_URLS ?? PUBLIC_EXPLORERS).split(',');
  const node = values.rpc ?? world?.SOLANA_RPC_URL?.split(',')[0] ?? PUBLIC_RPC;
  for (const source of sources) httpUrl('--explorers', source);
  httpUrl('--rpc', node);
  return { url: service, explorers: sources, rpc: node };
});
try {
  process.exitCode = await verify(url, explorers, rpc);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
