import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { completeRows, stringShortener } from '../../src/providers/large-list.ts';

/** The text after the shortener, which receives it in chunks of this size. */
function shortened(text: string, size: number): string {
  const bytes = new TextEncoder().encode(text);
  const shorten = stringShortener();
  const kept: number[] = [];
  for (let at = 0; at < bytes.length; at += size) kept.push(...shorten(bytes.slice(at, at + size)));
  return new TextDecoder().decode(Uint8Array.from(kept));
}

it('JSON with short strings stays unchanged, in chunks of any size', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.integer({ min: 1, max: 9 }), (text, size) => {
      fc.pre(text.length < 200);
      expect(shortened(text, size)).toBe(text);
    }),
  );
});

it('the shortener keeps the first 200 bytes of each string', () => {
  const text = JSON.stringify({ a: 'x'.repeat(500), b: ['y'.repeat(201), 1], ['z'.repeat(300)]: 'c' });
  expect(JSON.parse(shortened(text, 7))).toEqual({
    a: 'x'.repeat(200),
    b: ['y'.repeat(200), 1],
    ['z'.repeat(200)]: 'c',
  });
});

it('the complete rows of a cut list are the first rows of the list, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string(), fc.json({ maxDepth: 2 }))), fc.nat(), (rows, cut) => {
      const text = JSON.stringify(rows);
      const part = completeRows(text.slice(0, cut % (text.length + 1)));
      const read = part === undefined ? [] : (JSON.parse(part) as unknown[]);
      expect(rows.slice(0, read.length)).toEqual(read);
    }),
  );
});

it.each(['', '[', '[{"a":1', '{"a":[1],"b"', '<html>'])('completeRows finds no row in %j', (text) => {
  expect(completeRows(text)).toBeUndefined();
});
