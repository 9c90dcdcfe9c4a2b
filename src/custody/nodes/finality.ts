/**
 * Notices when Solana finalizes no slots: a halt of the chain, or nodes that follow another cluster.
 * @module
 */
import type { Consensus } from '../../providers/solana-rpc.ts';

export type Finality = {
  /** When the current finalized slot was first seen, in Unix milliseconds; null while slots advance. */
  readonly stalledSince: number | null;
  /** The consensus protocol that a quorum of nodes reports during a stall. */
  readonly consensus: Consensus;
};

/**
 * The newest slot that a quorum has finalized. The next instance must know it, so it is stored as JSON. `seenAt` is in
 * Unix milliseconds.
 */
export type FinalityMemory = Finality & { readonly slot: string; readonly seenAt: number };

/** Slot -1 means that no slot was seen yet. A chain begins with slot 0. */
export const NO_SLOT: FinalityMemory = { slot: '-1', seenAt: 0, stalledSince: null, consensus: 'unknown' };

/** A longer time without a new finalized slot is a stall. Alpenglow finalizes within a second; nodes lag by seconds. */
const STALLED_MS = 2 * 60_000;

/** Notes the newest slot that a quorum has finalized. */
export function noteSlot(memory: FinalityMemory, slot: string, now: number): FinalityMemory {
  // A lower slot comes from another cluster or from lagging nodes. The time without a new slot then starts at zero.
  const known = slot === memory.slot ? memory : { ...NO_SLOT, slot, seenAt: now };
  // The clock may have gone back since the note.
  const seenAt = Math.min(known.seenAt, now);
  return { ...known, seenAt, stalledSince: now - seenAt > STALLED_MS ? seenAt : null };
}
