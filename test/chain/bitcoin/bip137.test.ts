import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base64 } from '@scure/base';
import { sign } from 'bitcoinjs-message';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress } from '../../../src/chain/bitcoin/address.ts';
import { type Bip137Type, signBip137, verifyBip137 } from '../../../src/chain/bitcoin/bip137.ts';
import { decodeWif, deriveAddress } from '../../../src/chain/bitcoin/wif.ts';
import { cases } from '../../cases.ts';
import { askPeers, messages, secretKeys } from './peers.ts';

const TYPES: Bip137Type[] = ['p2pkh', 'p2sh-p2wpkh'];
const BOTH = { 'bip322-js': true, 'bitcoinjs-message': true };

/** The examples of bitcoinjs-message's README: one key and text, the headers of three kinds of address. */
const README = {
  key: decodeWif('L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1'),
  address: '1F3sAm6ZtwLAUnj7d38pGFxtP3RVEvtsbV',
  message: 'This is an example of a signed message.',
  p2pkh: 'H9L5yLFjti0QTHhPyFrZCT1V/MMnBtXKmoiKDZ78NDBjERki6ZTQZdSMCtkgoNmp17By9ItJr8o7ChX0XxY91nk=',
  'p2sh-p2wpkh': 'I9L5yLFjti0QTHhPyFrZCT1V/MMnBtXKmoiKDZ78NDBjERki6ZTQZdSMCtkgoNmp17By9ItJr8o7ChX0XxY91nk=',
};

describe.each(TYPES)('%s', (type) => {
  const key = { secretKey: new Uint8Array(32).fill(9), compressed: true };
  const address = deriveAddress(key.secretKey, type);
  const signed = (message: string) => signBip137(key, type, message);
  const verdict = (message: string, signature: string) =>
    verifyBip137(decodeAddress(address), message, signature);
  const tampered = (change: (bytes: Uint8Array) => void) => {
    const bytes = base64.decode(signed('text'));
    change(bytes);
    return verdict('text', base64.encode(bytes));
  };

  const withHeader = (header: number) => tampered((bytes) => void bytes.fill(header, 0, 1));

  it('signs the published example, byte for byte', () => {
    expect(signBip137(README.key, type, README.message)).toBe(README[type]);
    const readme = decodeAddress(deriveAddress(README.key.secretKey, type));
    expect(verifyBip137(readme, README.message, README[type])).toEqual({ verdict: 'valid' });
  });

  it('signs the same bytes as bitcoinjs-message, and both peers accept them', { tags: ['scaled'] }, () => {
    const options = type === 'p2sh-p2wpkh' ? { segwitType: 'p2sh(p2wpkh)' as const } : {};
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const ours = signBip137({ secretKey, compressed: true }, type, message);
        const theirs = sign(message, Buffer.from(secretKey), true, options).toString('base64');
        const at = deriveAddress(secretKey, type);
        expect(ours).toBe(theirs);
        expect(verifyBip137(decodeAddress(at), message, theirs)).toEqual({ verdict: 'valid' });
        expect(askPeers({ address: at, message, signature: ours })).toEqual(BOTH);
      }),
      { numRuns: cases(25, 8) },
    );
  });

  it("hashes the message's length in bytes correctly on both sides of every CompactSize boundary", () => {
    for (const length of [0, 1, 252, 253, 254, 65_535, 65_536]) {
      const message = 'é'.repeat(length >> 1) + 'a'.repeat(length & 1);
      expect(askPeers({ address, message, signature: signed(message) })['bitcoinjs-message']).toBe(true);
      expect(verdict(message, signed(message)).verdict).toBe('valid');
    }
  });

  it('accepts only one of all 256 header bytes: the one that was signed', () => {
    const own = base64.decode(signed('text'))[0] ?? 0;
    const headers = Array.from({ length: 256 }, (_, header) => header);
    const accepted = headers.filter((header) => withHeader(header).verdict === 'valid');
    expect(accepted).toEqual([own]);
  });

  it.each([
    [26, 'the header byte is out of range'],
    [43, 'the header byte is out of range'],
    [type === 'p2pkh' ? 35 : 34, 'the header byte belongs to another type of address'],
    [39, 'the header byte belongs to another type of address'],
  ])('refuses a signature with the header byte %i, and gives the reason', (header, reason) => {
    expect(withHeader(header)).toEqual({ verdict: 'invalid', reason });
  });

  it('refuses the high-S twin of a signature, although it recovers the same key', () => {
    const bytes = base64.decode(signed('text'));
    const { r, s } = secp256k1.Signature.fromBytes(bytes.subarray(1), 'compact');
    const twin = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('compact');
    const header = (((bytes[0] ?? 0) - 27) ^ 1) + 27; // the other y, as the negated S needs
    const signature = base64.encode(Uint8Array.of(header, ...twin));
    // Libraries that do not check S accept it, which proves that it is a twin.
    expect(askPeers({ address, message: 'text', signature })['bitcoinjs-message']).toBe(true);
    expect(verdict('text', signature).verdict).toBe('invalid');
  });

  it('refuses a signature after any one of its bits is flipped', () => {
    const bit = fc.integer({ min: 0, max: 65 * 8 - 1 });
    fc.assert(
      fc.property(bit, (at) => {
        const answer = tampered((bytes) => {
          bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7));
        });
        expect(answer.verdict).toBe('invalid');
      }),
    );
  });

  it('refuses a signature whose r or s is 0, or whose length is not 65 bytes', () => {
    for (const [from, to] of [
      [1, 33],
      [33, 65],
      [1, 65],
    ])
      expect(tampered((bytes) => bytes.fill(0, from, to)).verdict).toBe('invalid');
    for (const length of [0, 64, 66])
      expect(verdict('text', base64.encode(new Uint8Array(length).fill(31)))).toEqual({
        verdict: 'invalid',
        reason: 'the signature is not 65 bytes',
      });
  });

  it.each([
    ['characters outside base64', 'not-valid-base64!!!'],
    ['a space inside', signed('text').replace(/^(.{20})/, '$1 ')],
    ['base64url', signed('text').replaceAll('+', '-').replaceAll('/', '_')],
    ['stray bits in the last character', signed('text').replace(/.=$/, (end) => `${nextLetter(end)}=`)],
  ])('refuses a signature text with %s', (_name, signature) => {
    if (signature === signed('text')) throw new Error('the sample has nothing to replace');
    expect(verdict('text', signature).verdict).toBe('invalid');
  });
});

