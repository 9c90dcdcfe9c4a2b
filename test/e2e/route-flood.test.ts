/**
 * A flood of every route of the API document, one request of each of 200 clients. The simulation has work under a flood. The
 * custodian's nodes are counted, and no time is compared.
 * @module-tag deep
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { expect, it } from 'vitest';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { SALE_NODE, upstreamCalls } from '../../src/core/call-limits.ts';
import { useWorld } from '../world/use-world.ts';
import { type RouteRequest, routeRequests } from './route-requests.ts';

const NODE_RATE = 50;
const CLIENTS = 200;
/** Requests that are sent at once. */
const AT_ONCE = 20;
/** What callers may use of a node in a second, and what the custodian's own clock uses at most. */
const PER_SECOND = NODE_RATE / 4 + 5;
/** A flood may begin with a full second of units, and reads that were due. */
const AT_FIRST = 2 * PER_SECOND;
/** Calls of all sales at the API's node, where the custodian does nothing. */
const SALES_PER_MINUTE = upstreamCalls(NODE_RATE)(SALE_NODE).total;

const world = useWorld({
  settleDelayMs: 200,
  nodeRate: NODE_RATE,
  vars: { SOLANA_RPC_RATE: String(NODE_RATE), SWAP_MAX_SOL_HOUR: '100', SWAP_MAX_SOL_DAY: '100' },
});

/** Networks of their own, one /24, the /48 of one provider's /32, and the /64 of one /48. */
const ADDRESSES: readonly ((n: string) => string)[] = [
  (n) => `10.${n}.0.1`,
  (n) => `203.0.113.${n}`,
  (n) => `2001:db8:${n}::1`,
  (n) => `2001:db9:1:${n}::1`,
];
const addressOf = (n: number): string => ADDRESSES[n % ADDRESSES.length]?.(String(n)) ?? '';

/** Gives each request addresses of its own, so that no response comes from memory. */
const fresh = (text: string): string =>
  text.replace(/\b[1-9A-HJ-NP-Za-km-z]{43,44}\b/g, () =>
    encodeBase58(ed25519.getPublicKey(ed25519.utils.randomSecretKey())),
  );

/** A swap that begins is work of the service with limits of its own, so its route gets requests that are refused. */
const bodyOf = ({ route, init }: RouteRequest): RequestInit => {
  if (route === '/api/swap/create') return { ...init, body: JSON.stringify({ amountSol: 99 }) };
  return init.body === undefined ? init : { ...init, body: fresh(init.body) };
};

async function flood(request: RouteRequest): Promise<void> {
  for (let from = 0; from < CLIENTS; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => {
        const response = await world.fetch(fresh(request.path), {
          ...bodyOf(request),
          ip: addressOf(from + at),
        });
        await response.arrayBuffer();
      }),
    );
}

const callsOf = (node: string): number => world.stats()[node]?.total ?? 0;

const requests = routeRequests();

it.each(requests)(
  'a flood of $method $route leaves our own work three quarters of each node',
  async (request) => {
    world.resetStats();
    const startedAt = performance.now();
    await flood(request);
    const seconds = (performance.now() - startedAt) / 1_000;
    const most = AT_FIRST + PER_SECOND * seconds;
    expect(Math.max(callsOf('rpc1'), callsOf('rpc2'))).toBeLessThanOrEqual(most);
    expect(callsOf('rpcRead')).toBeLessThanOrEqual(most + SALES_PER_MINUTE * Math.ceil(seconds / 60));
  },
);
