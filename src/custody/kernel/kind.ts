/**
 * What a kind of operation brings to the custodian: how it is prepared, what it awaits after it has landed.
 * @module
 */
import type { Facts, Landing, Operation, SignedAt } from './operation.ts';
import type { KindRules, Settlement } from './state-machine.ts';

export type Prepared =
  | {
      readonly ok: true;
      /** The transaction message that the reserve signs as its fee payer. */
      readonly message: Uint8Array;
      /** Signatures of the message's other signers, in their order after the fee payer. */
      readonly cosignatures?: readonly Uint8Array[];
      /** Of the message's blockhash. */
      readonly signedAt: SignedAt;
      readonly plan: Facts;
      /** Lamports at most lost against a fair price. */
      readonly cost: bigint;
      /** Lamports that may leave the reserve; what was reserved when it does not say. */
      readonly spend?: bigint;
      /** Names that no other operation may have used: a deposit address, a payment. */
      readonly claims: readonly string[];
    }
  | { readonly ok: false; readonly reason: string; readonly outcome?: Facts }
  /** The chain shows the outcome already. */
  | { readonly ok: false; readonly found: Facts };

export type Settled = {
  readonly settlement: Settlement;
  /** What it takes for itself: a Bitcoin output, a refund's signature. */
  readonly claims: readonly string[];
};

export type KindDriver = {
  readonly rules: KindRules;
  /** Upstream answers, checked. Nothing is signed here. @throws AppError UPSTREAM_FAILED */
  prepare(operation: Operation): Promise<Prepared>;
  /** @param isTaken whether another operation has taken this name already */
  settle(operation: Operation, isTaken: (name: string) => boolean): Promise<Settled>;
  /** Why a landing is not the one that was foreseen, and signing must stop until somebody has looked. */
  unforeseen?(operation: Operation, landing: Landing): string | undefined;
};

/** A message that is ready to be signed, costs nothing against a fair price and takes no name for itself. */
export const plainlyPrepared = (
  message: Uint8Array,
  { slot, witnesses }: SignedAt,
): Extract<Prepared, { ok: true }> => ({
  ok: true,
  message,
  signedAt: { slot, witnesses },
  plan: {},
  cost: 0n,
  claims: [],
});

/** Of a kind that is done once it has landed. */
export const settlesByLanding: KindDriver['settle'] = async () => ({
  settlement: { state: 'complete', outcome: {} },
  claims: [],
});