/** The letter after it in the alphabet differs in bits that 65 bytes do not use. */
function nextLetter(end: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return alphabet[alphabet.indexOf(end[0] ?? '') + 1] ?? '';
}

it('an uncompressed key signs for its P2PKH address with the headers 27 to 30, as bitcoinjs-message does', () => {
  fc.assert(
    fc.property(secretKeys, messages, (secretKey, message) => {
      const address = deriveAddress(secretKey, 'p2pkh', false);
      const signature = signBip137({ secretKey, compressed: false }, 'p2pkh', message);
      expect(signature).toBe(sign(message, Buffer.from(secretKey), false).toString('base64'));
      expect(base64.decode(signature)[0]).toBeLessThan(31);
      expect(verifyBip137(decodeAddress(address), message, signature).verdict).toBe('valid');
      expect(askPeers({ address, message, signature })).toEqual(BOTH);
    }),
    { numRuns: 10 },
  );
});

it('P2WPKH and P2TR addresses are not verified as BIP-137, because BIP-322 is their scheme', () => {
  const key = { secretKey: new Uint8Array(32).fill(3), compressed: true };
  const signature = signBip137(key, 'p2pkh', 'text');
  for (const type of ['p2wpkh', 'p2tr'] as const) {
    const address = decodeAddress(deriveAddress(key.secretKey, type));
    expect(verifyBip137(address, 'text', signature).verdict).toBe('unsupported');
  }
});

it('a message with half a surrogate pair is neither signed nor verified', () => {
  const key = { secretKey: new Uint8Array(32).fill(3), compressed: true };
  const address = decodeAddress(deriveAddress(key.secretKey, 'p2pkh'));
  expect(() => signBip137(key, 'p2pkh', 'a\ud83d')).toThrow(RangeError);
  // Encoders write U+FFFD for it, so this signature would otherwise fit both texts.
  const signature = signBip137(key, 'p2pkh', 'a\ufffd');
  expect(verifyBip137(address, 'a\ufffd', signature).verdict).toBe('valid');
  expect(verifyBip137(address, 'a\ud83d', signature).verdict).toBe('invalid');
});
