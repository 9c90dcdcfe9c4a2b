/** A Bitcoin chain on any clock, whose transactions confirm at given times, as an index shows it at one of them. */
import type { IndexedInput, IndexedOutput, IndexedTx } from '../world/bitcoin-index.ts';
import { scriptOf } from '../world/bitcoin-wallet.ts';
import type { IndexView } from '../world/esplora-model.ts';

type Output = { readonly address: string; readonly value: bigint };

export type ChainTx = {
  readonly txid: string;
  readonly inputs: readonly IndexedInput[];
  readonly outputs: readonly Output[];
  readonly seenAt: number;
  confirmedAt: number;
};

const FIRST_HEIGHT = 800_000;
/** Money from outside, as the reward of a block is. */
const COINBASE: IndexedInput = { previous: null, script: '', witness: [], sequence: 0xffffffff };

export type BitcoinChain = ReturnType<typeof createBitcoinChain>;

/** @param timeOf Unix milliseconds of a time of the clock */
export function createBitcoinChain({
  blockMs,
  timeOf,
}: {
  readonly blockMs: number;
  readonly timeOf: (time: number) => number;
}) {
  const txs = new Map<string, ChainTx>();
  let reorgs = 0;

  const heightAt = (time: number): number => FIRST_HEIGHT + Math.floor(time / blockMs);
  function prevout({ previous }: IndexedInput): IndexedOutput | null {
    const output = previous === null ? undefined : txs.get(previous.txid)?.outputs[previous.vout];
    return output ? { script: scriptOf(output.address), sats: Number(output.value) } : null;
  }
  const isSpent = (txid: string, vout: number): boolean =>
    [...txs.values()].some(({ inputs }) =>
      inputs.some(({ previous }) => previous?.txid === txid && previous.vout === vout),
    );

  function add(tx: Omit<ChainTx, 'txid' | 'inputs'> & Partial<ChainTx>): ChainTx {
    const added = { txid: (txs.size + 1).toString(16).padStart(64, 'b'), inputs: [COINBASE], ...tx };
    txs.set(added.txid, added);
    return added;
  }

  /** A block's hash depends on its transactions, so one that confirms within a block's time replaces the tip. */
  function hashOf(height: number, time: number): string {
    const included = [...txs.values()].filter(
      ({ confirmedAt }) => confirmedAt <= time && heightAt(confirmedAt) <= height,
    );
    return `${height}${reorgs}${included.length.toString().padStart(4, '0')}`.padStart(64, '0');
  }

  function indexed(tx: ChainTx, time: number): IndexedTx {
    const { txid, inputs, outputs, confirmedAt } = tx;
    const height = heightAt(confirmedAt);
    const isConfirmed = confirmedAt <= time;
    return {
      txid,
      version: 2,
      locktime: 0,
      size: 222,
      weight: 561,
      inputs,
      outputs: outputs.map(({ address, value }) => ({ script: scriptOf(address), sats: Number(value) })),
      block: isConfirmed
        ? { height, hash: hashOf(height, time), time: Math.floor(timeOf(confirmedAt) / 1_000), position: 0 }
        : null,
    };
  }

  return {
    txs: txs as ReadonlyMap<string, ChainTx>,
    heightAt,
    add,
    /** A transaction that spends an output of an address and returns all but this number of sats to it. */
    spend(address: string, sats: bigint, seenAt: number, confirmedAt: number): ChainTx {
      for (const { txid, outputs } of txs.values())
        for (const [vout, output] of outputs.entries()) {
          if (output.address !== address || output.value < sats || isSpent(txid, vout)) continue;
          const inputs = [{ ...COINBASE, previous: { txid, vout } }];
          return add({ inputs, outputs: [{ address, value: output.value - sats }], seenAt, confirmedAt });
        }
      throw new Error('no output of that amount');
    },

    /** Replaces the newest blocks; their transactions confirm later. @param later a time after `now` */
    reorg(depth: number, now: number, later: () => number): void {
      reorgs++;
      for (const tx of txs.values()) {
        const isYoung = tx.confirmedAt <= now && heightAt(now) - heightAt(tx.confirmedAt) + 1 <= depth;
        if (isYoung) tx.confirmedAt = later();
      }
    },

    /** @param extraSats a lie about the balance */
    viewAt(time: number, extraSats = 0n): IndexView {
      const known = ({ seenAt }: ChainTx): boolean => seenAt <= time;
      const tip = heightAt(time);
      return {
        tip,
        extraSats: Number(extraSats),
        get(txid) {
          const tx = txs.get(txid);
          return tx && known(tx) ? indexed(tx, time) : null;
        },
        byScript: (script) =>
          [...txs.values()]
            .filter(known)
            .toSorted((a, b) => b.confirmedAt - a.confirmedAt)
            .map((tx) => indexed(tx, time))
            .filter(
              ({ inputs, outputs }) =>
                outputs.some((output) => output.script === script) ||
                inputs.some((input) => prevout(input)?.script === script),
            ),
        prevout,
        blockHash: (height) => (height <= tip ? hashOf(height, time) : null),
      };
    },
  };
}
