/**
 * A kind as token creations, payouts and mints are: signed again when an attempt is dead or was rejected, prepared
 * again when an upstream fails, done once it has landed.
 * @module
 */
import type { KindDriver } from '../../src/custody/kernel/kind.ts';
import type { Blockhash } from '../../src/custody/kernel/solana-view.ts';
import { payoutMessage } from './message-reader.ts';

export const PAYOUT_ATTEMPTS = 4;

export function createPayoutKind(p: { latestBlockhash: () => Promise<Blockhash> }): KindDriver {
  return {
    rules: { maxAttempts: PAYOUT_ATTEMPTS, retriesPreparation: true, settles: false },

    async prepare(operation) {
      const { blockhash, slot, witnesses } = await p.latestBlockhash();
      const to = String(operation.plan.to);
      const message = payoutMessage({ id: operation.id, to, lamports: operation.amount, blockhash });
      return { ok: true, message, signedAt: { slot, witnesses }, plan: {}, cost: 0n, claims: [] };
    },

    async settle() {
      throw new Error('a payout awaits nothing');
    },
  };
}
