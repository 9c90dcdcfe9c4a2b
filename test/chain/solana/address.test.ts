import { generateKeyPairSync } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBase58,
  encodeBase58,
  isAddress,
  isOnCurve,
  isSignature,
} from '../../../src/chain/solana/address.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SYSTEM = '11111111111111111111111111111111';
/** Relay's vault and state: PDA("vault") and PDA("relay_depository"), so off the curve by construction. */
const PDAS = ['7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ', 'Dodg2HifwU8rmaVVyMyUZDGTRbqAJTyVYxXPwcbNpBKc'];

describe('base58 of an exact length', () => {
  it('base58 decodes what it has encoded, for 32 and 64 bytes', () => {
    for (const length of [32, 64]) {
      fc.assert(
        fc.property(fc.uint8Array({ minLength: length, maxLength: length }), (bytes) => {
          expect(decodeBase58(encodeBase58(bytes), length)).toEqual(bytes);
        }),
      );
    }
  });

  it('every base58 string decodes to at most one length, so each key has exactly one encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 70 }), (bytes) => {
        const text = base58.encode(bytes);
        expect(isAddress(text)).toBe(bytes.length === 32);
        expect(isSignature(text)).toBe(bytes.length === 64);
      }),
    );
  });

  it('a text with a character outside base58 is neither an address nor a signature', () => {
    const other = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 1 })
      .filter((one) => !/[1-9A-HJ-NP-Za-km-z]/.test(one));
    const odd = fc.oneof(other, fc.constantFrom('0', 'O', 'I', 'l', ' ', '\n', '\u0415'));
    fc.assert(
      fc.property(odd, fc.nat(USDC.length), fc.constantFrom(0, 1), (character, at, replaced) => {
        const text = USDC.slice(0, at) + character + USDC.slice(at + replaced);
        expect([isAddress(text), isOnCurve(text), isSignature(text)]).toEqual([false, false, false]);
      }),
    );
    for (const text of ['', '1'.repeat(10_000)])
      expect([isAddress(text), isOnCurve(text)]).toEqual([false, false]);
  });

  it('an additional leading 1 changes the decoded length of a base58 string', () => {
    expect(isAddress(USDC)).toBe(true);
    expect(isAddress(`1${USDC}`)).toBe(false);
    expect(isAddress(SYSTEM)).toBe(true);
    expect(isAddress(`1${SYSTEM}`)).toBe(false);
    expect(isAddress(SYSTEM.slice(1))).toBe(false);
  });
});

it("isOnCurve is true for every wallet's key", () => {
  for (let at = 0; at < 20; at++) {
    const { publicKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    expect(isOnCurve(base58.encode(raw))).toBe(true);
  }
});

it.each(PDAS)('isOnCurve is false for the program-derived address %s', (address) => {
  expect(isAddress(address)).toBe(true);
  expect(isOnCurve(address)).toBe(false);
});

it('isOnCurve is false for a coordinate that is not reduced', () => {
  // y = p + 1, which a lax decoder reads as y = 1.
  const bytes = new Uint8Array(32).fill(0xff);
  bytes[0] = 0xee;
  bytes[31] = 0x7f;
  expect(isOnCurve(base58.encode(bytes))).toBe(false);
});
