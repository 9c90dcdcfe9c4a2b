/**
 * The Bitcoin chain and its two indexes: late, failing, or lying about the balance.
 * @module
 */
import { sats } from '../../src/core/amount.ts';
import type { BitcoinTx, Esplora } from '../../src/providers/esplora.ts';
import type { Production } from './production.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

type Payment = {
  readonly txid: string;
  readonly outputs: readonly { readonly address: string; readonly value: bigint }[];
  readonly seenAt: number;
  confirmedAt: number;
};

export type BitcoinFaults = {
  readonly failing: number;
  readonly lagMs: number;
  /** Chance that the lying index shows ten times the reserve. */
  readonly lying: number;
};

export type Bitcoin = ReturnType<typeof createBitcoin>;

const BLOCK_MS = 30_000;
const FIRST_HEIGHT = 800_000;

export function createBitcoin(p: {
  scheduler: Scheduler;
  random: Random;
  production: Production;
  reserveAddress: string;
  /** Unix milliseconds of a virtual time. */
  timeOf: (virtual: number) => number;
  startSats: bigint;
  /** Number of the index that lies. */
  liar: number;
  faults: () => BitcoinFaults;
}) {
  const { scheduler, random, production, reserveAddress } = p;
  const payments = new Map<string, Payment>();
  let reorgs = 0;

  const heightAt = (time: number): number => FIRST_HEIGHT + Math.floor(time / BLOCK_MS);
  const paidBy = ({ outputs }: Payment): bigint =>
    outputs.reduce((sum, { address, value }) => (address === reserveAddress ? sum + value : sum), 0n);
  /** Sats of the reserve in blocks up to a time. */
  const confirmed = (time: number): bigint =>
    [...payments.values()].reduce(
      (sum, one) => (one.confirmedAt <= time ? sum + paidBy(one) : sum),
      p.startSats,
    );
  /** A block's hash depends on its payments, so a payment that confirms within a block's time replaces the tip. */
  const hashAt = (time: number): string => {
    const included = [...payments.values()].filter(({ confirmedAt }) => confirmedAt <= time).length;
    return `${heightAt(time)}${reorgs}${included.toString().padStart(4, '0')}`.padStart(64, '0');
  };

  function pay(outputs: Payment['outputs'], confirmsInMs: number): Payment {
    const seenAt = scheduler.now();
    const txid = (payments.size + 1).toString(16).padStart(64, 'b');
    const payment = { txid, outputs, seenAt, confirmedAt: seenAt + confirmsInMs };
    payments.set(txid, payment);
    return payment;
  }

  function shown(payment: Payment, known: number): BitcoinTx {
    const { txid, outputs, confirmedAt } = payment;
    return {
      txid,
      inputs: [],
      outputs: outputs.map(({ address, value }) => ({ address, value: sats(value) })),
      block:
        confirmedAt <= known
          ? { height: heightAt(confirmedAt), time: Math.floor(p.timeOf(confirmedAt) / 1_000) }
          : null,
    };
  }

  /** One index as called by one instance of the custodian. */
  function indexOver(
    index: number,
    traced: (label: string) => <T>(ask: () => Promise<T>) => Promise<T>,
  ): Esplora {
    const name = `esplora-${index + 1}`;
    const ask = <T>(method: string, read: (known: number) => T): Promise<T> =>
      traced(`${name}.${method}`)(async () => {
        const { failing, lagMs } = p.faults();
        if (random.chance(failing)) throw production.upstreamFailed(name, 'unreachable');
        return read(scheduler.now() - (index === 0 ? 0 : lagMs));
      });
    const bare = production.createEsplora({
      baseUrl: `https://${name}`,
      name,
      fetch: () => Promise.reject(new Error('not modelled')),
    });
    return {
      ...bare,
      tipHash: () => ask('tipHash', hashAt),
      tipHeight: () => ask('tipHeight', heightAt),
      balance: () =>
        ask('balance', (known) => {
          const truth = confirmed(known);
          const isLie = index === p.liar && random.chance(p.faults().lying);
          return {
            confirmed: sats(isLie ? truth * 10n : truth),
            confirmedTxs: [...payments.values()].filter((one) => one.confirmedAt <= known && paidBy(one) > 0n)
              .length,
            pendingDelta: sats(0n),
            pendingSpent: sats(0n),
            pendingTxs: 0,
          };
        }),
      chainTxs: (_address, after) =>
        ask('chainTxs', (known) => {
          const list = [...payments.values()]
            .filter((one) => one.confirmedAt <= known && paidBy(one) > 0n)
            .toSorted((a, b) => b.confirmedAt - a.confirmedAt);
          const from = list.findIndex(({ txid }) => txid === after) + 1;
          return list.slice(from, from + 25).map((one) => shown(one, known));
        }),
      tx: (txid) =>
        ask('tx', (known) => {
          const payment = payments.get(txid);
          return payment && payment.seenAt <= known ? shown(payment, known) : null;
        }),
    };
  }

  return {
    pay,
    indexOver,
    heightAt: () => heightAt(scheduler.now()),
    /** Sats of the reserve in blocks of at least this depth; the newest block has depth 1. */
    settled: (depth: number): bigint =>
      [...payments.values()].reduce(
        (sum, one) =>
          heightAt(scheduler.now()) - heightAt(one.confirmedAt) + 1 >= depth ? sum + paidBy(one) : sum,
        p.startSats,
      ),

    /** Replaces the newest blocks; their transactions confirm later. */
    reorg(depth: number): void {
      reorgs++;
      const now = scheduler.now();
      for (const payment of payments.values()) {
        const isYoung =
          payment.confirmedAt <= now && heightAt(now) - heightAt(payment.confirmedAt) + 1 <= depth;
        if (isYoung) payment.confirmedAt = now + random.between(1_000, 4 * BLOCK_MS);
      }
    },

    /** The true output once it is in a block. */
    confirmed(txid: string, vout: number): { address: string; value: bigint } | undefined {
      const payment = payments.get(txid);
      return payment && payment.confirmedAt <= scheduler.now() ? payment.outputs[vout] : undefined;
    },
  };
}
