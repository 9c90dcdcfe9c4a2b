/**
 * Runs every family of attacks on the transaction policy many times, alone and in pairs: `npm run attack --
 * [each] [first seed]`. Fails if one is accepted, refused for a different reason, or refused by an exception.
 * @module
 */
import { checkSwapPolicy, type PolicyInput } from '../src/custody/policy/policy.ts';
import { draftSwap, finish } from '../test/custody/policy/draft.ts';
import type { Family } from '../test/custody/policy/families/family.ts';
import { combinedInput, FAMILIES, hostileDraft } from '../test/custody/policy/hostile-families.ts';
import { createRandom } from '../test/simulator/random.ts';
import { argumentsOrUsage, readArguments, wholeNumber } from './command-line.ts';

const { each, from } = argumentsOrUsage('npm run attack -- [each] [first seed]', (args) => {
  const [attacks = '60', first = '1'] = readArguments(args, {}, 2).positionals;
  return { each: wholeNumber('each', attacks, { min: 1 }), from: wholeNumber('first seed', first) };
});
const failures: string[] = [];

async function alone(): Promise<number> {
  let refused = 0;
  for (const family of FAMILIES) {
    for (let seed = from; seed < from + each; seed += 1) {
      const verdict = await checkSwapPolicy(finish(hostileDraft(family, seed)));
      if (!verdict.ok && verdict.reason === family.reason) refused += 1;
      else failures.push(`${family.name} (${seed}): ${verdict.ok ? 'ACCEPTED' : verdict.reason}`);
    }
  }
  return refused;
}

/** One attack may undo the other, so that neither is left. */
const isHonest = (input: PolicyInput, tool: Family['tool'], seed: number): boolean =>
  written(input) === written(finish(draftSwap(tool, seed)));

const written = (input: PolicyInput): string =>
  JSON.stringify(input, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value instanceof Map ? [...value] : value,
  );

/** For a pair, the reason of either attack is right, or a third one that both cause. */
async function inPairs(): Promise<number> {
  const random = createRandom(from);
  const partners = (tool: Family['tool']) => FAMILIES.filter((family) => family.tool === tool);
  let refused = 0;
  for (const family of FAMILIES) {
    for (let seed = from; seed < from + each; seed += 1) {
      const partner = random.pick(partners(family.tool));
      const input = combinedInput(family, partner, seed);
      if (!input || isHonest(input, family.tool, seed)) continue;
      if ((await checkSwapPolicy(input)).ok)
        failures.push(`${family.name} and ${partner.name} (${seed}): ACCEPTED`);
      else refused += 1;
    }
  }
  return refused;
}

const [refused, pairsRefused] = [await alone(), await inPairs()];
console.log(JSON.stringify({ families: FAMILIES.length, refused, pairsRefused, failures }, null, 1));
if (failures.length > 0) process.exitCode = 1;
