/** The pool API and the chain's RPC as loopback servers, with a router of the pools feature that calls them. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { base64 } from '@scure/base';
import type { ConfiguredPoolDeps } from '../../src/features/pools/get-pool.ts';
import { poolsRoutes } from '../../src/features/pools/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createOrca } from '../../src/providers/orca.ts';
import { type ChainAccount, createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { routerOver } from '../kit/router.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

export async function startPoolUpstreams() {
  const requests: string[] = [];
  let handler: Handler = (_request, response) => response.end();
  const orca = await listen((request, response) => {
    requests.push(`${request.headers.host}${request.url}`);
    handler(request, response);
  });

  const chain = new Map<string, ChainAccount>();
  const chainReads: string[][] = [];
  let isChainDown = false;
  const rpc = await listen(async (request, response) => {
    const { params } = JSON.parse(await readBody(request)) as { params: [string[], unknown] };
    chainReads.push(params[0]);
    if (isChainDown) return void response.writeHead(500).end('down');
    const value = params[0].map((address) => {
      const account = chain.get(address);
      if (!account) return null;
      const data = [base64.encode(account.data), 'base64'];
      return { owner: account.owner, lamports: Number(account.lamports), data, executable: false };
    });
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 441_977_650 }, value } }),
    );
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
    async stop() {
      for (const { server } of [orca, rpc]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}
