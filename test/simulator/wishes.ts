/**
 * What callers ask for, and when.
 * @module
 */
import type { Random } from './random.ts';

export type SwapWish = {
  readonly at: number;
  readonly amount: bigint;
  /** Asks for all that the service says it may swap, in place of the amount. */
  readonly most: boolean;
  readonly key: string | null;
  readonly client: string;
  /** Milliseconds after the first call at which the same call comes again. */
  readonly repeats: readonly number[];
  /** Tries of the client while it gets no answer. */
  readonly patience: number;
};

export type PayoutWish = {
  readonly at: number;
  readonly id: string;
  readonly amount: bigint;
  readonly twice: boolean;
};

const HOUR = 3_600_000;

/** Lamports between two numbers of SOL, in steps of a thousand. */
export const solBetween = (r: Random, low: number, high: number): bigint =>
  BigInt(r.between(Math.round(low * 1e6), Math.round(high * 1e6))) * 1_000n;

export type Crowd = 'few' | 'burst' | 'pair' | 'alike' | 'unlucky';

/**
 * A burst comes all at once, a pair one shortly after the other and for small sums, `alike` ask for nearly the same,
 * the unlucky come in a row with a bridge that fails them.
 */
export function swapWishes(r: Random, crowd: Crowd, spread: number): SwapWish[] {
  const few = r.pick([1, 1, 1, 2, 2, 3]);
  const count = { burst: r.between(3, 8), pair: 2, alike: 3, unlucky: 3, few }[crowd];
  const start = r.between(0, spread / 2);
  const isBig = crowd !== 'pair' && r.chance(0.6);
  const alike = solBetween(r, 0.1, 0.3);
  const when = (index: number): number => {
    if (crowd === 'burst') return start + r.between(0, r.pick([0, 5, 2_000]));
    if (crowd === 'pair' || crowd === 'unlucky') return start + index * r.between(2_000, 15_000);
    return crowd === 'alike' ? start + r.between(0, 5_000) : r.between(0, spread);
  };
  return Array.from({ length: count }, (_none, index) => {
    const sum = crowd === 'alike' ? alike : solBetween(r, isBig ? 0.5 : 0.01, isBig ? 2.05 : 0.6);
    return wish(r, index, when(index), sum);
  });
}

/** One more caller, whom nobody has seen before. */
export const laterWish = (r: Random, at: number): SwapWish => wish(r, 90, at, solBetween(r, 0.05, 0.3));

function wish(r: Random, index: number, at: number, sum: bigint): SwapWish {
  const keyed = r.chance(0.7);
  const delay = () => r.pick([0, r.between(1, 300), r.between(300, 20_000), r.between(20_000, 2 * HOUR)]);
  return {
    at,
    // The last digits make every sum unlike any other, so that the chain tells whose it is.
    amount: sum + BigInt(index + 1),
    most: false,
    key: keyed ? `key-${index}` : null,
    client: r.pick(['ip-1', 'ip-2', 'ip-3']),
    repeats: keyed && r.chance(0.5) ? Array.from({ length: r.between(1, 3) }, delay) : [],
    patience: keyed ? r.between(0, 3) : 0,
  };
}

export const payoutWishes = (r: Random, spread: number): PayoutWish[] =>
  Array.from({ length: r.pick([1, 1, 2]) }, (_none, index) => ({
    at: r.between(0, spread),
    id: `asry:${index}`,
    amount: solBetween(r, 0.001, r.chance(0.2) ? 2 : 0.05),
    twice: r.chance(0.4),
  }));
