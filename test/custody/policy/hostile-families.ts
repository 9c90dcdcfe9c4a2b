/**
 * Attacks by family: each changes an honest swap in one costly way, and names the reason for which the policy
 * must refuse it.
 */
import type { PolicyInput } from '../../../src/custody/policy/policy.ts';
import { createRandom } from '../../simulator/random.ts';
import { type Draft, draftSwap, finish } from './draft.ts';
import { ASSOCIATED_TOKEN_FAMILIES } from './families/associated-token.ts';
import { BYTES_FAMILIES } from './families/bytes.ts';
import { CHAINFLIP_FAMILIES } from './families/chainflip.ts';
import { COMPUTE_BUDGET_FAMILIES } from './families/compute-budget.ts';
import type { Family } from './families/family.ts';
import { LOOKUP_TABLES_FAMILIES } from './families/lookup-tables.ts';
import { NEAR_FAMILIES } from './families/near.ts';
import { OWN_KEYS_FAMILIES } from './families/own-keys.ts';
import { PROGRAMS_FAMILIES } from './families/programs.ts';
import { QUOTE_FAMILIES } from './families/quote.ts';
import { SIMULATION_FAMILIES } from './families/simulation.ts';
import { SYSTEM_FAMILIES } from './families/system.ts';
import { TOKEN_FAMILIES } from './families/token.ts';
import { TRACKER_FAMILIES } from './families/tracker.ts';

export const FAMILIES: readonly Family[] = [
  ...BYTES_FAMILIES,
  ...LOOKUP_TABLES_FAMILIES,
  ...PROGRAMS_FAMILIES,
  ...SYSTEM_FAMILIES,
  ...TOKEN_FAMILIES,
  ...ASSOCIATED_TOKEN_FAMILIES,
  ...COMPUTE_BUDGET_FAMILIES,
  ...OWN_KEYS_FAMILIES,
  ...SIMULATION_FAMILIES,
  ...TRACKER_FAMILIES,
  ...CHAINFLIP_FAMILIES,
  ...NEAR_FAMILIES,
  ...QUOTE_FAMILIES,
];

export function hostileDraft(family: Family, number: number): Draft {
  const draft = draftSwap(family.tool, number);
  family.change(draft, createRandom(number ^ 0x5eed));
  return draft;
}

/** Two attacks at once; undefined if the first removes the part that the second would change. */
export function combinedInput(first: Family, second: Family, number: number): PolicyInput | undefined {
  const draft = hostileDraft(first, number);
  try {
    second.change(draft, createRandom(number ^ 0x2bad));
    return finish(draft);
  } catch {
    return undefined;
  }
}
