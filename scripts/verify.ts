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
import { argumentsOrUsage, httpUrl, oneLine, readArguments } from './command-line.ts';
import { chooseTarget, targetLine } from './target.ts';

const TIMEOUT_MS = 30_000;

const signed = z.object({ address: z.string(), signature: z.string() });
/** `?` marks a check that could not be made. */
const MARKS = { confirmed: 'ok ', contradicted: 'RED', unchecked: '?  ' } as const;
const Proof = z.object({ message: z.string(), bitcoin: signed, solana: signed });

async function verify(url: URL, explorerUrls: readonly string[], rpcUrl: string): Promise<number> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL('/api/proof', url), { signal }).catch(() => {
    throw new Error(`${url.host} does not respond to /api/proof.`);
  });
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

const USAGE = `npm run verify -- URL [--explorers a,b] [--rpc url] [--world]
With that of an offline world on this machine, or with --world, the world's explorers and node are used.`;
const { target, explorers, rpc } = argumentsOrUsage(USAGE, (args) => {
  const options = {
    explorers: { type: 'string' },
    rpc: { type: 'string' },
    world: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = readArguments(args, options, 1);
  const target = chooseTarget({ named: ['URL', positionals[0]], world: values.world });
  const own = target.world?.bindings;
  const sources = (values.explorers ?? own?.ESPLORA_API_URLS ?? PUBLIC_EXPLORERS).split(',');
  const node = values.rpc ?? own?.SOLANA_RPC_URL?.split(',')[0] ?? PUBLIC_RPC;
  for (const source of sources) httpUrl('--explorers', source);
  httpUrl('--rpc', node);
  return { target, explorers: sources, rpc: node };
});
console.log(await targetLine(target));
try {
  process.exitCode = await verify(new URL(target.origin), explorers, rpc);
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
