/**
 * An instruction with resolved keys, and the verdict of its program's own file.
 * @module
 */
import type { VaultSwap } from '../../bridges/lifi-chainflip.ts';
import type { PolicyReason } from './refusal.ts';

export type ResolvedKey = {
  readonly address: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
};

export type ResolvedInstruction = {
  readonly program: string;
  readonly accounts: readonly ResolvedKey[];
  readonly data: Uint8Array;
};

/** The effect of an instruction, as needed by the sums over the whole transaction. */
export type Effect =
  | { readonly kind: 'transfer'; readonly to: string; readonly lamports: bigint }
  | { readonly kind: 'budget'; readonly field: 'heap' | 'units' | 'price' | 'size'; readonly value: bigint }
  | { readonly kind: 'tracker' }
  | { readonly kind: 'vault_swap'; readonly swap: VaultSwap; readonly accounts: readonly string[] }
  /** Affects only our own temporary wrapped-SOL account. */
  | { readonly kind: 'wrapped' };

export type Judgement =
  | { readonly ok: false; readonly reason: PolicyReason }
  | {
      readonly ok: true;
      readonly effect: Effect;
      /** Indexes among its accounts where the reserve may occur. */
      readonly reserveAt: readonly number[];
      /** How often the reserve's key may occur in its data. */
      readonly reserveInData: number;
    };

export const denied = (reason: PolicyReason): Judgement => ({ ok: false, reason });

export const allowed = (effect: Effect, reserveAt: readonly number[] = [], reserveInData = 0): Judgement => ({
  ok: true,
  effect,
  reserveAt,
  reserveInData,
});
