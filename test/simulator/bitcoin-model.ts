/**
 * The Bitcoin chain as its two indexes tell it: late, failing, or not knowing a transaction yet.
 * @module
 */
import { sats } from '../../src/core/amount.ts';
import type { BitcoinTx } from '../../src/providers/esplora.ts';
import type { Production } from './production.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

type Payment = {
  readonly txid: string;
  readonly outputs: readonly { readonly address: string; readonly value: bigint }[];
  readonly seenAt: number;
  readonly confirmedAt: number;
};

export type BitcoinFaults = { readonly failing: number; readonly lagMs: number };

export type BitcoinModel = ReturnType<typeof createBitcoinModel>;

const INDEXES = 2;

export function createBitcoinModel(p: {
  scheduler: Scheduler;
  random: Random;
  production: Production;
  faults: () => BitcoinFaults;
}) {
  const { scheduler, random } = p;
  const payments = new Map<string, Payment>();

  function view(txid: string, index: number): BitcoinTx | null | Error {
    const { failing, lagMs } = p.faults();
    if (random.chance(failing)) return p.production.upstreamFailed(`esplora-${index + 1}`, 'unreachable');
    const payment = payments.get(txid);
    const known = scheduler.now() - (index === 0 ? 0 : lagMs);
    if (!payment || payment.seenAt > known) return null;
    return {
      txid,
      inputs: [],
      outputs: payment.outputs.map(({ address, value }) => ({ address, value: sats(value) })),
      block:
        payment.confirmedAt <= known
          ? { height: 800_000, time: Math.floor((1_800_000_000_000 + payment.confirmedAt) / 1_000) }
          : null,
    };
  }

  return {
    /** Broadcasts a transaction now; it is in a block after so many milliseconds. */
    pay(outputs: Payment['outputs'], confirmsInMs: number): Payment {
      const seenAt = scheduler.now();
      const txid = (payments.size + 1).toString(16).padStart(64, 'b');
      const payment = { txid, outputs, seenAt, confirmedAt: seenAt + confirmsInMs };
      payments.set(txid, payment);
      return payment;
    },

    views: (txid: string) => Array.from({ length: INDEXES }, (_none, index) => view(txid, index)),

    /** The confirmed output as it truly is. */
    confirmed(txid: string, vout: number): { address: string; value: bigint } | undefined {
      const payment = payments.get(txid);
      return payment && payment.confirmedAt <= scheduler.now() ? payment.outputs[vout] : undefined;
    },
  };
}
