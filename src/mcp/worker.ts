/**
 * The Worker `sluice-mcp`: the MCP server at /mcp. It calls the API Worker over a service binding and holds
 * no key and no state.
 * @module
 */
import { memoryKeys } from '../../packages/client/src/index.ts';
import { type FloodGate, passesGate } from '../core/client-network.ts';
import { createApi, keysOf } from './api-client.ts';
import { createHttpHandler } from './http-handler.ts';
import { createRecentResults, resultsOf } from './recent-results.ts';
import { createServer } from './server.ts';
import { createProofVerifier, PUBLIC_EXPLORERS, PUBLIC_RPC } from './verify-proof.ts';

type McpEnv = FloodGate & {
  readonly API: { fetch: typeof globalThis.fetch };
  /** Origin of the service for clients; the request's own when absent. */
  readonly PUBLIC_BASE_URL?: string;
  /** Comma list of hostnames whose pages may call, or `*`. */
  readonly MCP_ALLOWED_ORIGINS?: string;
  /** Comma list of Esplora APIs, two or more. */
  readonly PROOF_EXPLORER_URLS?: string;
  readonly PROOF_RPC_URL?: string;
};

/** Kept in the memory of one isolate, so a key or a result may be missing in the next request. */
const keys = memoryKeys();
const recent = createRecentResults(Date.now);
const verifierFor = createProofVerifier();

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The platform's headers that name a client. With them, the API's limits count the client instead of this Worker. */
const clientHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    ['cf-connecting-ip', 'cf-worker'].flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );

function handlerFor(env: McpEnv, request: Request): (request: Request) => Promise<Response> {
  const { origin, host } = new URL(env.PUBLIC_BASE_URL || request.url);
  const verifyProof = verifierFor({
    sources: {
      explorerUrls: list(env.PROOF_EXPLORER_URLS || PUBLIC_EXPLORERS),
      rpcUrl: env.PROOF_RPC_URL || PUBLIC_RPC,
      fetch: (input, init) => fetch(input, init),
    },
    host,
    now: Date.now,
  });
  return createHttpHandler({
    publicOrigin: origin,
    allowedOrigins: list(env.MCP_ALLOWED_ORIGINS ?? ''),
    admit: (client) => passesGate(env, 'mcp', client),
    createServer(client, { headers }) {
      const api = createApi({
        origin,
        fetch: (input, init) => env.API.fetch(input, init),
        keys: keysOf(client, keys),
        headers: clientHeaders(headers),
        unreachableRepair: 'Wait 30 seconds, then make the same call. If it still fails, tell the user.',
      });
      return createServer({ api, verifyProof, recent: resultsOf(client, recent) });
    },
    log: (line) => console.log(JSON.stringify(line)),
  });
}

export default {
  fetch: (request: Request, env: McpEnv) => handlerFor(env, request)(request),
};
