import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  code,
  type Held,
  held,
  isHeld,
  parseReason,
  type Reason,
  reasonText,
  upstream,
} from '../../../src/custody/kernel/reason.ts';

const word = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,30}$/);
const holds = fc.constantFrom<Held>('unproven', 'unsettled', 'unknown_state');
const reasons = fc.oneof<fc.Arbitrary<Reason>[]>(
  fc.record({ type: fc.constantFrom('stopped', 'limit', 'upstream'), by: word }),
  holds.map(held),
  word.filter((text) => !/^(stopped|limit|upstream|held)_/.test(text)).map(code),
);

it('every reason is unchanged after it was stored and read', () => {
  fc.assert(
    fc.property(reasons, (reason) => {
      expect(parseReason(reasonText(reason))).toEqual(reason);
    }),
  );
});

it('every stored text is unchanged after it was parsed as a reason, unless it begins with held_', () => {
  const texts = fc.oneof(
    fc.string(),
    word,
    word.map((text) => `upstream_${text}`),
  );
  fc.assert(
    fc.property(
      texts.filter((text) => !text.startsWith('held_')),
      (text) => {
        expect(reasonText(parseReason(text))).toBe(text);
      },
    ),
  );
});

it.each<[string, Reason]>([
  ['stopped_operator', { type: 'stopped', by: 'operator' }],
  ['limit_cost_day', { type: 'limit', by: 'cost_day' }],
  ['upstream_rpc_-32016', upstream('rpc_-32016')],
  ['held_unproven', held('unproven')],
  ['short_of_sol', code('short_of_sol')],
  // A hold of another release stays a hold.
  ['held_by_a_later_release', held('unknown_state')],
  ['held_constructor', held('unknown_state')],
  ['limit_', code('limit_')],
])('parses the stored reason %s', (text, reason) => {
  expect(parseReason(text)).toEqual(reason);
});

it('recognizes the reasons for which an operation waits for the operator', () => {
  expect([held('unproven'), code('held'), null].map(isHeld)).toEqual([true, false, false]);
  expect(reasonText(null)).toBeNull();
});
