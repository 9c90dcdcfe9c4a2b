/**
 * The entry on the agent's machine: the packed `sluice-mcp.mjs`, or `npm run -s mcp`. Only the protocol is written to
 * stdout; all other output goes to stderr. Reads API_BASE_URL, the origin of the service, and the sources that verify
 * its proof.
 * @module
 */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createApi } from './api-client.ts';
import { createRecentResults } from './recent-results.ts';
import { createServer } from './server.ts';
import { createProofVerifier, PUBLIC_EXPLORERS, PUBLIC_RPC } from './verify-proof.ts';

const LAST_WORDS_MS = 100;
const DEFAULT_ORIGIN = 'http://127.0.0.1:8787';

// stdout is reserved for the protocol, so library logs go to stderr.
console.log = console.info = console.debug = console.error;

const complain = (error: unknown): void =>
  console.error(`sluice-mcp: ${error instanceof Error ? error.message : String(error)}`);

/** @throws Error naming the variable */
function webUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Error(`${name} must be an http or https URL such as ${DEFAULT_ORIGIN}`);
}

function start(): void {
  if (process.argv.length > 2)
    throw new Error(
      'unexpected arguments; settings are environment variables: API_BASE_URL, PROOF_EXPLORER_URLS, PROOF_RPC_URL',
    );
  const { origin, host } = webUrl('API_BASE_URL', process.env.API_BASE_URL || DEFAULT_ORIGIN);
  const explorerUrls = (process.env.PROOF_EXPLORER_URLS || PUBLIC_EXPLORERS)
    .split(',')
    .map((text) => webUrl('PROOF_EXPLORER_URLS', text.trim()).href);
  const rpcUrl = webUrl('PROOF_RPC_URL', process.env.PROOF_RPC_URL || PUBLIC_RPC).href;
  const api = createApi({
    origin,
    fetch,
    unreachableRepair: `Check that the service runs and that API_BASE_URL (now ${origin}) is its origin, then make the same call.`,
  });
  const verifyProof = createProofVerifier()({
    sources: { explorerUrls, rpcUrl, fetch },
    host,
    now: Date.now,
  });
  const recent = createRecentResults(Date.now);
  const connection = serveStdio(() => createServer({ api, verifyProof, recent }), { onerror: complain });
  /** Ends after the output is flushed, even if sockets to the service are still open. */
  const stop = (): void => {
    void connection.close().finally(() => setTimeout(() => process.exit(0), LAST_WORDS_MS).unref());
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // A host that closes stdin has ended, so nobody receives pending responses.
  process.stdin.once('end', stop);
}

process.on('uncaughtException', (error) => {
  complain(error);
  process.exit(1);
});

start();
