/**
 * The true state of the Solana chain: slots, block heights, forks, landings and their rollbacks. Nodes see it
 * through `node-model.ts`, each with its own delay.
 * @module
 */
import { base58 } from '@scure/base';
import type { Random } from '../simulator/random.ts';
import type { Scheduler } from '../simulator/scheduler.ts';
import { type Movement, readMessage, readWire } from './message-reader.ts';

/** Blocks that a blockhash lives for, and slots after which a block is final. */
const BLOCKHASH_LIFE = 150;
export const FINALITY = 32;
/** The tip when a run begins: far enough from zero for any lag. */
const FIRST_SLOT = 100_000;
/** One of this number of slots has no block. */
const SKIPPED = 16;

/** Slots `from` to `to` lost their blocks when the tip was at `at`. */
type Gap = { readonly from: number; readonly to: number; readonly at: number };

export type ChainEntry = {
  readonly signature: string;
  readonly slot: number;
  readonly failed: boolean;
  readonly movement: Movement | null;
  /** Change of the reserve in lamports. */
  readonly delta: bigint;
  /** The tip at which a fork removed it; infinite while it is on the chain. */
  droppedAt: number;
};

export type SendFates = {
  /** Sends that no leader ever sees. */
  readonly dropped: number;
  /** Sends that wait up to the last block that may hold them. */
  readonly late: number;
  /** Landings that fail on chain. */
  readonly failing: number;
  /** Landings after which a fork takes the last slots back. */
  readonly forked: number;
  /** Transactions that only the losing side of a later fork does not have. */
  readonly hidden: number;
  /** Transactions of such slots that land again without a resend. */
  readonly returning: number;
};

export type ChainModel = ReturnType<typeof createChainModel>;

