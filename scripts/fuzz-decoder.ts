/**
 * The decoder of third-party transactions under a million inputs: `npm run fuzz -- [count] [seed]`.
 * Fails when one throws, passes with a second spelling, or takes more than 20 times the median of its size.
 * @module
 */
import { fuzzDecoder } from '../test/chain/solana/decoder-fuzz.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

const MAX_RATIO = 20;
const { count, seed } = argumentsOrUsage('npm run fuzz -- [count] [seed]', (args) => {
  const [inputs = '1000000', first = '1'] = readArguments(args, {}, 2).positionals;
  return { count: wholeNumber('count', inputs, { min: 1 }), seed: wholeNumber('seed', first) };
});

/** So many at a time keep their bytes in memory. */
const PART = 50_000;

for (let done = 0; done < count; done += PART) {
  const result = fuzzDecoder(seed + done, Math.min(PART, count - done));
  console.log(JSON.stringify({ done: done + PART, ...result }));
  if (result.unfaithful > 0 || result.worstRatio > MAX_RATIO) process.exitCode = 1;
}
