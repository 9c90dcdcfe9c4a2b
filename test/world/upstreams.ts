import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import type { Endpoints } from './bindings.ts';
import type { BitcoinNode } from './bitcoin-node.ts';
import { startChangeNow } from './changenow.ts';
import { startEsploraAdapter } from './esplora-adapter.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream } from './fault-gate.ts';
import type { BitcoinKey, QuoteKey } from './keys.ts';
import { startWitnessUpstreams } from './mint-witness.ts';
import { createNostrSeed } from './nostr-seed.ts';
import { startOneClick } from './one-click.ts';
import { startOrca } from './orca.ts';
import { plantPools, type WorldPools } from './orca-pools.ts';
import { PRICE_HANDLERS, type PriceBook } from './price-venues.ts';
import { startRelay } from './relay.ts';
import type { RequestCounts } from './request-counts.ts';
import { startRpcFront } from './rpc-front.ts';
import type { SolanaWorld } from './solana-world.ts';

export interface UpstreamsOptions {
  readonly solana: SolanaWorld;
  readonly bitcoin: BitcoinNode;
  readonly bitcoinBank: BitcoinKey;
  readonly prices: PriceBook;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
  readonly quoteKey: QuoteKey;
  readonly oneClickToken: string;
  readonly changenowKey: string;
  readonly settleDelayMs: number;
  /** The world's time, Unix milliseconds. */
  readonly now: () => number;
  /** Number of Solana nodes. */
  readonly nodes: 2 | 3;
  /** Requests that each Solana node serves in a second; absent: any number. */
  readonly nodeRate: number | undefined;
  /** Where the Worker of the witness listens, null while it is down; absent without a witness. */
  readonly witness?: () => string | null;
}

export interface Upstreams {
  readonly endpoints: Endpoints;
  readonly npub: string;
  readonly pools: WorldPools;
  stop(): Promise<void>;
}

/** Starts every upstream of the Worker, each with its own port and faults. */
export async function startUpstreams(options: UpstreamsOptions): Promise<Upstreams> {
  const { solana, bitcoin, faults, counts, prices } = options;
  const { ledger } = solana;
  const node = { ledger, faults, counts, ratePerSecond: options.nodeRate };
  const seed = createNostrSeed(Date.now());
  const pools = await plantPools(solana);

  const [rpc1, rpc2, rpc3, rpcRead, esplora1, esplora2, oneclick, venues, relay1, relay2, orca, changenow] =
    await Promise.all([
      startRpcFront({ name: 'rpc1', ...node }),
      startRpcFront({ name: 'rpc2', ...node }),
      options.nodes === 3 ? startRpcFront({ name: 'rpc3', ...node }) : undefined,
      startRpcFront({ name: 'rpcRead', ...node }),
      startEsploraAdapter({ name: 'esplora1', node: bitcoin, faults, counts }),
      startEsploraAdapter({ name: 'esplora2', node: bitcoin, faults, counts }),
      startOneClick({
        ledger,
        bitcoin,
        prices,
        faults,
        counts,
        quoteKey: options.quoteKey,
        token: options.oneClickToken,
        solanaBank: solana.bank,
        bitcoinBank: options.bitcoinBank,
        settleDelayMs: options.settleDelayMs,
        now: options.now,
      }),
      Promise.all(
        VENUE_NAMES.map((name) =>
          startUpstream({ name, faults, counts, handle: (request) => PRICE_HANDLERS[name](prices, request) }),
        ),
      ),
      startRelay({ name: 'relay1', faults, counts }),
      startRelay({ name: 'relay2', faults, counts }),
      startOrca({ ledger, pools, faults, counts }),
      startChangeNow({ prices, faults, counts, apiKey: options.changenowKey }),
    ]);
  const { witness: target } = options;
  const witnessed = target && (await startWitnessUpstreams({ ledger, bitcoin, faults, counts, target }));
  for (const relay of [relay1, relay2]) relay.seed(seed.events);

  const nodes = { rpc1, rpc2, ...(rpc3 ? { rpc3 } : {}), rpcRead };
  const all = {
    ...nodes,
    esplora1,
    esplora2,
    oneclick,
    ...Object.fromEntries(venues.map((venue) => [venue.name, venue])),
    orca,
    changenow,
    relay1,
    relay2,
    ...witnessed,
  };
  return {
    endpoints: Object.fromEntries(Object.entries(all).map(([name, { url }]) => [name, url])) as Endpoints,
    npub: seed.npub,
    pools,
    async stop() {
      await Promise.all(Object.values(all).map((one) => one.stop()));
    },
  };
}
