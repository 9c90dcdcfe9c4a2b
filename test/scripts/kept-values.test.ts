import { expect, it } from 'vitest';
import { keptValues } from '../../scripts/documents/kept-values.ts';

it.each([
  ['{"id":"b","n":2}', '{"id":"a"}', '{"id":"a","n":2}'],
  ['{"id":"b"}', '{"id":"a","gone":1}', '{"id":"a"}'],
  ['{"rows":[{"id":"b"},{"id":"c"}]}', '{"rows":[{"id":"a"}]}', '{"rows":[{"id":"a"},{"id":"c"}]}'],
  [
    '{"n":"1","at":null,"of":{"id":"b"}}',
    '{"n":1,"at":"x","of":null}',
    '{"n":"1","at":null,"of":{"id":"b"}}',
  ],
])('a new example %s after %s keeps the stored values: %s', (fresh, stored, kept) => {
  expect(keptValues(JSON.parse(fresh), JSON.parse(stored))).toEqual(JSON.parse(kept));
});
