import { setTimeout as sleep } from 'node:timers/promises';
import { EXPIRY_BLOCKS } from '../../src/chain/solana/transaction.ts';
import type { Commitment } from '../../src/providers/solana-rpc.ts';
import type { Surfpool } from './surfpool.ts';

/** Alpenglow confirms and finalizes a slot together, within two slots. */
const FINALITY = 2;

/** Number of checks for a new slot during one slot. */
const LOOKS = 2;
/** A block hash is read from every second slot. */
const SAMPLED_SLOTS = 2;

/** Blockhashes older than this number of slots expired long ago (150 blocks); older samples are removed. */
const KEPT_SLOTS = 2000;

export interface BlockhashSample {
  readonly slot: number;
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** The virtual machine's slots, and the newest one at each commitment. */
export interface SolanaClock {
  /** The newest slot seen, less `lag`, as this commitment shows it. */
  slot(commitment: Commitment, lag?: number): number;
  /** Slots after which a slot is final. */
  readonly finality: number;
  blockHeight(slot: number): number;
  /** The block hash of a slot, or of the nearest sampled slot before it. */
  blockhashAt(slot: number): BlockhashSample;
  /** The newest blockhash of the chain, even if this process was blocked for a long time. */
  newestBlockhash(): Promise<BlockhashSample>;
  find(blockhash: string): BlockhashSample | null;
  /** Records a slot from another source (a transaction that has landed in it). */
  saw(slot: number): void;
  /** Marks everything up to now as finalized: the state in which a world opens. */
  root(): void;
  /** Stops or continues finality: while it is stopped, nodes show new slots as confirmed, but none as final. */
  holdFinality(isHeld: boolean): void;
  /** Adds blocks that nobody saw, so that no earlier transaction can land any more. */
  skipBlocks(): Promise<void>;
  reached(slot: number): Promise<void>;
  stop(): void;
}

interface LatestBlockhash {
  readonly context: { readonly slot: number };
  readonly value: { readonly blockhash: string; readonly lastValidBlockHeight: number };
}

const BLOCKHASH_LIFE_BLOCKS = 150;
/** More than the custodian waits before it treats a transaction as expired. */
const SKIPPED_BLOCKS = 2n * EXPIRY_BLOCKS;
/** After this time without a block, the chain is treated as stopped. */
const STANDSTILL_MS = 60_000;

export async function startSolanaClock(surfpool: Surfpool, slotMs: number): Promise<SolanaClock> {
  const samples = new Map<number, BlockhashSample>();
  const byHash = new Map<string, BlockhashSample>();
  const waiting = new Set<() => void>();
  let head = 0;
  let rooted = 0;
  let lastFinal = Number.POSITIVE_INFINITY;
  let first = Number.POSITIVE_INFINITY;
  let heightOffset = 0;
  let unseenBlocks = 0;
  let sampled = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function advance(slot: number): void {
    head = Math.max(head, slot);
    for (const check of waiting) check();
  }

  async function sample(): Promise<BlockhashSample> {
    const { context, value } = await surfpool.get<LatestBlockhash>('getLatestBlockhash', [
      { commitment: 'processed' },
    ]);
    sampled = context.slot;
    const known = byHash.get(value.blockhash);
    if (known === undefined) {
      const lastValidBlockHeight = value.lastValidBlockHeight + unseenBlocks;
      const one: BlockhashSample = { slot: context.slot, blockhash: value.blockhash, lastValidBlockHeight };
      samples.set(one.slot, one);
      byHash.set(one.blockhash, one);
      first = Math.min(first, one.slot);
      heightOffset = one.slot - (one.lastValidBlockHeight - BLOCKHASH_LIFE_BLOCKS);
      for (const [slot, old] of samples) {
        if (slot >= one.slot - KEPT_SLOTS) break;
        samples.delete(slot);
        byHash.delete(old.blockhash);
        first = slot + 1;
      }
    }
    advance(context.slot);
    return byHash.get(value.blockhash) ?? { slot: context.slot, ...value };
  }

  async function look(): Promise<void> {
    const slot = surfpool.newestSlot();
    if (slot >= sampled + SAMPLED_SLOTS) await sample();
    else if (slot > head) advance(slot);
  }

  function tick(): void {
    timer = setTimeout(() => {
      look()
        .catch(() => undefined)
        .finally(() => {
          if (!stopped) tick();
        });
    }, slotMs / LOOKS);
  }

  await sample();
  tick();

  function slotAt(commitment: Commitment, lag = 0): number {
    const seen = Math.max(head - lag, 0);
    if (commitment === 'processed') return seen;
    const confirmed = Math.max(seen - FINALITY, Math.min(rooted, seen), 0);
    return commitment === 'confirmed' ? confirmed : Math.min(confirmed, lastFinal);
  }

  function blockhashAt(slot: number): BlockhashSample {
    for (let at = slot; at >= first; at -= 1) {
      const found = samples.get(at);
      if (found !== undefined) return found;
    }
    const oldest = samples.values().next().value;
    if (oldest === undefined) throw new Error('no block yet');
    return oldest;
  }

  return {
    slot: slotAt,
    finality: FINALITY,
    blockHeight: (slot) => Math.max(slot - heightOffset, 0),
    blockhashAt,
    newestBlockhash: sample,
    find: (blockhash) => byHash.get(blockhash) ?? null,
    saw: advance,
    root() {
      rooted = head;
    },
    holdFinality(isHeld) {
      lastFinal = isHeld ? slotAt('finalized') : Number.POSITIVE_INFINITY;
    },
    async skipBlocks() {
      unseenBlocks += Number(SKIPPED_BLOCKS);
      await sample();
      // Until then, nodes return a final blockhash of before, which has expired.
      for (const before = head; blockhashAt(slotAt('finalized')).slot <= before; await sample())
        await sleep(slotMs);
    },
    reached(slot) {
      return new Promise((resolve, reject) => {
        let seen = head;
        const watch = setInterval(() => {
          if (head === seen && !stopped) reject(new Error(`the chain has stopped at slot ${head}`));
          seen = head;
        }, STANDSTILL_MS);
        watch.unref();
        const check = () => {
          if (head < slot) return;
          waiting.delete(check);
          clearInterval(watch);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
