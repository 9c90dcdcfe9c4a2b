/**
 * A node of the chain. It lags, follows an abandoned fork for a while, fails or prunes its history. It may
 * also be several machines behind one address, whose responses differ in age.
 * @module
 */

import { lamports } from '../../src/core/amount.ts';
import type { ChainTransaction, SignatureEntry } from '../../src/providers/solana-rpc.ts';
import type { Production } from '../simulator/production.ts';
import type { Random } from '../simulator/random.ts';
import { blockhashOf, type ChainEntry, type ChainModel, FINALITY } from './chain-model.ts';

export type NodeFaults = {
  /** Chance that a call to a working node starts an outage. */
  readonly failing: number;
  /** Chance of a new lag at a call. */
  readonly shifting: number;
  readonly lags: readonly number[];
  /** Each answer may come from another machine. */
  readonly balanced: boolean;
  /** Sends that are accepted although the response is an error. */
  readonly lostAnswers: number;
};

const RESERVE_OTHERS = 1_000_000_000_000n;
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;

export type NodeModel = ReturnType<typeof createNodeModel>;

export function createNodeModel(p: {
  name: string;
  chain: ChainModel;
  random: Random;
  production: Production;
  reserveAddress: string;
  blockTime: (slot: number) => number;
  /** Slots that it keeps; infinite when it keeps all. */
  retention: number;
  faults: () => NodeFaults;
}) {
  const { name, chain, random } = p;
  let lag = 0;
  let isDown = false;

  /** The newest slot of this response. @throws when the node is down */
  function view(): number {
    const { failing, shifting, lags, balanced } = p.faults();
    isDown = isDown ? failing > 0 && !random.chance(0.3) : random.chance(failing);
    if (isDown)
      throw p.production.upstreamFailed(name, random.pick(['timeout', 'unreachable', 'status_502']));
    if (balanced || random.chance(shifting)) lag = random.pick(lags);
    return chain.tip() - lag;
  }

  const finalized = (seen: number): number => chain.blockAt(seen - FINALITY, seen);

  const firstAvailable = (): number => Math.max(chain.tip() - p.retention, 0);

  /** This node's view of the chain. */
  const isSeen = (entry: ChainEntry, seen: number): boolean =>
    entry.slot <= seen && entry.droppedAt > seen && entry.slot >= firstAvailable();

  function latest(signature: string, seen: number): ChainEntry | undefined {
    return chain.entries.findLast((entry) => entry.signature === signature && isSeen(entry, seen));
  }

  return {
    name,

    async epochInfo(commitment: string) {
      const seen = view();
      const slot = commitment === 'finalized' ? finalized(seen) : chain.blockAt(seen, seen);
      return { slot: BigInt(slot), blockHeight: BigInt(chain.height(slot, seen)) };
    },

    /** `wholeHistory` false: only the recent cache is searched, which covers about 150 blocks. */
    async signatureStatus(signature: string, wholeHistory: boolean) {
      const seen = view();
      const entry = latest(signature, seen);
      const slot = BigInt(seen);
      if (!entry || (!wholeHistory && entry.slot < seen - 150)) return { slot, status: null };
      const depth = seen - entry.slot;
      const commitment = depth >= FINALITY ? 'finalized' : depth >= 2 ? 'confirmed' : 'processed';
      const err = entry.failed ? { InstructionError: [2, 'Custom'] } : null;
      return { slot, status: { slot: BigInt(entry.slot), err, commitment } as const };
    },

    async firstAvailableBlock() {
      view();
      return BigInt(firstAvailable());
    },

    async latestBlockhash() {
      const seen = view();
      const slot = chain.blockAt(seen - 1, seen);
      return { blockhash: blockhashOf(slot), slot: BigInt(slot) };
    },

    async isBlockhashValid(blockhash: string) {
      const seen = view();
      return { valid: chain.isBlockhashValid(blockhash, seen), slot: BigInt(chain.blockAt(seen, seen)) };
    },

    async balance(minContextSlot: bigint | undefined) {
      const slot = finalized(view());
      if (minContextSlot !== undefined && minContextSlot > BigInt(slot)) {
        throw new p.production.RpcRefusal(
          MIN_CONTEXT_SLOT_NOT_REACHED,
          'Minimum context slot has not been reached',
          { contextSlot: slot },
        );
      }
      return { lamports: lamports(chain.balance(slot)), slot: BigInt(slot) };
    },

    async send(wire: string) {
      const { lostAnswers } = p.faults();
      const isLost = random.chance(lostAnswers);
      try {
        view();
      } catch (error) {
        if (isLost) chain.submit(wire);
        throw error;
      }
      const signature = chain.submit(wire);
      if (isLost) throw p.production.upstreamFailed(name, 'timeout');
      return signature;
    },

    async transaction(signature: string): Promise<ChainTransaction | null> {
      const seen = view();
      const entry = latest(signature, seen);
      if (!entry || entry.slot > finalized(seen)) return null;
      const blockTime = p.blockTime(entry.slot);
      return chainTransaction(entry, p.reserveAddress, blockTime);
    },

    async signaturesFor(page: { limit: number; before?: string; until?: string }): Promise<SignatureEntry[]> {
      const seen = view();
      const final = finalized(seen);
      let list = chain.entries
        .filter((entry) => isSeen(entry, seen) && entry.slot <= final)
        .toSorted((a, b) => b.slot - a.slot);
      const before = list.findIndex((entry) => entry.signature === page.before);
      if (before >= 0) list = list.slice(before + 1);
      const until = list.findIndex((entry) => entry.signature === page.until);
      if (until >= 0) list = list.slice(0, until);
      return list.slice(0, page.limit).map((entry) => ({
        signature: entry.signature,
        slot: BigInt(entry.slot),
        err: entry.failed ? 'InstructionError' : null,
        blockTime: p.blockTime(entry.slot),
      }));
    },
  };
}

/** Fee payer first: the reserve for a payment that it signs, a third party for one that it receives. */
function chainTransaction(entry: ChainEntry, reserve: string, blockTime: number): ChainTransaction {
  const { signature, failed, movement, delta } = entry;
  const other = movement?.to ?? 'Somebody1111111111111111111111111111111111';
  const fee = movement?.fee ?? 5_000n;
  const gain = movement ? (failed ? 0n : movement.lamports) : -delta - fee;
  const pair: [string, bigint][] = [
    [reserve, delta],
    [other, gain],
  ];
  if (!movement) pair.reverse();
  return {
    signature,
    slot: BigInt(entry.slot),
    blockTime,
    failed,
    fee,
    accounts: pair.map(([account]) => account),
    signers: pair.slice(0, 1).map(([account]) => account),
    preLamports: pair.map(() => RESERVE_OTHERS),
    postLamports: pair.map(([, change]) => RESERVE_OTHERS + change),
    preTokens: null,
    postTokens: null,
  };
}
