/**
 * Inputs for the decoder: random bytes, and recorded transactions with a few bytes changed, removed or
 * inserted.
 */
import { base64 } from '@scure/base';
import {
  decodeTransaction,
  decodeTransactionText,
  encodeTransaction,
} from '../../../src/chain/solana/message.ts';
import mayan from '../../fixtures/lifi/mayan-sol.json' with { type: 'json' };
import relay from '../../fixtures/lifi/relaydepository-wsol.json' with { type: 'json' };
import { createRandom, type Random } from '../../simulator/random.ts';

const RECORDED = [mayan.data, relay.data].map((text) => base64.decode(text));

export type FuzzResult = {
  /** Verdicts by reason; `ok` is a transaction. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** Inputs that passed but encode to other bytes. */
  readonly unfaithful: number;
  /** Slowest verdict over the median of the inputs of about the same size (128 bytes). */
  readonly worstRatio: number;
};

/** @throws only if the decoder throws, which it must not */
export function fuzzDecoder(seed: number, count: number): FuzzResult {
  const random = createRandom(seed);
  const verdicts: Record<string, number> = {};
  const times = new Map<number, { duration: number; bytes: Uint8Array }[]>();
  let unfaithful = 0;
  for (let run = 0; run < count; run += 1) {
    const bytes = draw(random);
    const { verdict, duration } = timed(bytes, run % 2 === 0);
    const name = verdict.ok ? 'ok' : verdict.reason;
    verdicts[name] = (verdicts[name] ?? 0) + 1;
    if (verdict.ok && !isSame(encodeTransaction(verdict.transaction), bytes)) unfaithful += 1;
    const size = bytes.length >> 7;
    const list = times.get(size) ?? [];
    list.push({ duration, bytes });
    times.set(size, list);
  }
  return { verdicts, unfaithful, worstRatio: Math.max(...[...times.values()].map(ratioOf)) };
}

function timed(bytes: Uint8Array, asText: boolean) {
  const text = asText ? base64.encode(bytes) : '';
  const started = performance.now();
  const verdict = asText ? decodeTransactionText(text) : decodeTransaction(bytes);
  return { verdict, duration: performance.now() - started };
}

/** A slow input is decoded again, so that a busy machine does not count as a slow input. */
function ratioOf(list: { duration: number; bytes: Uint8Array }[]): number {
  const sorted = list.toSorted((a, b) => a.duration - b.duration);
  const median = sorted[sorted.length >> 1]?.duration ?? 1;
  return Math.max(
    ...sorted
      .slice(-20)
      .map(({ bytes }) => Math.min(...Array.from({ length: 5 }, () => timed(bytes, true).duration)) / median),
  );
}

function draw(random: Random): Uint8Array {
  if (random.chance(0.2)) {
    return Uint8Array.from({ length: random.between(0, 1_300) }, () => random.between(0, 255));
  }
  const bytes = [...random.pick(RECORDED)];
  for (let change = random.between(1, 4); change > 0; change -= 1) {
    const at = random.between(0, bytes.length - 1);
    // Most of the structure follows the keys, so half of the changes are made there.
    const place = random.chance(0.5) ? at : Math.min(bytes.length - 1, 500 + (at >> 1));
    if (random.chance(0.6)) bytes[place] = random.between(0, 255);
    else if (random.chance(0.5)) bytes.splice(place, random.between(1, 40));
    else
      bytes.splice(place, 0, ...Array.from({ length: random.between(1, 40) }, () => random.between(0, 255)));
  }
  return Uint8Array.from(bytes);
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);
