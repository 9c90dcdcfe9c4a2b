import { secp256k1 } from '@noble/curves/secp256k1.js';
import { numberToBytesBE } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeWif, deriveAddress, findAddressType, wifControls } from '../../../src/chain/bitcoin/wif.ts';
import vectors from '../../fixtures/bip322-basic.json' with { type: 'json' };
import { eachRow } from '../../kit/scenes.ts';
import { secretKeys, wifOf } from './peers.ts';

const base58check = createBase58check(sha256);
const KEY_TYPES = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;

/** The example of the Bitcoin wiki's page on wallet import format: one secret key, its two spellings. */
const WIKI = {
  secretKey: '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
  uncompressed: '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
  uncompressedAddress: '1GAehh7TsJAHuUAeKZcXf5CnwuGuGgyX2S',
  compressed: 'KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617',
  compressedAddress: '1LoVGDgRs9hTfTNJNuXKSpywcbdvwRXpmK',
};

describe('decoding', () => {
  it('decodes the compressed and the uncompressed form of a key, and reports which form it decoded', () => {
    const compressed = decodeWif(WIKI.compressed);
    const uncompressed = decodeWif(WIKI.uncompressed);
    expect(hex.encode(compressed.secretKey)).toBe(WIKI.secretKey);
    expect(hex.encode(uncompressed.secretKey)).toBe(WIKI.secretKey);
    expect([compressed.compressed, uncompressed.compressed]).toEqual([true, false]);
  });

  const key = new Uint8Array(32).fill(5);
  const ORDER = secp256k1.Point.Fn.ORDER;
  it.each([
    ['nothing', ''],
    ['a word', 'secret'],
    ['a broken checksum', `${WIKI.compressed.slice(0, -1)}8`],
    ['a missing character', WIKI.compressed.slice(0, -1)],
    ['a line end after it', `${WIKI.compressed}\n`],
    ['a space before it', ` ${WIKI.compressed}`],
    ['a testnet key', wifOf({ secretKey: key, compressed: true }, 0xef)],
    ['an address', WIKI.compressedAddress],
    ['a suffix other than 1', base58check.encode(Uint8Array.of(0x80, ...key, 2))],
    ['31 bytes', base58check.encode(Uint8Array.of(0x80, ...key.subarray(1)))],
    ['34 bytes', base58check.encode(Uint8Array.of(0x80, ...key, 1, 1))],
    ['the key 0', wifOf({ secretKey: new Uint8Array(32), compressed: true })],
    ['the order of the group', wifOf({ secretKey: numberToBytesBE(ORDER, 32), compressed: true })],
    ['a key above the order', wifOf({ secretKey: new Uint8Array(32).fill(255), compressed: false })],
  ])('refuses %s as a WIF key', (_name, text) => {
    expect(() => decodeWif(text)).toThrow(RangeError);
    expect(wifControls(text, WIKI.compressedAddress)).toBe(false);
  });

  it('the error of a failed decoding never quotes the secret', () => {
    const almost = `${WIKI.compressed.slice(0, -1)}8`;
    expect(() => decodeWif(almost)).toThrow(/^not the WIF of a Bitcoin mainnet key$/);
  });
});

describe('the addresses of a key', () => {
  it('derives the published P2PKH address of the compressed and of the uncompressed key', () => {
    const { secretKey } = decodeWif(WIKI.compressed);
    expect(deriveAddress(secretKey, 'p2pkh')).toBe(WIKI.compressedAddress);
    expect(deriveAddress(secretKey, 'p2pkh', false)).toBe(WIKI.uncompressedAddress);
  });

  it.each(vectors.simple.filter(({ private_keys }) => private_keys.length === 1))(
    "derives the address of BIP-322's key for $type",
    ({ private_keys: [wif = ''], address, type }) => {
      expect(findAddressType(decodeWif(wif), address)).toBe(type);
      expect(wifControls(wif, address)).toBe(true);
    },
  );

  const TAPROOT = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
  /** Receiving addresses 0 of the mnemonic "abandon ... about": BIP-84 and BIP-86 publish key and address. */
  eachRow<[type: 'p2wpkh' | 'p2tr', wif: string, address: string]>(`
    p2wpkh | KyZpNDKnfs94vbrwhJneDi77V6jF64PWPF8x5cdJb8ifgg2DUc9d | bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu
    p2tr   | KyRv5iFPHG7iB5E4CqvMzH3WFJVhbfYK4VY7XAedd9Ys69mEsPLQ | ${TAPROOT}
  `)('%s: the derived address agrees with the BIP that defines the derivation', (type, wif, address) => {
    expect(deriveAddress(decodeWif(wif).secretKey, type)).toBe(address);
  });

  it('a compressed key controls four addresses, an uncompressed one only its P2PKH', () => {
    const compressed = decodeWif(WIKI.compressed);
    const uncompressed = decodeWif(WIKI.uncompressed);
    for (const type of KEY_TYPES) {
      const address = deriveAddress(compressed.secretKey, type);
      expect(findAddressType(compressed, address)).toBe(type);
      expect(findAddressType(uncompressed, address)).toBeNull();
    }
    expect(findAddressType(uncompressed, WIKI.uncompressedAddress)).toBe('p2pkh');
    expect(findAddressType(compressed, WIKI.uncompressedAddress)).toBeNull();
  });

  it('a key does not control the address of another key, of a script, or an invalid address', () => {
    fc.assert(
      fc.property(secretKeys, secretKeys, (mine, theirs) => {
        fc.pre(hex.encode(mine) !== hex.encode(theirs));
        const wif = wifOf({ secretKey: mine, compressed: true });
        for (const type of KEY_TYPES) {
          expect(wifControls(wif, deriveAddress(theirs, type))).toBe(false);
        }
      }),
      { numRuns: 10 },
    );
    const p2wsh = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
    expect(wifControls(WIKI.compressed, p2wsh)).toBe(false);
    expect(wifControls(WIKI.compressed, 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn')).toBe(false);
    expect(() => findAddressType(decodeWif(WIKI.compressed), 'nowhere')).toThrow(RangeError);
  });
});
