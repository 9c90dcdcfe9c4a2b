/**
 * Every family of attacks on the screen, many times over: `node scripts/attack-screen.ts [each] [first seed]`.
 * Fails when one is let through, refused for another reason, or refused by an exception.
 * @module
 */
import { screenSwap } from '../src/custody/screen/screen.ts';
import { finish } from '../test/custody/screen/draft.ts';
import { FAMILIES, hostileDraft } from '../test/custody/screen/hostile-families.ts';

const [each = '60', from = '1'] = process.argv.slice(2);
let refused = 0;
const failures: string[] = [];
for (const family of FAMILIES) {
  for (let seed = Number(from); seed < Number(from) + Number(each); seed += 1) {
    const verdict = screenSwap(finish(hostileDraft(family, seed)));
    if (!verdict.ok && verdict.reason === family.reason) refused += 1;
    else failures.push(`${family.name} (${seed}): ${verdict.ok ? 'LET THROUGH' : verdict.reason}`);
  }
}
console.log(JSON.stringify({ families: FAMILIES.length, refused, failures }, null, 1));
if (failures.length > 0) process.exitCode = 1;
