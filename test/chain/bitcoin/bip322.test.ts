import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { base64 } from '@scure/base';
import { RawWitness, Transaction } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { BIP322, Signer } from 'bip322-js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress, payToKey } from '../../../src/chain/bitcoin/address.ts';
import { signBip322Simple, verifyBip322 } from '../../../src/chain/bitcoin/bip322.ts';
import { decodeWif, deriveAddress, findAddressType } from '../../../src/chain/bitcoin/wif.ts';
import { cases } from '../../cases.ts';
import vectors from '../../fixtures/bip322-basic.json' with { type: 'json' };
import { askPeers, messages, secretKeys, wifOf } from './peers.ts';

const verdictOf = (address: string, message: string, signature: string) =>
  verifyBip322(decodeAddress(address), message, signature);

describe("BIP-322's own vectors", () => {
  const single = vectors.simple.filter(({ private_keys }) => private_keys.length === 1);

  it.each(single)(
    'every simple signature of "$message" by one key is valid, with its prefix or without',
    (vector) => {
      for (const signature of vector.bip322_signatures)
        for (const text of [signature, signature.replace(/^smp/, ''), signature.replace(/^(smp)?/, 'smp')])
          expect(verdictOf(vector.address, vector.message, text)).toEqual({ verdict: 'valid' });
    },
  );

  it.each(single)(
    'our signature of "$message" is one of those published',
    ({ private_keys: [wif = ''], ...vector }) => {
      const key = decodeWif(wif);
      const type = findAddressType(key, vector.address);
      if (type !== 'p2wpkh' && type !== 'p2tr') throw new Error(`unexpected ${type}`);
      const bare = signBip322Simple(key.secretKey, type, vector.message);
      const published = vector.bip322_signatures.map((signature) => signature.replace(/^smp/, ''));
      // Schnorr nonces are free, so only the ECDSA signatures must have the same bytes.
      if (type === 'p2wpkh') expect(published).toContain(bare);
      expect(verdictOf(vector.address, vector.message, bare)).toEqual({ verdict: 'valid' });
    },
  );

  it('reports the signature of a multisig address as unsupported', () => {
    const multisig = vectors.simple.filter(({ private_keys }) => private_keys.length > 1);
    expect(multisig.length).toBeGreaterThan(0);
    for (const { address, message, bip322_signatures } of multisig)
      for (const signature of bip322_signatures)
        expect(verdictOf(address, message, signature).verdict).toBe('unsupported');
  });

  it.each(vectors.error)(
    'refuses the published error vector: $description',
    ({ address, message, signature }) => {
      // P2WSH scripts and other forms are not evaluated, so they are neither accepted nor reported as invalid.
      const isEvaluated = decodeAddress(address).type !== 'p2wsh' && !/^(ful|pof)/.test(signature);
      expect(verdictOf(address, message, signature).verdict).toBe(isEvaluated ? 'invalid' : 'unsupported');
    },
  );
});

const key = { secretKey: new Uint8Array(32).fill(6), compressed: true };
const SIMPLE = ['p2wpkh', 'p2tr'] as const;

describe.each(SIMPLE)('simple, %s', (type) => {
  it('bip322-js accepts our signatures, and we accept the signatures of bip322-js', {
    tags: ['scaled'],
  }, () => {
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const mine = { secretKey, compressed: true };
        const address = deriveAddress(secretKey, type);
        const ours = signBip322Simple(secretKey, type, message);
        const theirs = String(Signer.sign(wifOf(mine), address, message));
        expect(askPeers({ address, message, signature: ours })).toEqual({ 'bip322-js': true });
        expect(verdictOf(address, message, theirs)).toEqual({ verdict: 'valid' });
        if (type === 'p2wpkh') expect(ours).toBe(theirs);
      }),
      { numRuns: cases(25, 8) },
    );
  });

  it('signing the same message twice gives the same bytes', () => {
    const sign = () => signBip322Simple(key.secretKey, type, 'text');
    expect(sign()).toBe(sign());
  });
});

it.each(['p2pkh', 'p2sh-p2wpkh'] as const)('refuses a simple signature for %s', (type) => {
  const witness = signBip322Simple(key.secretKey, 'p2wpkh', 'text');
  for (const signature of [witness, `smp${witness}`])
    expect(verdictOf(deriveAddress(key.secretKey, type), 'text', signature)).toEqual({
      verdict: 'invalid',
      reason: 'this type of address has no simple BIP-322 signature',
    });
});

it.each(['ful', 'pof'])('reports a signature with the prefix %s as unsupported', (prefix) => {
  const signature = `${prefix}${signBip322Simple(key.secretKey, 'p2wpkh', 'text')}`;
  expect(verdictOf(deriveAddress(key.secretKey, 'p2wpkh'), 'text', signature)).toEqual({
    verdict: 'unsupported',
    reason: 'only the simple form of BIP-322 is evaluated',
  });
});

it.each(SIMPLE)("refuses another key's true signature for a %s address", (type) => {
  const forger = new Uint8Array(32).fill(13);
  const { scriptPubKey } = decodeAddress(deriveAddress(key.secretKey, type));
  const tx = new Transaction({ version: 0, allowUnknownOutputs: true, allowUnknownInputs: true });
  const txid = BIP322.buildToSpendTx('text', Buffer.from(scriptPubKey)).getId();
  tx.addInput({ txid, index: 0, sequence: 0 });
  tx.addOutput({ script: Uint8Array.of(0x6a), amount: 0n });
  const publicKey = secp256k1.getPublicKey(forger);
  const code = payToKey(publicKey, 'p2pkh');
  const der = secp256k1.sign(tx.preimageWitnessV0(0, code, 1, 0n), forger, { prehash: false, format: 'der' });
  const digest = tx.preimageWitnessV1(0, [scriptPubKey], 0, [0n]);
  const taproot = () => [schnorr.sign(digest, taprootTweakPrivKey(forger))];
  const witness = RawWitness.encode(type === 'p2tr' ? taproot() : [Uint8Array.of(...der, 1), publicKey]);
  const verdict = verdictOf(deriveAddress(key.secretKey, type), 'text', base64.encode(witness));
  const reason = type === 'p2tr' ? 'the signature does not match' : 'the key belongs to another address';
  expect(verdict).toEqual({ verdict: 'invalid', reason });
});

