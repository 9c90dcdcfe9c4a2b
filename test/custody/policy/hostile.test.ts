import { expect, it } from 'vitest';
import { checkSwapPolicy } from '../../../src/custody/policy/policy.ts';
import { POLICY_REASONS } from '../../../src/custody/policy/refusal.ts';
import { checkLanding } from '../../../src/custody/policy/simulation.ts';
import { finish } from './draft.ts';
import { FAMILIES, hostileDraft } from './hostile-families.ts';

const EACH = 6;

it.each(FAMILIES.map((family) => [family.name, family.reason, family] as const))(
  '%s is refused as %s',
  async (_name, reason, family) => {
    for (let number = 1; number <= EACH; number += 1) {
      expect(await checkSwapPolicy(finish(hostileDraft(family, number)))).toMatchObject({
        ok: false,
        reason,
      });
    }
  },
);

const FORESEEN = { amount: 1_000n, spend: 1_010n };
const LANDED = { error: null, before: 5_000n, after: 3_992n, changesTokens: false };

it('a landing that matches the prediction does not stop signing', () => {
  expect(checkLanding(LANDED, FORESEEN)).toBeUndefined();
});

const LANDINGS = [
  ['landing_error', { error: { InstructionError: [1, 'x'] } }],
  ['landing_balance', { after: 3_989n }],
  ['landing_balance', { after: 4_001n }],
  ['landing_tokens', { changesTokens: true }],
] as const;

it.each(LANDINGS)('a landing that differs from the prediction stops signing: %s', (reason, change) => {
  expect(checkLanding({ ...LANDED, ...change }, FORESEEN)).toMatchObject({
    ok: false,
    check: 'S25',
    reason,
  });
});

/** Bytes that the decoder refuses by structure are attacked in its own tests. */
const ELSEWHERE = ['tx_duplicate_table', 'tx_empty_table', 'tx_too_many_accounts'];

it('every reason has an attack that it stops', () => {
  const attacked = new Set<string>([
    ...FAMILIES.map(({ reason }) => reason),
    ...LANDINGS.map(([reason]) => reason),
  ]);
  const idle = Object.keys(POLICY_REASONS).filter((reason) => !attacked.has(reason));
  expect(idle).toEqual(ELSEWHERE);
});

it('names of families are unique, and there are enough of them', () => {
  expect(new Set(FAMILIES.map(({ name }) => name)).size).toBe(FAMILIES.length);
  expect(FAMILIES.length).toBeGreaterThanOrEqual(60);
});
