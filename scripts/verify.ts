/**
 * Checks a service's proof of its reserve from a terminal, without trusting it:
 *   npm run verify -- https://example.org
 * It checks the signatures itself. It reads balances and block from two public explorers, and the supply from a public
 * node; `--explorers a,b` and `--rpc url` name others. It prints six lines. The exit code is 1 when a line is red, and 2
 * when no line is red but a source could not be reached or two explorers contradict each other.
 */
import { createApi } from '../src/mcp/api-client.ts';
import {
  createProofVerifier,
  type ProofSources,
  PUBLIC_EXPLORERS,
  PUBLIC_RPC,
} from '../src/mcp/verify-proof.ts';
import { argumentsOrUsage, httpUrl, oneLine, readArguments } from './command-line.ts';
import { chooseTarget, targetLine } from './target.ts';

/** `ok!` marks a check that passes with a warning, `?` a check that decides nothing. */
const MARKS = {
  confirmed: 'ok ',
  warned: 'ok!',
  contradicted: 'RED',
  disputed: '?  ',
  unchecked: '?  ',
} as const;

async function verify({ origin, host }: URL, sources: ProofSources): Promise<number> {
  const api = createApi({ origin, fetch, unreachableRepair: '' });
  const { checks } = await createProofVerifier()({ sources, host, now: Date.now })(api);
  for (const { name, result, text } of checks) console.log(`${MARKS[result]}  ${name.padEnd(17)}  ${text}`);
  const results = checks.map(({ result }) => result);
  if (results.includes('contradicted')) return 1;
  return results.includes('unchecked') || results.includes('disputed') ? 2 : 0;
}

const USAGE = `npm run verify -- URL [--explorers a,b] [--rpc url] [--world]
With that of an offline world on this machine, or with --world, the world's explorers and node are used.`;
const { target, sources } = argumentsOrUsage(USAGE, (args) => {
  const options = {
    explorers: { type: 'string' },
    rpc: { type: 'string' },
    world: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = readArguments(args, options, 1);
  const target = chooseTarget({ named: ['URL', positionals[0]], world: values.world });
  const own = target.world?.bindings;
  const explorerUrls = (values.explorers ?? own?.ESPLORA_API_URLS ?? PUBLIC_EXPLORERS).split(',');
  const rpcUrl = values.rpc ?? own?.SOLANA_RPC_URL?.split(',')[0] ?? PUBLIC_RPC;
  for (const url of explorerUrls) httpUrl('--explorers', url);
  httpUrl('--rpc', rpcUrl);
  return { target, sources: { explorerUrls, rpcUrl, fetch } };
});
console.log(await targetLine(target));
try {
  process.exitCode = await verify(new URL(target.origin), sources);
} catch (error) {
  console.error(oneLine(error));
  process.exitCode = 1;
}
