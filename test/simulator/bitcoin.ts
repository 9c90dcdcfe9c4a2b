/**
 * The Bitcoin chain and its indexes in virtual time: late, failing, or lying about the balance. The production client reads
 * their bodies.
 * @module
 */
import type { Esplora } from '../../src/providers/esplora.ts';
import { type ChainTx, createBitcoinChain } from '../kit/bitcoin-chain.ts';
import { transport } from '../kit/transport.ts';
import { esploraAnswer } from '../world/esplora-model.ts';
import type { Production } from './production.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export type BitcoinFaults = {
  readonly failing: number;
  readonly lagMs: number;
  /** Chance that the lying index shows ten times the reserve. */
  readonly lying: number;
};

export type Bitcoin = ReturnType<typeof createBitcoin>;

const BLOCK_MS = 30_000;
/** When the first sats of the reserve were confirmed. */
const LONG_AGO = -1_000 * BLOCK_MS;

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
  const chain = createBitcoinChain({ blockMs: BLOCK_MS, timeOf: p.timeOf });
  const { heightAt } = chain;
  const first = { address: reserveAddress, value: p.startSats };
  chain.add({ outputs: [first], seenAt: LONG_AGO, confirmedAt: LONG_AGO });

  /** Sats of the reserve in transactions that meet a condition. */
  const paid = (meets: (tx: ChainTx) => boolean): bigint =>
    [...chain.txs.values()]
      .filter(meets)
      .flatMap(({ outputs }) => outputs)
      .reduce((sum, { address, value }) => (address === reserveAddress ? sum + value : sum), 0n);

  /** One index as called by one instance of the custodian. */
  function indexOver(
    index: number,
    traced: (label: string) => <T>(ask: () => Promise<T>) => Promise<T>,
  ): Esplora {
    const name = `esplora-${index + 1}`;
    const fetch = transport((request) => {
      const known = scheduler.now() - (index === 0 ? 0 : p.faults().lagMs);
      const isBalance = /^\/address\/[^/]+$/.test(request.path);
      const isLie = isBalance && index === p.liar && random.chance(p.faults().lying);
      const extra = isLie ? 9n * paid(({ confirmedAt }) => confirmedAt <= known) : 0n;
      return esploraAnswer(chain.viewAt(known, extra), request);
    });
    const client = production.createEsplora({ baseUrl: `https://${name}`, name, fetch });
    const ask = (method: string, read: () => Promise<unknown>) =>
      traced(`${name}.${method}`)(async () => {
        if (random.chance(p.faults().failing)) throw production.upstreamFailed(name, 'unreachable');
        return read();
      });
    const calls = Object.entries(client).map(([method, call]) => [
      method,
      typeof call === 'string'
        ? call
        : (...given: never[]) => ask(method, () => Reflect.apply(call, null, given)),
    ]);
    return Object.fromEntries(calls) as Esplora;
  }

  return {
    indexOver,
    heightAt: () => heightAt(scheduler.now()),
    pay(outputs: ChainTx['outputs'], confirmsInMs: number): ChainTx {
      const seenAt = scheduler.now();
      return chain.add({ outputs, seenAt, confirmedAt: seenAt + confirmsInMs });
    },
    /** Sats of the reserve in blocks of at least this depth; the newest block has depth 1. */
    settled: (depth: number): bigint =>
      paid(({ confirmedAt }) => heightAt(scheduler.now()) - heightAt(confirmedAt) + 1 >= depth),

    /** Replaces the newest blocks; their transactions confirm later. */
    reorg(depth: number): void {
      const now = scheduler.now();
      chain.reorg(depth, now, () => now + random.between(1_000, 4 * BLOCK_MS));
    },

    /** The true output once it is in a block. */
    confirmed(txid: string, vout: number): ChainTx['outputs'][number] | undefined {
      const tx = chain.txs.get(txid);
      return tx && tx.confirmedAt <= scheduler.now() ? tx.outputs[vout] : undefined;
    },
  };
}
