/**
 * Detects when Solana stops finalizing slots: the chain has halted, or the nodes follow another cluster.
 * @module
 */
import { EXPIRY_BLOCKS } from '../../chain/solana/transaction.ts';
import { closeTogether } from '../../core/close-together.ts';
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

type FinalizedSlot = { readonly slot: bigint; readonly floor: bigint };

/** Slot -1 means that no slot has been read yet. Slot 0 is the first slot of a chain. */
export const NO_SLOT: FinalityMemory = { slot: '-1', seenAt: 0, stalledSince: null, consensus: 'unknown' };

/**
 * If no new slot is finalized for this long, the chain has stalled. Alpenglow finalizes within a second; nodes lag by
 * seconds.
 */
const STALLED_MS = 2 * 60_000;

/**
 * A finalized slot first seen longer ago than this is too old to check other slots against. The cron reads the
 * finalized slot every minute.
 */
export const FINALITY_KNOWN_MS = 10 * 60_000;
/** Maximum slots by which a working node may lag behind another: more than an hour. */
export const MAX_NODE_LAG = 10_000n;

export function noteSlot(memory: FinalityMemory, slot: string, now: number): FinalityMemory {
  // A lower slot comes from another cluster or from lagging nodes. The time without a new slot is then counted from
  // zero.
  const known = slot === memory.slot ? memory : { ...NO_SLOT, slot, seenAt: now };
  // The clock may have been set back since `memory` was stored.
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
   * Reads the newest finalized slot of each node. The cron does this every minute, so that a missing quorum or a
   * stalled chain is detected even without operations.
   * @returns the highest slot that a quorum has finalized, and a floor: at least the slot of each honest node that has
   * responded. One lying node can raise the floor by at most `MAX_NODE_LAG`.
   * @throws AppError UPSTREAM_FAILED
   */
  async check(): Promise<FinalizedSlot> {
    const read = async (node: SolanaNode) => (await node.epochInfo('finalized')).slot;
    const { covered, highest } = await this.#agreed('finalized slot', read, MAX_NODE_LAG);
    this.known = noteSlot(this.known, String(covered), this.#ports.now());
    if (this.known.stalledSince !== null) {
      const consensus = await this.#consensus();
      this.known = { ...this.known, consensus };
    }
    return { slot: covered, floor: highest };
  }

  /**
   * `confirmed`: at least the height of each honest node that has responded, so at least the height at which any
   * transaction was signed so far. `finalized`: at most the height of any of these nodes, which proves that this height
   * has passed.
   * @throws AppError UPSTREAM_FAILED
   */
  async height(commitment: 'confirmed' | 'finalized'): Promise<bigint> {
    const read = async (node: SolanaNode) => (await node.epochInfo(commitment)).blockHeight;
    const { lowest, highest } = await this.#agreed(`${commitment} height`, read, EXPIRY_BLOCKS);
    return commitment === 'confirmed' ? highest : lowest;
  }

  /**
   * The figures of a quorum whose nodes differ by at most `spread`; `covered` is the highest figure that a quorum has
   * reached.
   */
  async #agreed(question: string, read: (node: SolanaNode) => Promise<bigint>, spread: bigint) {
    const answer = await this.#questions.ask(question, read, (given, isComplete) => {
      const values = given.map(({ value }) => value);
      const close = closeTogether(values, (value) => value, spread);
      const covered = this.#questions.covered(close, isComplete);
      if (covered === undefined) return undefined;
      const lowest = close.reduce((least, value) => (value < least ? value : least), covered);
      const highest = close.reduce((most, value) => (value > most ? value : most), covered);
      return { agreed: { covered, lowest, highest } };
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
