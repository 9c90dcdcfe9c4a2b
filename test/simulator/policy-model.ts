/**
 * A model of the policy for third parties' transactions: it takes time, fails, refuses, and accepts
 * transactions with varying fees. The policy's checks have their own tests.
 * @module
 */
import { transferMessage } from '../../src/chain/solana/transaction.ts';
import { sats } from '../../src/core/amount.ts';
import type { Blockhash } from '../../src/custody/kernel/solana-view.ts';
import type { CheckThirdParty } from '../../src/custody/swap/third-party-payment.ts';
import type { Random } from './random.ts';

/** Lamports for signature and priority, at most. */
export const MAX_THIRD_PARTY_FEE = 505_000n;
const UNITS = 900n;
/** SetComputeUnitPrice of our own transfer: opcode 3 and 1,000,000 micro-lamports. */
const OWN_PRICE = Buffer.from([3, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0]);

export function createPolicyModel(p: {
  random: Random;
  reserveAddress: string;
  latestBlockhash: () => Promise<Blockhash>;
  crossed: <T>(work: () => Promise<T>) => Promise<T>;
  refusing: () => number;
}): CheckThirdParty {
  const { random } = p;
  return (offer, { amount, floorSats }) =>
    p.crossed(async () => {
      if (random.chance(p.refusing()))
        return { ok: false, reason: random.pick(['payment_count', 'table_unread']) };
      const to = offer.quote.id;
      const lifetime = await p.latestBlockhash();
      const message = Buffer.from(transferMessage({ from: p.reserveAddress, to, amount, lifetime }));
      const most = Number(((MAX_THIRD_PARTY_FEE - 5_000n) * 1_000_000n) / UNITS);
      const price = BigInt(random.between(0, most));
      message.writeBigUInt64LE(price, message.indexOf(OWN_PRICE) + 1);
      const spend = amount + 5_000n + (UNITS * price) / 1_000_000n;
      const { slot, witnesses } = lifetime;
      return {
        ok: true,
        message,
        signedAt: { slot, witnesses },
        minimumSats: sats(floorSats),
        spend,
        claims: [`lifi:${to}`, `deposit:${to}`],
        plan: { tool: 'near', depositAddress: to, quoteId: to, messageHash: null, vaultSwap: null },
      };
    });
}
