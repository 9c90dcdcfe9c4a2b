/** The production custodian over the models of both chains. */

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
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

/** The service at a time, with two indexes and two nodes. */
export function createService(p: {
  readonly at: number;
  readonly lamports: bigint;
  /** What becomes of each send. */
  readonly fate: () => SendFate;
  /** Replaces parts of the mint. */
  readonly mutate?: (ports: AbsrPorts) => AbsrPorts;
  readonly count?: (name: string) => void;
  /** If given, proofs are signed: with this Bitcoin key, or without one for a watch-only address. */
  readonly proof?: { readonly wif: string | undefined };
}) {
  const { count = () => undefined, mutate = (ports) => ports } = p;
  const clock = { now: p.at };
  const now = (): number => clock.now;
  const bitcoin = createBitcoinModel();
  const indexes = [bitcoin.index('one'), bitcoin.index('two')] as const;
  const signer = reserveSigner();
  const solana = createSolanaModel({
    reserve: signer.address,
    decimals: DECIMALS,
    lamports: p.lamports,
    now,
    fate: p.fate,
  });
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
    }),
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
    restart,
    /** Deletes the storage and the instance. */
    loseStorage(): void {
      storage.replaced = true;
      startOn(createSqliteStorage());
    },
    custody: () => custody,
  };
}
