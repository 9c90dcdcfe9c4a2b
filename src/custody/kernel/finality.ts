/**
 * Notices when Solana finalizes no slots. From its boundary slot until it is complete, the migration to Alpenglow
 * finalizes nothing and its blocks contain votes only (SIMD-0384). A halt of the chain looks the same.
 * @module
 */
import type { Consensus } from '../../providers/solana-rpc.ts';

export type Finality = {
  /** When the current finalized slot was first seen, in Unix milliseconds; null while slots advance. */
  readonly stalledSince: number | null;
  /** The consensus protocol that a quorum of nodes reports during a stall. */
  readonly consensus: Consensus;
};

/** What the next instance must know, stored as JSON. `seenAt` is in Unix milliseconds. */
export type FinalityMemory = Finality & { readonly slot: string; readonly seenAt: number };

/** A longer time without a new finalized slot is a stall. Solana finalizes within 13 s; nodes lag by seconds. */
const STALLED_MS = 2 * 60_000;

export class FinalityWatch {
  /** Slot -1: none was seen yet. A chain begins with slot 0. */
  #memory: FinalityMemory = { slot: '-1', seenAt: 0, stalledSince: null, consensus: 'unknown' };

  /** The newest slot that a quorum has finalized. */
  get slot(): bigint {
    return BigInt(this.#memory.slot);
  }

  current(): Finality {
    const { stalledSince, consensus } = this.#memory;
    return { stalledSince, consensus };
  }

  /** Notes the newest slot that a quorum has finalized. @returns whether it has stayed the same for too long */
  note(slot: bigint, now: number): boolean {
    // A lower slot comes from another cluster or from nodes that lag. The time without a new slot then starts at zero.
    const known =
      slot === this.slot ? this.#memory : { slot: String(slot), seenAt: now, consensus: 'unknown' as const };
    // The clock may have gone back since.
    const seenAt = Math.min(known.seenAt, now);
    const isStalled = now - seenAt > STALLED_MS;
    this.#memory = { ...known, seenAt, stalledSince: isStalled ? seenAt : null };
    return isStalled;
  }

  noteConsensus(consensus: Consensus): void {
    this.#memory = { ...this.#memory, consensus };
  }

  memory(): FinalityMemory {
    return this.#memory;
  }

  recall(memory: FinalityMemory | undefined): void {
    if (memory) this.#memory = memory;
  }
}
