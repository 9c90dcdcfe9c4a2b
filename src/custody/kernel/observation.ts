/**
 * What the executor observes about an operation. Besides the row and the time, it is the state machine's only input.
 * @module
 */
import type { Facts, Landing, Settlement, Signing } from './operation.ts';
import type { Reason } from './reason.ts';

/** One node's view of an attempt, in the order of the reads: heights, then status, then history. */
export type NodeView = {
  /** The node's `id`. */
  readonly node: string;
  /** Slot and height from one response of getEpochInfo at `finalized`. */
  readonly finalizedSlot: bigint;
  readonly finalizedHeight: bigint;
  /** From getSignatureStatuses with history search, called after getEpochInfo. */
  readonly statusSlot: bigint;
  readonly status: {
    readonly slot: bigint;
    readonly failed: boolean;
    readonly commitment: 'processed' | 'confirmed' | 'finalized';
    /**
     * Whether a finalized failure took lamports from the reserve. Null for any other status, or if this has not been
     * read yet.
     */
    readonly charged: boolean | null;
  } | null;
  /** From getFirstAvailableBlock, called last; null when it was not needed. */
  readonly firstAvailableSlot: bigint | null;
};

export type Observation =
  /** The kind declined before anything was signed. */
  | { readonly type: 'refused'; readonly reason: Reason; readonly outcome?: Facts }
  /** The chain already shows the outcome, so no signature is needed. */
  | { readonly type: 'found'; readonly outcome: Facts }
  /** The operation cannot be prepared now, for example because an upstream call failed. */
  | {
      readonly type: 'unprepared';
      readonly reason: Reason;
      /** Facts that are stored if the operation ends. */
      readonly outcome?: Facts;
      /** Number of operations of this kind that await preparation, including this one. */
      readonly waiting: number;
    }
  /** The signer failed or was late. A signature that arrives later is not stored and therefore never sent. */
  | { readonly type: 'unsigned'; readonly reason: Reason }
  | {
      readonly type: 'signed';
      readonly signing: Signing;
      readonly plan: Facts;
      readonly cost: bigint;
    }
  /** A key outside the service has not signed the attempt. */
  | { readonly type: 'incomplete'; readonly reason: Reason }
  | { readonly type: 'completed'; readonly wire: string }
  | { readonly type: 'sent'; readonly accepted: boolean }
  /** `landing` is present with a finalized success once the node returns the transaction itself. */
  | {
      readonly type: 'viewed';
      readonly views: readonly NodeView[];
      /** Number of nodes that must agree. */
      readonly quorum: number;
      readonly landing: Landing | null;
    }
  | { readonly type: 'settlement'; readonly settlement: Settlement }
  | { readonly type: 'unreachable' };

/** Nodes that cannot prove an attempt's expiry, because their history starts after the attempt was signed. */
export const prunedNodes = (signing: Signing, views: readonly NodeView[]): string[] =>
  views.flatMap(({ node, firstAvailableSlot }) => {
    const since = signing.witnesses.find((witness) => witness.node === node)?.slot;
    return since !== undefined && firstAvailableSlot !== null && firstAvailableSlot > since ? [node] : [];
  });

/**
 * Adds witnesses (nodes that have seen the blockhash) after the attempt was signed, because a node may have lagged or
 * been added later. The node's finalized slot must have reached the slots of all other witnesses, so it has seen the
 * blockhash. Its height is then at least the blockhash's own, so it can prove the expiry late, but never early.
 */
export function withLateWitnesses(signing: Signing, views: readonly NodeView[]): Signing {
  const known = signing.witnesses.map(({ slot }) => slot).reduce((a, b) => (a > b ? a : b), signing.slot);
  const late = views.filter(
    ({ node, finalizedSlot }) =>
      finalizedSlot >= known && !signing.witnesses.some((witness) => witness.node === node),
  );
  if (late.length === 0) return signing;
  const witnesses = late.map(({ node, finalizedHeight: height }) => ({ node, slot: signing.slot, height }));
  return { ...signing, witnesses: [...signing.witnesses, ...witnesses] };
}
