/**
 * Notices when Solana finalizes no slots. From its boundary slot until it is complete, the migration to Alpenglow
 * finalizes nothing and its blocks contain votes only (SIMD-0384). A halt of the chain looks the same.
 * @module
 */

/** What `getAgGenesisCert` tells: no certificate before the migration, one after it, `unknown` from older nodes. */
export type Consensus = 'towerbft' | 'alpenglow' | 'unknown';

export type Finality = {
  /** When the newest finalized slot was first seen, Unix milliseconds; null while slots follow. */
  readonly stalledSince: number | null;
  /** As a quorum of nodes tells it, while it is stalled. */
  readonly consensus: Consensus;
};

/** Solana finalizes a slot in at most 13 s; nodes lag by seconds. */
const STALLED_MS = 2 * 60_000;

/** What the next instance must know; JSON. */
export type FinalityMemory = Finality & { readonly slot: string; readonly seenAt: number };

export class FinalityWatch {
  #memory: FinalityMemory = { slot: '0', seenAt: 0, stalledSince: null, consensus: 'unknown' };

  /** The newest slot that a quorum has finalized. */
  get slot(): bigint {
    return BigInt(this.#memory.slot);
  }

  current(): Finality {
    const { stalledSince, consensus } = this.#memory;
    return { stalledSince, consensus };
  }

  /** A quorum has finalized a slot. */
  advanced(slot: bigint, now: number): void {
    if (slot > this.slot)
      this.#memory = { slot: String(slot), seenAt: now, stalledSince: null, consensus: 'unknown' };
  }

  /** A quorum has finalized nothing newer. @returns whether that lasts too long */
  stands(now: number): boolean {
    // The clock may have gone back since.
    const seenAt = Math.min(this.#memory.seenAt, now);
    const isStalled = now - seenAt > STALLED_MS;
    this.#memory = { ...this.#memory, seenAt, stalledSince: isStalled ? seenAt : null };
    return isStalled;
  }

  runs(consensus: Consensus): void {
    this.#memory = { ...this.#memory, consensus };
  }

  memory(): FinalityMemory {
    return this.#memory;
  }

  recall(memory: FinalityMemory | undefined): void {
    if (memory) this.#memory = memory;
  }
}