describe('the required rules for scripts', () => {
  const address = deriveAddress(key.secretKey, 'p2wpkh');
  const own = base64.decode(signBip322Simple(key.secretKey, 'p2wpkh', 'text'));
  const [signature, publicKey] = RawWitness.decode(own);
  if (!signature || !publicKey) throw new Error('a P2WPKH witness has two items');
  const der = signature.subarray(0, -1);
  const { r, s } = secp256k1.Signature.fromBytes(der, 'der');
  const highS = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der');
  const verdict = (...witness: Uint8Array[]) =>
    verdictOf(address, 'text', `smp${base64.encode(RawWitness.encode(witness))}`);
  const otherKey = secp256k1.getPublicKey(new Uint8Array(32).fill(1));

  it('a simple signature with an unchanged witness is valid', () => {
    expect(verdict(signature, publicKey)).toEqual({ verdict: 'valid' });
  });

  it.each([
    ['LOW_S: the high-S twin', [Uint8Array.of(...highS, 1), publicKey]],
    ['SIGHASH_NONE', [Uint8Array.of(...der, 2), publicKey]],
    ['SIGHASH_SINGLE', [Uint8Array.of(...der, 3), publicKey]],
    ['SIGHASH_ALL | ANYONECANPAY', [Uint8Array.of(...der, 0x81), publicKey]],
    ['no sighash byte', [der, publicKey]],
    [
      'STRICTENC: a byte in the DER',
      [Uint8Array.of(0x30, der.length - 1, ...der.subarray(2), 0, 1), publicKey],
    ],
    ['STRICTENC: a long-form length', [Uint8Array.of(0x30, 0x81, ...der.subarray(1), 1), publicKey]],
    ['a compact signature', [secp256k1.Signature.fromBytes(der, 'der').toBytes('compact'), publicKey]],
    ['an empty signature', [new Uint8Array(), publicKey]],
    ['no items', []],
    ['the signature alone', [signature]],
    ['CLEANSTACK: one item too many', [signature, publicKey, publicKey]],
    ['the two items swapped', [publicKey, signature]],
    ['the key of another', [signature, otherKey]],
    ['the uncompressed key', [signature, secp256k1.getPublicKey(key.secretKey, false)]],
    ['the other y of the key', [signature, Uint8Array.of((publicKey[0] ?? 0) ^ 1, ...publicKey.subarray(1))]],
  ])('P2WPKH: %s is invalid', (_name, witness) => {
    expect(verdict(...witness).verdict).toBe('invalid');
  });

  it.each([
    ['a byte after the witness', (bytes: Uint8Array) => Uint8Array.of(...bytes, 0)],
    ['a byte missing', (bytes: Uint8Array) => bytes.subarray(0, -1)],
    ['a count in a longer form', (bytes: Uint8Array) => Uint8Array.of(0xfd, 2, 0, ...bytes.subarray(1))],
  ])('a witness is invalid with %s', (_name, change) => {
    const bytes = change(RawWitness.encode([signature, publicKey]));
    expect(verdictOf(address, 'text', `smp${base64.encode(bytes)}`).verdict).toBe('invalid');
  });

  describe('P2TR', () => {
    const at = deriveAddress(key.secretKey, 'p2tr');
    const [signed] = RawWitness.decode(base64.decode(signBip322Simple(key.secretKey, 'p2tr', 'text')));
    if (!signed) throw new Error('a key path witness has one item');
    const verdictWith = (...items: Uint8Array[]) =>
      verdictOf(at, 'text', `smp${base64.encode(RawWitness.encode(items))}`).verdict;

    it('P2TR: the 65-byte signature over SIGHASH_ALL that bip322-js makes is valid', () => {
      const theirs = String(Signer.sign(wifOf(key), at, 'text'));
      expect(RawWitness.decode(base64.decode(theirs))[0]).toHaveLength(65);
      expect(verdictOf(at, 'text', theirs)).toEqual({ verdict: 'valid' });
    });

    it.each([
      ['SIGHASH_ALL put after a default signature', Uint8Array.of(...signed, 1)],
      ['SIGHASH_DEFAULT spelled out (BIP-341)', Uint8Array.of(...signed, 0)],
      ['SIGHASH_SINGLE', Uint8Array.of(...signed, 3)],
      ['63 bytes', signed.subarray(1)],
      ['66 bytes', Uint8Array.of(...signed, 1, 1)],
      ['nothing', new Uint8Array()],
      ['64 zeros', new Uint8Array(64)],
    ])('P2TR: %s is invalid', (_name, item) => {
      expect(verdictWith(item)).toBe('invalid');
    });

    it('P2TR: an empty stack is invalid; an annex or a script path is unsupported', () => {
      expect(verdictWith()).toBe('invalid');
      expect(verdictWith(signed, Uint8Array.of(0x50))).toBe('unsupported');
      expect(verdictWith(signed, Uint8Array.of(0x51), new Uint8Array(33).fill(0xc0))).toBe('unsupported');
    });
  });
});
