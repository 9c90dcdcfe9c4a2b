/**
 * Proves that the simulator has teeth: every mutant must be caught. `npm run mutants -- [--seeds N] [--only text]`
 * @module
 */
import { parseArgs } from 'node:util';
import { MUTANTS } from '../test/simulator/mutants.ts';
import { catchMutant } from '../test/simulator/mutation.ts';
import { OWN_SOURCE } from '../test/simulator/production.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    src: { type: 'string', default: OWN_SOURCE },
  },
});

let failures = 0;
console.log('| mutant | first seed | invariant |\n|---|---|---|');
for (const mutant of MUTANTS.filter(({ name }) => name.includes(values.only))) {
  const range = { source: values.src, from: 1, to: Number(values.seeds) };
  const caught = await catchMutant(mutant, range).catch((error: Error) => error.message);
  const isCaught = typeof caught === 'object';
  if (!isCaught) failures++;
  console.log(
    `| ${mutant.name} | ${isCaught ? `${caught.seed} | ${caught.invariant}` : `${caught ?? 'survives'} | `} |`,
  );
}
process.exitCode = failures > 0 ? 1 : 0;
