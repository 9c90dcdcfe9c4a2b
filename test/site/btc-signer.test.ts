/** The page's replacement of the library decides as the library does. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import * as library from '@scure/btc-signer';
import * as libraryUtils from '@scure/btc-signer/utils.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as own from '../../site/verify/btc-signer.ts';

const result = (run: () => unknown): unknown => {
  try {
    return { value: run() };
  } catch {
    return 'refused';
  }
};
/** Both return the same, or both refuse. */
const same = (ours: () => unknown, theirs: () => unknown): void =>
  expect(result(ours)).toEqual(result(theirs));

const bytes = (minLength: number, maxLength = minLength) => fc.uint8Array({ minLength, maxLength });
const secretKey = bytes(32).filter((key) => secp256k1.utils.isValidSecretKey(key));
const u32 = fc.nat({ max: 0xffffffff });
const script = bytes(0, 300);
const transaction = fc
  .record({
    version: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    inputs: fc.array(fc.record({ txid: bytes(32), index: u32, finalScriptSig: script, sequence: u32 }), {
      minLength: 1,
      maxLength: 3,
    }),
    outputs: fc.array(fc.record({ amount: fc.bigInt({ min: 0n, max: 2n ** 63n }), script }), {
      maxLength: 3,
    }),
    lockTime: u32,
    witnesses: fc.array(bytes(1, 80), { minLength: 1, maxLength: 3 }),
    segwitFlag: fc.boolean(),
  })
  .map(({ witnesses, ...tx }) =>
    tx.segwitFlag ? { ...tx, witnesses: tx.inputs.map(() => witnesses) } : { ...tx, witnesses: undefined },
  );
/** Text or bytes with one place changed, cut, or followed by more. */
const mutate = (text: Uint8Array, at: number, byte: number): Uint8Array[] => {
  const changed = Uint8Array.from(text);
  changed[at % (text.length || 1)] = byte;
  return [changed, text.slice(0, at % (text.length + 1)), Uint8Array.from([...text, byte])];
};

describe('the replacement of the library', () => {
  it('encodes and decodes transactions alike, whole or damaged', () => {
    fc.assert(
      fc.property(transaction, fc.nat(), fc.nat({ max: 255 }), (tx, at, byte) => {
        const wire = library.RawTx.encode(tx);
        expect(own.RawTx.encode(tx)).toEqual(wire);
        for (const read of [wire, ...mutate(wire, at, byte)])
          same(
            () => ({ witnesses: undefined, ...own.RawTx.decode(read) }),
            () => ({ witnesses: undefined, ...library.RawTx.decode(read) }),
          );
      }),
    );
  });

  it('encodes and decodes witnesses and lengths alike', () => {
    fc.assert(
      fc.property(fc.array(script, { maxLength: 4 }), fc.nat(), fc.nat({ max: 255 }), (items, at, byte) => {
        const wire = library.RawWitness.encode(items);
        expect(own.RawWitness.encode(items)).toEqual(wire);
        for (const read of [wire, ...mutate(wire, at, byte)])
          same(
            () => own.RawWitness.decode(read),
            () => library.RawWitness.decode(read),
          );
      }),
    );
    for (const size of [0n, 0xfcn, 0xfdn, 0xffffn, 0x10000n, 0xffffffffn, 2n ** 32n])
      expect(own.CompactSize.encode(size)).toEqual(library.CompactSize.encode(size));
  });

  it('encodes pushes alike, and decodes every script that only pushes alike', () => {
    fc.assert(
      fc.property(fc.array(bytes(1, 600), { maxLength: 3 }), (items) => {
        const wire = library.Script.encode(items);
        expect(own.Script.encode(items)).toEqual(wire);
        expect(own.Script.decode(wire)).toEqual(library.Script.decode(wire));
      }),
    );
  });

  it('reads and writes the same addresses of the same scripts', () => {
    const types = [
      ['pkh', 20],
      ['sh', 20],
      ['wpkh', 20],
      ['wsh', 32],
    ] as const;
    fc.assert(
      fc.property(secretKey, bytes(32), fc.nat(), fc.nat({ max: 255 }), (key, content, at, byte) => {
        const scripts = [
          ...types.map(([type, size]) => ({ type, hash: content.slice(0, size) })),
          { type: 'tr', pubkey: libraryUtils.pubSchnorr(key) } as const,
        ];
        for (const known of scripts) {
          const wire = library.OutScript.encode(known);
          expect(own.OutScript.encode(known)).toEqual(wire);
          const address = library.Address().encode(known);
          expect(own.Address().encode(known)).toBe(address);
          for (const read of [wire, ...mutate(wire, at, byte)]) {
            const theirs = result(() => library.OutScript.decode(read));
            const isKnown = theirs !== 'refused' && /"(pkh|sh|wpkh|wsh|tr)"/.test(JSON.stringify(theirs));
            expect(result(() => own.OutScript.decode(read))).toEqual(isKnown ? theirs : 'refused');
          }
          const letters = new TextEncoder().encode(address);
          const letter = 33 + (byte % 94);
          for (const text of [letters, ...mutate(letters, at, letter)].map((found) =>
            new TextDecoder().decode(found),
          ))
            for (const spelled of [text, text.toUpperCase()])
              same(
                () => own.Address().decode(spelled),
                () => library.Address().decode(spelled),
              );
        }
      }),
    );
  });

  it('makes the same scripts and taproot keys from a key', () => {
    fc.assert(
      fc.property(secretKey, (key) => {
        const compressed = secp256k1.getPublicKey(key, true);
        for (const publicKey of [compressed, secp256k1.getPublicKey(key, false), compressed.slice(1)]) {
          same(
            () => own.p2pkh(publicKey).script,
            () => library.p2pkh(publicKey).script,
          );
          same(
            () => own.p2sh(own.p2wpkh(publicKey)).script,
            () => library.p2sh(library.p2wpkh(publicKey)).script,
          );
        }
        const x = compressed.slice(1);
        expect(own.p2tr(x).script).toEqual(library.p2tr(x).script);
        expect(own.taprootTweakPrivKey(key)).toEqual(libraryUtils.taprootTweakPrivKey(key));
        expect(own.hash160(x)).toEqual(libraryUtils.hash160(x));
        expect(own.sha256x2(x, key)).toEqual(libraryUtils.sha256x2(x, key));
      }),
    );
  });
});
