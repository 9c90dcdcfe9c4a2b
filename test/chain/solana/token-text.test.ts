import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  descriptionFault,
  isWellKnown,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  textFault,
} from '../../../src/chain/solana/token-text.ts';

it('a name may be as long as the chain allows, in bytes of UTF-8', () => {
  expect([MAX_NAME_BYTES, MAX_SYMBOL_BYTES]).toEqual([32, 10]);
  expect(textFault('a'.repeat(32), MAX_NAME_BYTES)).toBeUndefined();
  expect(textFault('é'.repeat(16), MAX_NAME_BYTES)).toBeUndefined();
  expect(textFault(`${'é'.repeat(16)}a`, MAX_NAME_BYTES)).toBe('too_long');
  expect(textFault('🚀🚀ab', MAX_SYMBOL_BYTES)).toBeUndefined();
});

it('an accepted name is in NFC, without outer blanks and without invisible characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), (text) => {
      if (textFault(text, MAX_NAME_BYTES)) return;
      expect(text.normalize('NFC')).toBe(text);
      expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      expect(text.trim()).toBe(text);
      expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(MAX_NAME_BYTES);
    }),
    { numRuns: 5_000 },
  );
});

it('a description may be absent and may have lines, blanks and empty lines', () => {
  for (const text of ['', 'One\n\nTwo  blanks\n', ' indented'])
    expect(descriptionFault(text)).toBeUndefined();
});

it.each([
  ['one byte too long', 'a'.repeat(MAX_DESCRIPTION_BYTES + 1), 'too_long'],
  ['too long over many lines', 'abcdefghi\n'.repeat(101), 'too_long'],
  ['with a return', 'a\r\nb', 'hidden_character'],
  ['with a hidden letter in a later line', 'a\nb\u200b', 'hidden_character'],
  ['with half a pair', 'a\n\ud800', 'ill_formed'],
  ['decomposed', 'e\u0301', 'not_normalized'],
])('refuses a description %s', (_name, text, fault) => {
  expect(descriptionFault(text)).toBe(fault);
});

it.each([
  'USDC',
  'usdc',
  'ＵＳＤＣ',
  'Ｕsdc',
  'ᵁˢᴰᶜ',
  'Bitcoin',
  'ⓑⓣⓒ',
  'ABSR',
  'Wrapped\u00a0SOL',
  // One letter each of another script: Cyrillic, Greek, Armenian, Cherokee, Lisu, a small capital.
  'U\u0405DC',
  'B\u03a4C',
  'ET\u041d',
  'u\u0455d\u0441',
  '\u054dSDT',
  '\u13daO\u13de',
  'BON\ua4d7',
  '\u1d1b\u1d07\u1d1b\u029c\u1d07\u0280',
  'b\u0456tc\u043ein',
  ' SOL ',
])('recognizes %j as a well-known name', (text) => {
  expect(isWellKnown(text)).toBe(true);
});

it.each(['USDCC', 'US DC', 'Solana Cat', '', 'bit coin', 'кот', 'Мир', 'ΑΘΗΝΑ', 'S0L', 'DAL'])(
  'does not recognize %j as a well-known name',
  (text) => {
    expect(isWellKnown(text)).toBe(false);
  },
);
