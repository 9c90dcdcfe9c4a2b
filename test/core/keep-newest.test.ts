import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keepNewest } from '../../src/core/keep-newest.ts';

it('keeps the last value of each of the newest keys', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 6 })), fc.integer({ min: 1, max: 5 }), (keys, most) => {
      const entries = new Map<number, number>();
      for (const [at, key] of keys.entries()) keepNewest(entries, key, at, most);
      const newest = [...new Set(keys.toReversed())].slice(0, most).toReversed();
      expect([...entries]).toEqual(newest.map((key) => [key, keys.lastIndexOf(key)]));
    }),
  );
});
