/**
 * Notices when Solana finalizes no slots: a halt of the chain, or nodes that follow another cluster.
 * @module
 */
import type { Consensus, SolanaNode } from '../../providers/solana-rpc.ts';
import type { Within } from '../kernel/ports.ts';
import { type Quorum, quorumMissing, settled, valuesOf } from './quorum.ts';

export type Finality = {
  /** When the current finalized slot was first seen, in Unix milliseconds; null while slots advance. */
  readonly stalledSince: number | null;
  /** The consensus protocol that a quorum of nodes reports during a stall. */
  readonly consensus: Consensus;
};

/** The newest finalized slot of a quorum, stored for the next instance. `seenAt`: Unix milliseconds. */
export type FinalityMemory = Finality & { readonly slot: string; readonly seenAt: number };

/** Slot -1 means that no slot was seen yet. A chain begins with slot 0. */
export const NO_SLOT: FinalityMemory = { slot: '-1', seenAt: 0, stalledSince: null, consensus: 'unknown' };

/** A longer time without a new finalized slot is a stall. Alpenglow finalizes within a second; nodes lag by seconds. */
const STALLED_MS = 2 * 60_000;

/** The cron reads the finalized slot each minute. One that was first seen longer ago than this bounds no other slots. */
export const FINALITY_KNOWN_MS = 10 * 60_000;
/** Slots by which a working node may lag behind another: more than an hour. */
export const MAX_NODE_LAG = 10_000n;

export function noteSlot(memory: FinalityMemory, slot: string, now: number): FinalityMemory {
  // A lower slot comes from another cluster or from lagging nodes. The time without a new slot then starts at zero.
  const known = slot === memory.slot ? memory : { ...NO_SLOT, slot, seenAt: now };
  // The clock may have gone back since the note.
  const seenAt = Math.min(known.seenAt, now);
  return { ...known, seenAt, stalledSince: now - seenAt > STALLED_MS ? seenAt : null };
}

type FinalityPorts = {
  readonly nodes: readonly SolanaNode[];
  readonly now: () => number;
  readonly within: Within;
};

export class FinalityWatch {
  known = NO_SLOT;
  readonly #ports: FinalityPorts;
  readonly #questions: Quorum<SolanaNode>;

  constructor(ports: FinalityPorts, questions: Quorum<SolanaNode>) {
    this.#ports = ports;
    this.#questions = questions;
  }

  /**
   * Asks each node for its newest finalized slot. The cron does so each minute, so that a missing quorum or a stalled
   * chain is noticed even without operations.
   * @returns the newest slot that a quorum has finalized
   * @throws AppError UPSTREAM_FAILED
   */
  async check(): Promise<bigint> {
    const slot = await this.#covered(
      'finalized slot',
      async (node) => (await node.epochInfo('finalized')).slot,
    );
    this.known = noteSlot(this.known, String(slot), this.#ports.now());
    if (this.known.stalledSince !== null) {
      const consensus = await this.#consensus();
      this.known = { ...this.known, consensus };
    }
    return slot;
  }

  /** The block height that a quorum has reached. @throws AppError UPSTREAM_FAILED */
  height(commitment: 'confirmed' | 'finalized'): Promise<bigint> {
    return this.#covered(
      `${commitment} height`,
      async (node) => (await node.epochInfo(commitment)).blockHeight,
    );
  }

  async #covered(question: string, read: (node: SolanaNode) => Promise<bigint>): Promise<bigint> {
    const answer = await this.#questions.ask(question, read, (given, isComplete) => {
      const values = given.map(({ value }) => value);
      const covered = this.#questions.covered(values, isComplete);
      return covered === undefined ? undefined : { agreed: covered };
    });
    if (!answer) throw quorumMissing();
    return answer.agreed;
  }

  async #consensus(): Promise<Consensus> {
    const { nodes, within } = this.#ports;
    const asked = nodes.map((node) => node.consensus());
    const given = valuesOf(await settled(asked, this.#questions.size, within));
    const agreed = (['towerbft', 'alpenglow'] as const).find(
      (consensus) => given.filter((each) => each === consensus).length >= this.#questions.size,
    );
    return agreed ?? 'unknown';
  }
}