export function createChainModel(p: {
  scheduler: Scheduler;
  random: Random;
  slotMs: number;
  startLamports: bigint;
  fates: () => SendFates;
  /** Called for each landing and, at a fork, for each landing that it undoes. */
  onLanding: (entry: ChainEntry) => void;
  onDropped: (entry: ChainEntry) => void;
  onFinal: (entry: ChainEntry) => void;
  /** The reserve has less than the signed amount. */
  onUncovered: (signature: string, balance: bigint) => void;
}) {
  const { scheduler, random, slotMs } = p;
  const entries: ChainEntry[] = [];
  const gaps: Gap[] = [];
  const known = new Map<string, Movement>();
  /** Signatures that no block of this branch holds. */
  const elsewhere = new Set<string>();

  const tip = (): number => FIRST_SLOT + Math.floor(scheduler.now() / slotMs);
  const timeOf = (slot: number): number => (slot - FIRST_SLOT) * slotMs;
  const regular = (slot: number): number => slot - Math.floor(slot / SKIPPED);

  const isSkipped = (slot: number, seenFrom: number): boolean =>
    slot % SKIPPED === 0 || gaps.some((gap) => gap.at <= seenFrom && gap.from <= slot && slot <= gap.to);

  /** Blocks up to a slot, as seen by a node with the tip `seenFrom`. */
  function height(slot: number, seenFrom: number): number {
    let blocks = regular(slot);
    for (const gap of gaps) {
      if (gap.at > seenFrom || gap.from > slot) continue;
      blocks -= regular(Math.min(gap.to, slot)) - regular(gap.from - 1);
    }
    return blocks;
  }

  /** The newest slot with a block, not after `slot`. */
  function blockAt(slot: number, seenFrom: number): number {
    let at = slot;
    while (isSkipped(at, seenFrom)) at--;
    return at;
  }

  const standing = (signature: string): ChainEntry | undefined =>
    entries.find((entry) => entry.signature === signature && entry.droppedAt === Number.POSITIVE_INFINITY);

  const balance = (upToSlot: number): bigint =>
    entries.reduce(
      (sum, entry) =>
        entry.slot <= upToSlot && entry.droppedAt === Number.POSITIVE_INFINITY ? sum + entry.delta : sum,
      p.startLamports,
    );

  function append(entry: ChainEntry): void {
    entries.push(entry);
    p.onLanding(entry);
    scheduler.at(timeOf(entry.slot + FINALITY + 1), () => {
      if (entry.droppedAt === Number.POSITIVE_INFINITY) p.onFinal(entry);
    });
    if (random.chance(p.fates().forked)) {
      scheduler.after(random.between(1, FINALITY - 2) * slotMs, () => fork(random.between(1, FINALITY - 1)));
    }
  }

  /** Puts a transaction into the block of this slot, if a block may still hold it. */
  function tryLand(signature: string): void {
    const movement = known.get(signature);
    const slot = tip();
    if (!movement || standing(signature)) return;
    const born = slotOfBlockhash(movement.blockhash);
    if (isSkipped(born, slot) || born >= slot) return;
    if (height(slot, slot) > height(born, slot) + BLOCKHASH_LIFE) return;
    if (isSkipped(slot, slot)) return void scheduler.at(timeOf(slot + 1), () => tryLand(signature));
    const free = balance(slot);
    if (free < movement.fee + movement.lamports) p.onUncovered(signature, free);
    if (free < movement.fee) return;
    const failed = free < movement.fee + movement.lamports || random.chance(p.fates().failing);
    const delta = -(failed ? movement.fee : movement.fee + movement.lamports);
    append({ signature, slot, failed, movement, delta, droppedAt: Number.POSITIVE_INFINITY });
  }

  /** The last slot whose height still allows it, as seen from the tip: heights grow by at most one a slot. */
  function lastSlot(movement: Movement): number {
    const left = height(slotOfBlockhash(movement.blockhash), tip()) + BLOCKHASH_LIFE - height(tip(), tip());
    return tip() + Math.ceil((Math.max(left, 0) * SKIPPED) / (SKIPPED - 1));
  }

  /** A leader has received it; the time of its landing is random. */
  function queue(signature: string): void {
    const movement = known.get(signature);
    if (!movement || elsewhere.has(signature)) return;
    const { dropped, late } = p.fates();
    if (random.chance(dropped)) return;
    const quick = tip() + random.between(1, 4);
    const last = lastSlot(movement);
    const isLate = random.chance(late) && last > quick;
    scheduler.at(timeOf(isLate ? lateSlot(random, quick, last) : quick), () => tryLand(signature));
  }

  /** Only the other branch of a coming fork has it, and that branch wins after it seemed to have expired. */
  function hide(signature: string, movement: Movement): void {
    elsewhere.add(signature);
    const overdue = random.between(1, FINALITY - 8);
    scheduler.at(timeOf(lastSlot(movement) + overdue), () => fork(overdue + random.between(2, 6)));
  }

  /** A third party pays the reserve, and resends until the payment is on the chain. */
  function credit(signature: string, lamports: bigint): void {
    scheduler.at(timeOf(tip() + 1), () => {
      const slot = tip();
      if (isSkipped(slot, slot)) return credit(signature, lamports);
      const droppedAt = Number.POSITIVE_INFINITY;
      append({ signature, slot, failed: false, movement: null, delta: lamports, droppedAt });
    });
  }

  /** The last `depth` slots lose their blocks. */
  function fork(depth: number): void {
    const at = tip();
    const from = Math.max(at - depth + 1, (gaps[gaps.length - 1]?.to ?? 0) + 1);
    if (from > at) return;
    gaps.push({ from, to: at, at });
    for (const entry of entries) {
      if (entry.slot < from || entry.droppedAt !== Number.POSITIVE_INFINITY) continue;
      entry.droppedAt = at;
      p.onDropped(entry);
      if (!entry.movement) credit(entry.signature, entry.delta);
    }
    // Transactions that leaders still hold, and those of abandoned blocks, may land in a block of the other
    // branch.
    for (const signature of known.keys()) {
      if (standing(signature) || !(elsewhere.delete(signature) || random.chance(p.fates().returning)))
        continue;
      scheduler.at(timeOf(at + random.between(1, 6)), () => tryLand(signature));
    }
  }

  return {
    tip,
    timeOf,
    height,
    blockAt,
    balance,
    fork,
    entries: entries as readonly ChainEntry[],

    /** Whether a block's hash is known and not yet expired, as seen from a slot. */
    isBlockhashValid(blockhash: string, seenFrom: number): boolean {
      const born = slotOfBlockhash(blockhash);
      if (born > seenFrom || isSkipped(born, seenFrom)) return false;
      return height(seenFrom, seenFrom) <= height(born, seenFrom) + BLOCKHASH_LIFE;
    },

    submit(wire: string): string {
      const { signature, message } = readWire(wire);
      if (!known.has(signature)) {
        const movement = readMessage(message);
        known.set(signature, movement);
        if (random.chance(p.fates().hidden)) hide(signature, movement);
      }
      queue(signature);
      return signature;
    },

    credit,
  };
}

/** Half of the late ones come in the very last blocks. */
const lateSlot = (random: Random, quick: number, last: number): number =>
  random.chance(0.5) ? random.between(Math.max(quick, last - 4), last) : random.between(quick, last);

/** The hash of a slot's block: 32 bytes that carry the slot. */
export function blockhashOf(slot: number): string {
  const bytes = Buffer.alloc(32, 9);
  bytes.writeUInt32BE(slot, 28);
  return base58.encode(bytes);
}

function slotOfBlockhash(text: string): number {
  return Buffer.from(base58.decode(text)).readUInt32BE(28);
}
