/** The production custodian over the models: its ports, its restarts, and calls during which it crashes. */

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import type { SwapRoute } from '../../../src/bridges/route.ts';
import { signedTransaction } from '../../../src/chain/solana/transaction.ts';
import { sats } from '../../../src/core/amount.ts';
import { HOUR_MS } from '../../../src/core/limits.ts';
import { type Custody, type CustodyDeps, createCustodian } from '../../../src/custody/custodian.ts';
import type { Mirror, MirrorRow, Signer } from '../../../src/custody/kernel/ports.ts';
import { createProofSigner, createSigner } from '../../../src/custody/kernel/signer.ts';
import type { AbsrPorts } from '../../../src/custody/reserve/mint-operation.ts';
import { createReservePorts } from '../../../src/custody/reserve/reserve-views.ts';
import { historyOf } from '../../kit/history.ts';
import { LIMITS } from '../../kit/limits.ts';
import { createDisk } from './absr-disk.ts';
import { type BitcoinModel, RESERVE_BTC } from './bitcoin-model.ts';
import type { SolanaModel } from './solana-model.ts';

export const SERVICE = 'reserve.example';
export const SOL = 1_000_000_000n;
export const TREASURY = base58.encode(new Uint8Array(32).fill(11));
export const MINT = base58.encode(new Uint8Array(32).fill(12));
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
    async report({ depositAddress }) {
      const txid = swaps.get(depositAddress ?? '')?.txid;
      return txid ? { state: 'delivered', txids: [txid] } : { state: 'pending', detail: 'settling' };
    },
  };
}

/** D1 with only the parts that the outbox and the first check of an instance need. */
function createMirror() {
  const revisions = new Map<string, number>();
  const finishedSwaps = new Set<string>();
  let mark = 0;
  const proofs = new Map<string, Exclude<MirrorRow, { entity: 'operation' }>['columns']>();
  const mirror: Mirror & {
    down: boolean;
    readonly finishedSwaps: ReadonlySet<string>;
    readonly proofs: typeof proofs;
  } = {
    down: false,
    finishedSwaps,
    proofs,
    async apply(rows, next) {
      if (mirror.down) throw new Error('D1 is down');
      for (const row of rows) {
        revisions.set(row.id, row.revision);
        if (row.entity === 'proofs') proofs.set(row.id, row.columns);
        if (row.entity !== 'operation' || row.operation.kind !== 'swap') continue;
        if (row.operation.state === 'done') finishedSwaps.add(row.id);
      }
      const before = mark;
      mark = next;
      return before;
    },
    mark: async () => mark,
    journalsOf: async () => new Map(),
    async probe() {
      if (mirror.down) throw new Error('D1 is down');
    },
    async highestRevision() {
      if (mirror.down) throw new Error('D1 is down');
      return Math.max(0, ...revisions.values());
    },
    operationsAfter: async () => [],
    async recordsAfter(table, after, limit) {
      if (mirror.down) throw new Error('D1 is down');
      const rows = [...(table === 'proofs' ? proofs : [])].filter(([id]) => id > after).sort();
      return rows.slice(0, limit).map(([id, columns]) => ({ id, journal: String(columns.journal) }));
    },
  };
  return mirror;
}

export function createService(p: {
  readonly bitcoin: BitcoinModel;
  readonly indexes: readonly ReturnType<BitcoinModel['index']>[];
  readonly solana: SolanaModel;
  readonly signer: Signer;
  readonly now: () => number;
  readonly random: () => number;
  readonly mutate: (ports: AbsrPorts) => AbsrPorts;
  readonly count: (name: string) => void;
  /** If given, proofs are signed: with this Bitcoin key, or without one for a watch-only address. */
  readonly proof?: { readonly wif: string | undefined };
}) {
  const { indexes, solana, signer, now, random, count } = p;
  const swaps: OpenSwaps = new Map();
  const mirror = createMirror();
  const reservePorts = createReservePorts({
    indexes,
    nodes: solana.nodes,
    bitcoinAddress: RESERVE_BTC,
    solanaAddress: signer.address,
    absrMint: MINT,
  });
  const readPrices = async () => ['a', 'b'].map((source) => ({ source, ...MARKET }));
  let requests = 0;

  const deps: CustodyDeps = {
    chain: solana.chain,
    mirror,
    signer,
    absr: p.mutate({
      reserveAddress: signer.address,
      mint: MINT,
      treasury: TREASURY,
      depth: DEPTH,
      nodes: solana.nodes.length,
      ...reservePorts,
      latestBlockhash: solana.latestBlockhash,
      readPrices,
      now,
    }),
    swap: {
      reserveAddress: signer.address,
      bitcoinAddress: RESERVE_BTC,
      routes: [createBridge(swaps, now)],
      maxCostBps: 200,
      readPrices,
      latestBlockhash: solana.latestBlockhash,
      bitcoinViews: (txid) =>
        Promise.all(indexes.map((index) => index.tx(txid).catch((error: Error) => error))),
      history: historyOf(),
      transaction: async () => null,
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
    limits: LIMITS,
    swapsDisabled: false,
    maxCreatesPerClientHour: 6,
    assemble: (message, signature, cosignatures) => {
      const { wire, signature: text } = signedTransaction(message, [signature, ...cosignatures]);
      return { wire: base64.encode(wire), signature: text };
    },
    now,
    randomId: () => `request-${requests++}`,
    within: async (work) => work,
    log: ({ event }) => count(`log ${String(event)}`),
  };

  let disk = createDisk();
  let handle = disk.handle();
  let custody: Custody = createCustodian(handle, deps);

  /** Replaces the instance: its memory is lost, and its storage refuses it. */
  function restart(): void {
    handle.dead = true;
    handle = disk.handle();
    custody = createCustodian(handle, deps);
    count('restart');
  }

  return {
    get disk() {
      return disk;
    },
    mirror,
    swaps,
    restart,
    /** Deletes the storage and the instance. */
    loseStorage(): void {
      handle.dead = true;
      disk = createDisk();
      handle = disk.handle();
      custody = createCustodian(handle, deps);
    },
    custody: () => custody,

    /** One call. If its instance crashes, the next instance continues from the stored rows. */
    async call(work: (alive: Custody) => Promise<unknown>, dies: boolean): Promise<void> {
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
