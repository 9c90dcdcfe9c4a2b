/**
 * The decoder of third-party transactions under a million inputs: `node scripts/fuzz-decoder.ts [count] [seed]`.
 * Fails when one throws, passes with a second spelling, or takes more than 20 times the median of its size.
 * @module
 */
import { fuzzDecoder } from '../test/chain/solana/decoder-fuzz.ts';

const MAX_RATIO = 20;
const [count = '1000000', seed = '1'] = process.argv.slice(2);

/** So many at a time keep their bytes in memory. */
const PART = 50_000;

for (let done = 0; done < Number(count); done += PART) {
  const result = fuzzDecoder(Number(seed) + done, Math.min(PART, Number(count) - done));
  console.log(JSON.stringify({ done: done + PART, ...result }));
  if (result.unfaithful > 0 || result.worstRatio > MAX_RATIO) process.exitCode = 1;
}
