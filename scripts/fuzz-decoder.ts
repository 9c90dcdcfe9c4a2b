/**
 * Runs the decoder of third-party transactions on a million inputs: `npm run fuzz -- [count] [seed]`. Fails
 * if one throws, is accepted in a second encoding, or takes more than 20 times the median of its size.
 * @module
 */
import { fuzzDecoder } from '../test/chain/solana/decoder-fuzz.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

const MAX_RATIO = 20;
const { count, seed } = argumentsOrUsage('npm run fuzz -- [count] [seed]', (args) => {
  const [inputs = '1000000', first = '1'] = readArguments(args, {}, 2).positionals;
  return { count: wholeNumber('count', inputs, { min: 1 }), seed: wholeNumber('seed', first) };
});

/** Inputs kept in memory at a time. */
const PART = 50_000;

for (let done = 0; done < count; done += PART) {
  const result = fuzzDecoder(seed + done, Math.min(PART, count - done));
  console.log(JSON.stringify({ done: done + PART, ...result }));
  if (result.unfaithful > 0 || result.worstRatio > MAX_RATIO) process.exitCode = 1;
}
