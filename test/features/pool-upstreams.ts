/** The pool API and the chain's RPC as loopback servers, with a router of the pools feature that calls them. */
import type { RequestListener } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { ConfiguredPoolDeps } from '../../src/features/pools/get-pool.ts';
import { poolsRoutes } from '../../src/features/pools/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createOrca } from '../../src/providers/orca.ts';
import { type ChainAccount, createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { routerOver } from '../kit/router.ts';
import { serve } from '../kit/serve.ts';
import { nodeBody } from '../kit/solana-node.ts';

export type Handler = RequestListener;

export async function startPoolUpstreams() {
  const requests: string[] = [];
  let handler: Handler = (_request, response) => response.end();
  const orca = await serve((request, response) => {
    requests.push(`${request.headers.host}${request.url}`);
    handler(request, response);
  });

  const chain = new Map<string, ChainAccount>();
  const chainReads: string[][] = [];
  let isChainDown = false;
  const rpc = await serve(async (request, response) => {
    const body = await textOf(request);
    const { params } = JSON.parse(body) as { params: [string[], unknown] };
    chainReads.push(params[0]);
    if (isChainDown) return void response.writeHead(500).end('down');
    const account = (name: string) => {
      const found = chain.get(name);
      return found ? { ...found, lamports: Number(found.lamports), executable: false } : null;
    };
    response.end(JSON.stringify(await nodeBody(body, { newest: 441_977_650, account })));
  });

  return {
    host: orca.url.slice('http://'.length),
    /** Host and path of every request to the pool API. */
    requests,
    chain,
    /** Addresses of every call to the chain. */
    chainReads,
    answerWith(next: Handler) {
      handler = next;
    },
    breakChain(isBroken = true) {
      isChainDown = isBroken;
    },
    reset() {
      requests.length = 0;
      chainReads.length = 0;
      chain.clear();
      isChainDown = false;
    },
    /** A service with an empty cache; `timeoutMs` is how long it waits for the pool API. */
    service(over: Partial<ConfiguredPoolDeps> = {}, timeoutMs?: number) {
      const solana = createSolanaRpc({ urls: [rpc.url], fetch });
      const logged: Readonly<Record<string, unknown>>[] = [];
      const deps: ConfiguredPoolDeps = {
        orca: createOrca({
          baseUrl: `${orca.url}/v2/solana`,
          fetch,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        }),
        readAccounts: (addresses) => solana.first((node) => node.accounts(addresses, 'confirmed')),
        cache: new Cache({ now: over.now ?? Date.now, defer: (work) => void work }),
        memory: new Cache({ now: over.now ?? Date.now, defer: (work) => void work }),
        now: Date.now,
        log: (line) => logged.push(line),
        addresses: {},
        ...over,
      };
      return {
        deps,
        logged,
        get: routerOver(
          () => ({ pools: deps }),
          (app) => app.route('/api', poolsRoutes),
        ),
      };
    },
    stop: () => Promise.all([orca.stop(), rpc.stop()]),
  };
}
