/** Every upstream of the custodian behind one fetch: two nodes of one chain, 1Click, three venues, two indexes. */
import { env } from 'cloudflare:workers';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import { afterAll, beforeAll } from 'vitest';
import { SIGNING_KEY } from '../bridges/signed-quote.ts';
import { createBitcoinChain } from '../kit/bitcoin-chain.ts';
import { fairOneClick } from '../kit/fake-bridge.ts';
import { nodeBody, type TestChain } from '../kit/solana-node.ts';
import { transport } from '../kit/transport.ts';
import { esploraAnswer } from '../world/esplora-model.ts';
import { createPriceBook, venueFetch } from '../world/price-venues.ts';
import { type RpcCall, RpcFailure } from '../world/rpc-call.ts';
import { chainTransaction, RPC_ERRORS } from '../world/solana-shapes.ts';

export const RESERVE_SEED = new Uint8Array(32).fill(11);
export const RESERVE = base58.encode(ed25519.getPublicKey(RESERVE_SEED));
const RESERVE_SECRET = base58.encode(
  Uint8Array.from([...RESERVE_SEED, ...ed25519.getPublicKey(RESERVE_SEED)]),
);
export const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const TXID = 'a'.repeat(64);
export const SOL = 1_000_000_000n;

/** A custodian with its key, two nodes and two indexes, and these settings, during the tests of a file. */
export function useSettings(more: Readonly<Record<string, unknown>> = {}): void {
  const settings = {
    RESERVE_SOLANA_ADDRESS: RESERVE,
    SOLANA_PRIVATE_KEY: RESERVE_SECRET,
    RESERVE_BTC_ADDRESS: BITCOIN,
    PUBLIC_BASE_URL: 'https://sluice.test',
    SOLANA_RPC_URL: 'https://rpc1.test,https://rpc2.test',
    SOLANA_READ_RPC_URL: 'https://rpc-read.test',
    ESPLORA_API_URLS: 'https://esplora1.test,https://esplora2.test',
    ...more,
  };
  const before = Object.keys(settings).map((name) => [name, Reflect.get(env, name)] as const);
  beforeAll(() => void Object.assign(env, settings));
  afterAll(() => {
    for (const [name, value] of before)
      value === undefined ? Reflect.deleteProperty(env, name) : Reflect.set(env, name, value);
  });
}

type Json = Record<string, unknown>;

export type Upstreams = ReturnType<typeof createUpstreams>;

export function createUpstreams() {
  const sent = new Set<string>();
  const sends: string[] = [];
  const oneClick = fairOneClick({ now: Date.now, key: SIGNING_KEY });
  const readVenue = venueFetch(createPriceBook({ BTC: '80000', SOL: '100' }));
  const bitcoin = createBitcoinChain({ blockMs: 600_000, timeOf: (time) => time });
  const [seenAt, outputs] = [Date.now(), [{ address: BITCOIN, value: 124_375n }]];
  bitcoin.add({ txid: TXID, outputs, seenAt, confirmedAt: seenAt });

  /** The bridge shows what the test has set. */
  const askBridge = transport((request) => {
    for (const swap of oneClick.swaps.values())
      Object.assign(swap, { status: world.bridgeStatus, paidHashes: [TXID] });
    return oneClick.handle(request);
  });
  const askIndex = transport((request) => esploraAnswer(bitcoin.viewAt(Date.now()), request));

  const world = {
    sent,
    sends,
    balance: 10n * SOL,
    /** Whether the chain shows sent transactions as final. */
    isFinal: false,
    bridgeStatus: 'PROCESSING',
    /** A response that takes precedence over all others, or undefined. */
    fault: (_url: string, _body: Json | undefined): Response | undefined => undefined,
    fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const url = String(input instanceof Request ? input.url : input);
      const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Json) : undefined;
      return world.fault(url, body) ?? answer(url, init);
    },
  };

  async function answer(url: string, init: RequestInit | undefined): Promise<Response> {
    const { hostname } = new URL(url);
    if (hostname.startsWith('rpc')) return Response.json(await nodeBody(init?.body, chain));
    if (hostname.includes('1click')) return askBridge(url, init);
    return hostname.startsWith('esplora') ? askIndex(url, init) : readVenue(url, init);
  }

  /** What each node shows: a transaction of the reserve that pays 1 SOL for every signature that it was sent. */
  const chain: TestChain = {
    newest: 500,
    blockHeight: () => 450,
    blockhashAt: () => ({
      blockhash: base58.encode(new Uint8Array(32).fill(200)),
      lastValidBlockHeight: 1_000,
    }),
    lamports: () => Number(world.balance),
    get transactions() {
      const shown = world.isFinal ? [...sent] : [];
      const changes = { [RESERVE]: -SOL - 5_900n, deposit: SOL };
      const blockTime = Math.floor(Date.now() / 1_000);
      return shown.map((one) => chainTransaction(one, changes, { slot: 480n, fee: 5_900n, blockTime }));
    },
    transactionsOf: () => [],
    methods: { sendTransaction },
  };

  function sendTransaction({ params }: RpcCall): string {
    const wire = base64.decode(String(params[0]));
    const signature = base58.encode(wire.slice(1, 65));
    if (!ed25519.verify(wire.slice(1, 65), wire.slice(65), base58.decode(RESERVE)))
      throw new RpcFailure(RPC_ERRORS.invalidSignature);
    sent.add(signature);
    sends.push(signature);
    return signature;
  }

  return world;
}
