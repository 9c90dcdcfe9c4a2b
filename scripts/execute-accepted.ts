/**
 * Runs accepted third-party transactions, signed, on the offline chain: `npm run accepted -- [count] [first
 * seed]`. Fails if one is refused, fails on the chain, costs more than amount and caps, or changes an owner,
 * a delegate or a token account of ours.
 * @module
 */
import { executeAccepted } from '../test/world/accepted-swaps.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

const options = argumentsOrUsage('npm run accepted -- [count] [first seed]', (args) => {
  const [count = '1000', seed = '1'] = readArguments(args, {}, 2).positionals;
  return { count: wholeNumber('count', count, { min: 1 }), seed: wholeNumber('first seed', seed) };
});
const all = await executeAccepted(options);
const wrong = all.filter(
  ({ refused, error, lost, foreseen, amount, bound, changed }) =>
    refused !== null ||
    error !== null ||
    changed.length > 0 ||
    lost < amount ||
    lost > foreseen ||
    foreseen > bound,
);
const by = (tool: string): number => all.filter((one) => one.tool === tool).length;
console.log({ executed: all.length, near: by('near'), chainflip: by('chainflip'), wrong });
process.exit(wrong.length === 0 ? 0 : 1);
