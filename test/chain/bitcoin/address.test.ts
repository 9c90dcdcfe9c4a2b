import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { bech32, bech32m, hex } from '@scure/base';
import { Address } from 'bip322-js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeAddress,
  encodeAddress,
  isBitcoinAddress,
  type KeyAddressType,
  payToKey,
} from '../../../src/chain/bitcoin/address.ts';
import { rows } from '../../kit/scenes.ts';
import { secretKeys } from './peers.ts';

const KEY_TYPES: KeyAddressType[] = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'];

/** Segwit rows are BIP-173's and BIP-350's own vectors. */
const KNOWN = rows<[string, string, string]>(`
    "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"                           | p2pkh  | "76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac"
    "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"                           | p2sh   | a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87
    bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4                     | p2wpkh | "0014751e76e8199196d454941c45d1b3a323f1433bd6"
    bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3 | p2wsh  | "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"
    bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0 | p2tr   | "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
  `);

describe.each(KNOWN)('%s', (address, type, script) => {
  it(`the address is ${type} and pays its known script`, () => {
    const decoded = decodeAddress(address);
    expect(decoded.type).toBe(type);
    expect(hex.encode(decoded.scriptPubKey)).toBe(script);
  });
});

it('a bech32 address in capitals, as in QR codes, is the same address', () => {
  const lower = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  expect(decodeAddress(lower.toUpperCase())).toEqual(decodeAddress(lower));
});

const V0_PROGRAM = hexToBytes('751e76e8199196d454941c45d1b3a323f1433bd6');

it.each([
  ['nothing', ''],
  ['a word', 'bitcoin'],
  ['a Solana address', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'],
  ['a testnet P2PKH address', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['a testnet bech32 address', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['a WIF', 'L3VFeEujGtevx9w18HD1fhRbCH67Az2dpCymeRE1SoPK6XQtaN2k'],
  ['a base58 address with one character changed', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3'],
  ['a base58 address with one character missing', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN'],
  ['an address with a space before it', ' 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
  ['an address with a line end after it', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4\n'],
  ['mixed case (BIP-173)', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4'],
  ['version 0 with the bech32m checksum (BIP-350)', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
  ['version 1 with the bech32 checksum', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
  ['a pay-to-anchor output (BIP-433)', 'bc1pfeessrawgf'],
  ['a witness version from the future', bech32m.encode('bc', [2, ...bech32m.toWords(V0_PROGRAM)])],
  ['a prefix of another coin', bech32.encode('ltc', [0, ...bech32.toWords(V0_PROGRAM)])],
])('%s is not a mainnet address', (_name, text) => {
  expect(isBitcoinAddress(text)).toBe(false);
  expect(() => decodeAddress(text)).toThrow(new RangeError('not a Bitcoin mainnet address'));
});

it('a taproot address whose key is off the curve is refused, because nobody can spend its coins', () => {
  const offCurve = new Uint8Array(32); // x = 0 is not a point: 7 has no square root mod p
  const address = bech32m.encode('bc', [1, ...bech32m.toWords(offCurve)]);
  expect(address).toMatch(/^bc1p/);
  expect(isBitcoinAddress(address)).toBe(false);
  expect(encodeAddress(Uint8Array.of(0x51, 0x20, ...offCurve))).toBeNull();
});

it.each([
  ['OP_RETURN data', '6a0548656c6c6f'],
  ['a bare public key', '210279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ac'],
  ['an empty script', ''],
  ['a truncated push', '76a91477bff20c'],
  ['P2PKH with an over-long push', '76a94c1477bff20c60e522dfaa3350c39b030a5d004e839a88ac'],
  ['P2WPKH with a byte after it', '0014751e76e8199196d454941c45d1b3a323f1433bd600'],
])('%s has no address', (_name, script) => {
  expect(encodeAddress(hexToBytes(script))).toBeNull();
});

it('an address and its script determine each other, for every hash', () => {
  const scripts = fc.oneof(
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((h) => [0x76, 0xa9, 0x14, ...h, 0x88, 0xac]),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((h) => [0xa9, 0x14, ...h, 0x87]),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((h) => [0x00, 0x14, ...h]),
    fc.uint8Array({ minLength: 32, maxLength: 32 }).map((h) => [0x00, 0x20, ...h]),
  );
  fc.assert(
    fc.property(scripts, (script) => {
      const address = encodeAddress(Uint8Array.from(script));
      expect(address).not.toBeNull();
      expect([...decodeAddress(address ?? '').scriptPubKey]).toEqual(script);
    }),
  );
});

it.each(KEY_TYPES)('%s: the script of a random key agrees with bip322-js in both directions', (type) => {
  fc.assert(
    fc.property(secretKeys, (secretKey) => {
      const publicKey = secp256k1.getPublicKey(secretKey);
      const peer = Address.convertPubKeyIntoAddress(Buffer.from(publicKey), type).mainnet;
      const script = payToKey(publicKey, type);
      expect(encodeAddress(script)).toBe(peer);
      expect(hex.encode(decodeAddress(peer).scriptPubKey)).toBe(hex.encode(script));
      expect(hex.encode(Address.convertAdressToScriptPubkey(peer))).toBe(hex.encode(script));
    }),
    { numRuns: 25 },
  );
});

it.each(['p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const)(
  'an uncompressed key has no %s script (BIP-143)',
  (type) => {
    const uncompressed = secp256k1.getPublicKey(new Uint8Array(32).fill(1), false);
    expect(() => payToKey(uncompressed, type)).toThrow();
  },
);
