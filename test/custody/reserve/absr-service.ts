/** The production custodian over the models: its ports, its restarts, and calls during which it crashes. */

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { SwapRoute } from '../../../src/bridges/route.ts';
import { sats } from '../../../src/core/amount.ts';
import { HOUR_MS } from '../../../src/core/durations.ts';
import type { Custodian } from '../../../src/custody/custodian.ts';
import type { Signer } from '../../../src/custody/kernel/ports.ts';
import { createProofSigner, createSigner } from '../../../src/custody/kernel/signer.ts';
import type { AbsrPorts } from '../../../src/custody/reserve/daily-mint.ts';
import {
  type ReserveSources,
  reserveViews,
  solanaFigures,
  supplyViews,
} from '../../../src/custody/reserve/reserve-views.ts';
import { assembleTransaction, createCustodyFakes } from '../../kit/custodian.ts';
import { createSwapPorts } from '../../kit/fake-bridge.ts';
import { createSqliteStorage, type SqliteStorage } from '../../kit/sqlite-storage.ts';
import { createBitcoinModel, RESERVE_BTC } from './bitcoin-model.ts';
import { createSolanaModel, type SendFate } from './solana-model.ts';

export const SERVICE = 'reserve.example';
export const SOL = 1_000_000_000n;
export const TREASURY = base58.encode(new Uint8Array(32).fill(11));
export const MINT = base58.encode(new Uint8Array(32).fill(12));
export const DECIMALS = 2;
/** Confirmations that an income needs. */
export const DEPTH = 3;
const SEED = new Uint8Array(32).fill(5);
/** 1 SOL is 125,000 sats. */
const MARKET = { btcUsd: 80_000_000_000n, solUsd: 100_000_000n };

export const reserveSigner = (): Signer =>
  createSigner(base58.encode(new Uint8Array([...SEED, ...ed25519.getPublicKey(SEED)])));

/** Swaps by their deposit address; `txid` once the bridge has paid. */
type OpenSwaps = Map<string, { readonly sats: bigint; txid: string | null }>;

function createBridge(swaps: OpenSwaps, now: () => number): SwapRoute {
  return {
    name: 'near-intents',
    async quote({ amount, dry }) {
      const expectedSats = sats((amount * 124_500n) / SOL);
      const bytes = new Uint8Array(32).fill(77);
      new DataView(bytes.buffer).setUint32(0, swaps.size);
      const depositAddress = dry ? null : base58.encode(bytes);
      if (depositAddress) swaps.set(depositAddress, { sats: expectedSats, txid: null });
      const terms = {
        expectedSats,
        minimumSats: sats((expectedSats * 995n) / 1_000n),
        fixedFeeSats: sats(0n),
      };
      const expiresAt = now() + HOUR_MS;
      return {
        ok: true,
        quote: { route: 'near-intents', amount, ...terms, expiresAt, etaSeconds: 600, depositAddress },
      };
    },
    async report(depositAddress) {
      const txid = swaps.get(depositAddress)?.txid;
      return txid ? { state: 'delivered', txids: [txid] } : { state: 'pending', detail: 'settling' };
    },
  };
}

/** The service at a time, with two indexes and two nodes. */
export function createService(p: {
  readonly at: number;
  readonly lamports: bigint;
  /** What becomes of each send. */
  readonly fate: () => SendFate;
  readonly random?: () => number;
  /** Replaces parts of the mint. */
  readonly mutate?: (ports: AbsrPorts) => AbsrPorts;
  readonly count?: (name: string) => void;
  /** If given, proofs are signed: with this Bitcoin key, or without one for a watch-only address. */
  readonly proof?: { readonly wif: string | undefined };
}) {
  const { random = () => 0.5, count = () => undefined, mutate = (ports) => ports } = p;
  const clock = { now: p.at };
  const now = (): number => clock.now;
  const bitcoin = createBitcoinModel();
  const indexes = [bitcoin.index('one'), bitcoin.index('two')] as const;
  const signer = reserveSigner();
  const solana = createSolanaModel({
    reserve: signer.address,
    treasury: TREASURY,
    mint: MINT,
    decimals: DECIMALS,
    lamports: p.lamports,
    now,
    fate: p.fate,
  });
  const swaps: OpenSwaps = new Map();
  const sources: ReserveSources = {
    indexes,
    nodes: solana.nodes,
    bitcoinAddress: RESERVE_BTC,
    solanaAddress: signer.address,
    absrMint: MINT,
  };
  const reservePorts = {
    reserveViews: (depth: number) => reserveViews(sources, depth),
    supplyViews: () => supplyViews(sources),
    solanaFigures: () => solanaFigures(sources),
  };
  const readPrices = async () => ['a', 'b'].map((source) => ({ source, ...MARKET }));
  const { mirror, start } = createCustodyFakes({
    chain: solana.chain,
    signer,
    absr: mutate({
      reserveAddress: signer.address,
      mint: MINT,
      treasury: TREASURY,
      depth: DEPTH,
      nodes: solana.nodes.length,
      indexes: indexes.length,
      ...reservePorts,
      latestBlockhash: solana.latestBlockhash,
      readPrices,
      now,
    }),
    swap: {
      ...createSwapPorts(createBridge(swaps, now)),
      reserveAddress: signer.address,
      readPrices,
      latestBlockhash: solana.latestBlockhash,
      bitcoinViews: (txid) =>
        Promise.all(indexes.map((index) => index.tx(txid).catch((error: Error) => error))),
    },
    ...(p.proof && {
      proof: {
        service: SERVICE,
        bitcoinAddress: RESERVE_BTC,
        signer: createProofSigner({ solana: signer, bitcoinAddress: RESERVE_BTC, wif: p.proof.wif }),
        indexes: indexes.length,
        ...reservePorts,
      },
    }),
    assemble: assembleTransaction,
    now,
    log: ({ event }) => count(`log ${String(event)}`),
  });

  let storage = createSqliteStorage();
  let custody: Custodian = start(storage);
  function startOn(next: SqliteStorage): void {
    storage = next;
    custody = start(storage);
  }

  /** Replaces the instance: its memory is lost, and its storage refuses it. */
  function restart(): void {
    startOn(storage.successor());
    count('restart');
  }

  return {
    clock,
    bitcoin,
    indexes,
    signer,
    solana,
    get storage() {
      return storage;
    },
    mirror,
    swaps,
    restart,
    /** Deletes the storage and the instance. */
    loseStorage(): void {
      storage.replaced = true;
      startOn(createSqliteStorage());
    },
    custody: () => custody,

    /** One call. If its instance crashes, the next instance continues from the stored rows. */
    async call(work: (alive: Custodian) => Promise<unknown>, dies: boolean): Promise<void> {
      const running = work(custody);
      if (dies) {
        count('crash');
        for (let turns = Math.floor(random() * 40); turns > 0; turns--) await Promise.resolve();
        restart();
      }
      await running.catch(() => undefined);
    },
  };
}
