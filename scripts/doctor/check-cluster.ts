/** Whether each node is on Solana's mainnet. */
import * as z from 'zod';
import type { Config } from '../../src/config.ts';
import { type Finding, hostOf, problem } from './finding.ts';

/** Hash of the first block of mainnet-beta. */
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const TIMEOUT_MS = 10_000;
const Genesis = z.object({ result: z.string() });

/** A node that does not respond has its own finding. */
export async function checkCluster(config: Config): Promise<Finding[]> {
  const named = (['SOLANA_RPC_URL', 'SOLANA_READ_RPC_URL'] as const).flatMap((name) =>
    config[name].map((url) => ({ name, url })),
  );
  const found = await Promise.all(
    named.map(async ({ name, url }) => {
      const genesis = await genesisOf(url);
      return genesis === undefined || genesis === MAINNET
        ? []
        : [
            problem(
              'rpc-other-network',
              `${name}: ${hostOf(url)} is a node of another network than mainnet.`,
              'Name the mainnet address of its provider.',
            ),
          ];
    }),
  );
  return found.flat();
}

async function genesisOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return Genesis.safeParse(await response.json()).data?.result;
  } catch {
    return undefined;
  }
}
