import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { base64, hex } from '@scure/base';
import { RawTx, RawWitness, Script } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { BIP322, Signer } from 'bip322-js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress, type KeyAddressType, payToKey } from '../../../src/chain/bitcoin/address.ts';
import {
  type Bip322SignInput,
  bip322Hash,
  ecdsaHash,
  NO_TERMS,
  signBip322Full,
  signBip322Simple,
  taprootHash,
  toSign,
  toSignTxid,
  toSpendTxid,
  verifyBip322,
  withSpend,
} from '../../../src/chain/bitcoin/bip322.ts';
import { decodeWif, deriveAddress, findAddressType } from '../../../src/chain/bitcoin/wif.ts';
import vectors from '../../fixtures/bip322-basic.json' with { type: 'json' };
import { askPeers, messages, nodeAcceptsSpend, secretKeys, wifOf } from './peers.ts';

const verdictOf = (address: string, message: string, signature: string) =>
  verifyBip322(decodeAddress(address), message, signature);

describe("BIP-322's own vectors", () => {
  it.each(vectors.tx_hashes)('hashes and txids of "$message"', (vector) => {
    const { scriptPubKey } = decodeAddress(vector.address);
    expect(hex.encode(bip322Hash(vector.message))).toBe(vector.message_hash);
    expect(hex.encode(toSpendTxid(vector.message, scriptPubKey))).toBe(vector.to_spend_tx_hash);
    expect(hex.encode(toSignTxid(vector.message, scriptPubKey))).toBe(vector.to_sign_tx_hash);
  });

  const single = vectors.simple.filter(({ private_keys }) => private_keys.length === 1);

  it.each(single)(
    'every simple signature of "$message" by one key is valid, with its prefix or without',
    (vector) => {
      for (const signature of vector.bip322_signatures) {
        expect(verdictOf(vector.address, vector.message, signature)).toEqual({ verdict: 'valid' });
        const bare = signature.replace(/^smp/, '');
        expect(verdictOf(vector.address, vector.message, bare)).toEqual({ verdict: 'valid' });
        expect(verdictOf(vector.address, vector.message, `smp${bare}`)).toEqual({ verdict: 'valid' });
      }
    },
  );

  it.each(single)(
    'our signature of "$message" is one of those published',
    ({ private_keys: [wif = ''], ...vector }) => {
      const key = decodeWif(wif);
      const type = findAddressType(key, vector.address);
      if (type !== 'p2wpkh' && type !== 'p2tr') throw new Error(`unexpected ${type}`);
      const bare = signBip322Simple({ key, type, message: vector.message });
      const published = vector.bip322_signatures.map((signature) => signature.replace(/^smp/, ''));
      // Schnorr nonces are free, so only the ECDSA signatures must have the same bytes.
      if (type === 'p2wpkh') expect(published).toContain(bare);
      expect(verdictOf(vector.address, vector.message, bare)).toEqual({ verdict: 'valid' });
    },
  );

  it('reports multisig as unsupported', () => {
    const multisig = vectors.simple.filter(({ private_keys }) => private_keys.length > 1);
    expect(multisig.length).toBeGreaterThan(0);
    for (const { address, message, bip322_signatures } of multisig) {
      for (const signature of bip322_signatures) {
        expect(verdictOf(address, message, signature).verdict).toBe('unsupported');
      }
    }
  });

  it.each(vectors.error)('error vector: $description', ({ address, message, signature }) => {
    // P2WSH scripts are not evaluated, so a wrong one is not accepted, but not reported as invalid either.
    const p2wsh = decodeAddress(address).type === 'p2wsh';
    expect(verdictOf(address, message, signature).verdict).toBe(p2wsh ? 'unsupported' : 'invalid');
  });

  /** From the BIP's generated vectors. All of them sign with version 2, lock time 2016 and sequence 2016. */
  const FULL = [
    {
      type: 'p2pkh',
      address: '13vU5PUSuArDXJdCWZvUFEbgJ2wcmtSJWn',
      message: 'MOISC5NCQ42ADH2SUXLELUJOWH',
      signature:
        'fulAgAAAAGn3Z6t/gsHNyHdgZTOVro0Hej+qbd/ilU1ACalKoHX3gAAAABqRzBEAiB+8t/tm8Jm6zYv9JGZZVlAUjmqg7ZglIA39U+bim8EKQIgDv3E5cHOagN+xYgN3ZQjTYlAJp/WyslwJWuFP1TmM3IBIQJcPK2h9SY+Ki1oussvHnMdFAhJgsYBFPl+rNcMv9P1ROAHAAABAAAAAAAAAAABauAHAAA=',
    },
    {
      type: 'p2wpkh',
      address: 'bc1qrqtlzcq86850yzgsyq9sssawx2qxlx5yq3xpkd',
      message: 'KLE5MMJBTNF4AVZXIO3GIL5UWF',
      signature:
        'fulAgAAAAABAUrfzHHOLAKmgCIFSTT3krp+cQxj1BDPBN4GBg3tRmFXAAAAAADgBwAAAQAAAAAAAAAAAWoCSDBFAiEAjYj85zyhQKa9DbMO0reDwdhkNwKJkF3q2qFcijXDgMUCIAaQ75s3fwqrCeYIUJugLvhxZFxQIVquGN90vIKCW3QLASEDMurnDzvc0zABUwVwCADfGXoDx/M3SQnYt7e3IHDoU3PgBwAA',
    },
    {
      type: 'p2tr',
      address: 'bc1pve87s3l2levjmhetzr2f9xvep3y266xty0hnefmyv8tkxc3e4qssll2kdu',
      message: 'XQMVC3YR6AOGZIHLSUQ2NSSBI2',
      signature:
        'fulAgAAAAABAROFPNY6Zt8hFK0YQq5Wb6wk/CnUYEPtQ0HTHDyzNROrAAAAAADgBwAAAQAAAAAAAAAAAWoBQNRdLOo5XZY0SBqAsLZNr/z3Bqrmo3OxVn7e4tD/OOD4H9U/L1unq5Nmdz+S1w7SHtt46bFwnd8xnRVan8BofFfgBwAA',
    },
    {
      type: 'p2sh-p2wpkh',
      address: '32Utb7Seg6EXq7UesMNJXhQ1gdohYNyzQ9',
      message: 'EMYGZHEY3LIANYKCR7XJF3NMFQ',
      signature:
        'fulAgAAAAABAe5xLNMlYQH4OGjJ3h4lqQaVp0Cic7mwxkvyWswqFMXeAAAAABcWABSy/hpDH/KLAi4x25Tmb2UaO1xtWeAHAAABAAAAAAAAAAABagJHMEQCIDEleqb0n1R5c21TGkWRXNFae98wbwI0QOyh/YmRuQX1AiAcv1MhyTzPOVgZ1VIwuu0tDxrVJUHK8lhOUOXpsZnGwwEhAsjeDEoWX8hvEC8A/692yGQsPh6JBO8Zf4aITEQsKAcJ4AcAAA==',
    },
  ];

  it.each(FULL)(
    'the full $type signature verifies, and its lock is reported',
    ({ address, message, signature }) => {
      expect(verdictOf(address, message, signature)).toEqual({
        verdict: 'unsupported',
        reason: 'valid at time 2016 and age 2016 only',
      });
    },
  );

  it.each(FULL)('the full $type signature is invalid for another message', ({ address, signature }) => {
    expect(verdictOf(address, 'another message', signature).verdict).toBe('invalid');
  });

  it.each(FULL)('the full $type signature is invalid without its lock, which it covers', (vector) => {
    const tx = RawTx.decode(base64.decode(vector.signature.slice(3)));
    const unlocked = RawTx.encode({ ...tx, lockTime: 0 });
    const verdict = verdictOf(vector.address, vector.message, `ful${base64.encode(unlocked)}`);
    expect(verdict).toEqual({ verdict: 'invalid', reason: 'the signature does not match' });
  });

  /** From the BIP's generated vectors: scripts that need more than a key. */
  it.each([
    [
      'a P2SH multisig',
      '3Nye4j1GUFqCEBR3do2KEFZAs9oLe8NZ6X',
      '7OKFLKRXSP6J42VQOMSG7MVXEP',
      'fulAgAAAAEvAyd4zsoz8gcVU5H19GLYokTAN5PxuKCBlEPjODJ86gAAAADaAEcwRAIgT6rcfxgCmG6b3DpzNV6UG0jiCQGclG9sfiSpV45HDXMCIGgtqjFBuJ7rbi+cgnG0TZiKZaxMk0KI+gQd0pHJfEYCAUgwRQIhANCvCLjGMuZMzH+nCEkNhWhR45T6QRYMLin8utpuF9r1AiBTjG2NLjkre7ec+HPg8UUhK1jL1vgq7YKjq5ROv+h07AFHUiEDhKjcb/Pv1/7AYutzOXwgec08wwD/VwiPm58Lc0xjohghAhycjpwdBuP33orQXAH1CAsrgSkuspxM2+FPQ4OCVhQWUq7gBwAAAQAAAAAAAAAAAWrgBwAA',
    ],
    [
      'a taproot script path with a time lock',
      'bc1p6vffkx7vcyezrjq7pg9qqdjv7vmtanfhk8ukwsn4syejwmarmhxqp0rw5x',
      'AY2VOQOXYI5CN2EHZKLOX7ZI37',
      'fulAgAAAAABAaza7/ukfX9ZdxCUvK7CPJgADDdPdF7ikXVKWctd5EHrAAAAAADgBwAAAQAAAAAAAAAAAWoEQPvuT0enYGwsab2lsPZU0U3OcRkGng+o/PAt4QU2lc8hG7lTUmflkt0To+eoipv2vptf0TlGOBCsKU5xE3kXKcMAS2MgrYfXhOkh0CvwuJpB+O3tal2ECfO0v7k1/A4PTlGcQiBnAuAHsnUgJjLn4tl5ytgC8CNTyITXmg4rx9ctxPedwRMPEBvfoUBorCHBJjLn4tl5ytgC8CNTyITXmg4rx9ctxPedwRMPEBvfoUDgBwAA',
    ],
    [
      'a P2WSH time lock',
      'bc1qhqcmw7ud03vqde3pe6hzajaylhucmlatrkcztzpnk8vpgvhg9dzq5ydark',
      'MGKMA2MJUBDHT55J7MHOLM7UPE',
      'fulAgAAAAABAYYJeOOOi3c33O+dholAwiF51Amy/E0qIf3ew2vFtDtTAAAAAADgBwAAAQAAAAAAAAAAAWoDSDBFAiEA64MwD2HkJjPLPAc2u5ia6ZdwCVO3okzVqGPEXnuJGZQCIE27BGOBQTdwJ2M/Wdsm6nFVunqaj+xZBSG/g/64FMbtAQBNYyEDrYfXhOkh0CvwuJpB+O3tal2ECfO0v7k1/A4PTlGcQiBnAuAHsnUhA4ZGGvodKgqeg/ZYffm6miaKaG57VkCSjmmRprCa+ulyaKzgBwAA',
    ],
  ])('%s answers unsupported', (_name, address, message, signature) => {
    expect(verdictOf(address, message, signature).verdict).toBe('unsupported');
  });
});

const key = { secretKey: new Uint8Array(32).fill(6), compressed: true };
const SIMPLE: KeyAddressType[] = ['p2wpkh', 'p2tr'];
const ALL: KeyAddressType[] = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'];

describe.each(SIMPLE)('simple, %s', (type) => {
  it('bip322-js accepts our signatures and we accept its own', () => {
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const mine = { secretKey, compressed: true };
        const address = deriveAddress(secretKey, type);
        const ours = signBip322Simple({ key: mine, type, message });
        const theirs = String(Signer.sign(wifOf(mine), address, message));
        expect(askPeers({ address, message, signature: ours })).toEqual({ 'bip322-js': true });
        expect(verdictOf(address, message, theirs)).toEqual({ verdict: 'valid' });
        if (type === 'p2wpkh') expect(ours).toBe(theirs);
      }),
      { numRuns: 25 },
    );
  });

  it('is deterministic', () => {
    const sign = () => signBip322Simple({ key, type, message: 'text' });
    expect(sign()).toBe(sign());
  });
});

it('different randomness makes a different taproot signature that is also valid', () => {
  const input = { key, type: 'p2tr', message: 'text' } as const;
  const plain = signBip322Simple(input);
  const random = signBip322Simple({ ...input, auxRand: new Uint8Array(32).fill(1) });
  expect(random).not.toBe(plain);
  const address = deriveAddress(key.secretKey, 'p2tr');
  expect(verdictOf(address, 'text', random)).toEqual({ verdict: 'valid' });
  expect(askPeers({ address, message: 'text', signature: random })).toEqual({ 'bip322-js': true });
});

it.each(['p2pkh', 'p2sh-p2wpkh'] as const)('%s has no simple form, to sign or to read', (type) => {
  expect(() => signBip322Simple({ key, type, message: 'text' })).toThrow(RangeError);
  const witness = base64.encode(RawWitness.encode(witnessOf(signBip322Full({ key, type, message: 'text' }))));
  expect(verdictOf(deriveAddress(key.secretKey, type), 'text', `smp${witness}`).verdict).toBe('invalid');
  expect(verdictOf(deriveAddress(key.secretKey, type), 'text', witness).verdict).toBe('invalid');
});

const rawOf = (signature: string) => RawTx.decode(base64.decode(signature.slice(3)));
const witnessOf = (signature: string): Uint8Array[] => rawOf(signature).witnesses?.[0] ?? [];

describe.each(ALL)('full, %s', (type) => {
  it('is valid for its address and message', () => {
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const signature = signBip322Full({ key: { secretKey, compressed: true }, type, message });
        expect(verdictOf(deriveAddress(secretKey, type), message, signature)).toEqual({ verdict: 'valid' });
        expect(signature.slice(0, 3)).toBe('ful');
      }),
      { numRuns: 10 },
    );
  });

  it('spends the to_spend transaction that bip322-js builds', () => {
    const { scriptPubKey } = decodeAddress(deriveAddress(key.secretKey, type));
    const theirs = BIP322.buildToSpendTx('text', Buffer.from(scriptPubKey)).getId();
    expect(hex.encode(toSpendTxid('text', scriptPubKey))).toBe(theirs);
    const [input] = rawOf(signBip322Full({ key, type, message: 'text' })).inputs;
    expect(hex.encode(input?.txid ?? new Uint8Array())).toBe(theirs);
  });
});

it.each(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh'] as const)(
  'full, %s: a full node runs the script and accepts',
  (type) => {
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const signature = signBip322Full({ key: { secretKey, compressed: true }, type, message });
        const { scriptPubKey } = decodeAddress(deriveAddress(secretKey, type));
        const raw = base64.decode(signature.slice(3));
        expect(nodeAcceptsSpend(raw, scriptPubKey)).toBe(true);
        expect(nodeAcceptsSpend(raw, decodeAddress(deriveAddress(key.secretKey, type)).scriptPubKey)).toBe(
          false,
        );
      }),
      { numRuns: 10 },
    );
  },
);

it.each(['p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const)(
  'full, %s: agrees with bip322-js on the witness, both ways',
  (type) => {
    fc.assert(
      fc.property(secretKeys, messages, (secretKey, message) => {
        const mine = { secretKey, compressed: true };
        const address = deriveAddress(secretKey, type);
        const ours = base64.encode(
          RawWitness.encode(witnessOf(signBip322Full({ key: mine, type, message }))),
        );
        expect(askPeers({ address, message, signature: ours })['bip322-js']).toBe(true);

        const witness = RawWitness.decode(base64.decode(String(Signer.sign(wifOf(mine), address, message))));
        const program = payToKey(secp256k1.getPublicKey(secretKey), 'p2wpkh');
        const scriptSig = type === 'p2sh-p2wpkh' ? Script.encode([program]) : new Uint8Array();
        expect(
          verdictOf(address, message, fullOf({ type, key: mine, message }, { scriptSig, witness })),
        ).toEqual({
          verdict: 'valid',
        });
      }),
      { numRuns: 10 },
    );
  },
);

it('an uncompressed key signs in full for its P2PKH address, and a full node accepts', () => {
  const old = { ...key, compressed: false };
  const signature = signBip322Full({ key: old, type: 'p2pkh', message: 'text' });
  const address = deriveAddress(key.secretKey, 'p2pkh', false);
  expect(verdictOf(address, 'text', signature)).toEqual({ verdict: 'valid' });
  expect(nodeAcceptsSpend(base64.decode(signature.slice(3)), decodeAddress(address).scriptPubKey)).toBe(true);
});

type SpendOf = { scriptSig: Uint8Array; witness: Uint8Array[] };

/** `ful` of the input's own to_sign with any spend put in. */
function fullOf({ key, type, message }: Bip322SignInput, spend: SpendOf): string {
  const { scriptPubKey } = decodeAddress(deriveAddress(key.secretKey, type));
  return `ful${base64.encode(RawTx.encode(withSpend(toSign(message, scriptPubKey, NO_TERMS), spend)))}`;
}

describe('the fields of to_sign', () => {
  const address = deriveAddress(key.secretKey, 'p2wpkh');
  const signed = rawOf(signBip322Full({ key, type: 'p2wpkh', message: 'text' }));
  const [input] = signed.inputs;
  const [output] = signed.outputs;
  if (!input || !output) throw new Error('to_sign has one input and one output');
  const changed = (fields: Partial<typeof signed>) =>
    verdictOf(address, 'text', `ful${base64.encode(RawTx.encode({ ...signed, ...fields }))}`);

  it('unchanged, the signature is valid', () => {
    expect(changed({})).toEqual({ verdict: 'valid' });
  });

  it.each([
    ['another output script', { outputs: [{ ...output, script: Uint8Array.of(0x51) }] }],
    ['an output that carries value', { outputs: [{ ...output, amount: 1n }] }],
    ['a second output', { outputs: [output, output] }],
    ['no output', { outputs: [] }],
    ['another outpoint', { inputs: [{ ...input, index: 1 }] }],
    ['another transaction spent', { inputs: [{ ...input, txid: new Uint8Array(32) }] }],
    ['another sequence', { inputs: [{ ...input, sequence: 1 }] }],
    ['a scriptSig', { inputs: [{ ...input, finalScriptSig: Uint8Array.of(0x51) }] }],
    ['version 2', { version: 2 }],
    ['a lock time', { lockTime: 1 }],
    ['no witness', { segwitFlag: false, witnesses: undefined }],
  ])('%s is invalid', (_name, fields) => {
    expect(changed(fields).verdict).toBe('invalid');
  });

  it('further inputs are a proof of funds, which is unsupported', () => {
    const inputs = [input, { ...input, index: 1 }];
    expect(changed({ inputs, witnesses: [witnessOf(fullText()), []] }).verdict).toBe('unsupported');
    expect(verdictOf(address, 'text', 'pofcHNidP8BAAAA').verdict).toBe('unsupported');
  });

  const fullText = () => signBip322Full({ key, type: 'p2wpkh', message: 'text' });

  it('bytes after the transaction, and bytes missing from it, are refused', () => {
    const bytes = base64.decode(fullText().slice(3));
    expect(verdictOf(address, 'text', `ful${base64.encode(Uint8Array.of(...bytes, 0))}`).verdict).toBe(
      'invalid',
    );
    for (const length of [0, 1, 10, bytes.length - 1]) {
      const cut = base64.encode(bytes.subarray(0, length));
      expect(verdictOf(address, 'text', `ful${cut}`).verdict).toBe('invalid');
    }
  });
});

/** A P2WPKH spend of the address's to_sign on any terms, by any key, as any forger can make. */
function fullBy(signer: Uint8Array, address: string, terms: typeof NO_TERMS): string {
  const tx = toSign('text', decodeAddress(address).scriptPubKey, terms);
  const publicKey = secp256k1.getPublicKey(signer);
  const hash = ecdsaHash(tx, publicKey, false);
  const der = secp256k1.sign(hash, signer, { prehash: false, format: 'der' });
  const scriptSig = address.startsWith('3')
    ? Script.encode([payToKey(publicKey, 'p2wpkh')])
    : new Uint8Array();
  const spend = { scriptSig, witness: [Uint8Array.of(...der, 1), publicKey] };
  return `ful${base64.encode(RawTx.encode(withSpend(tx, spend)))}`;
}

describe('the terms of to_sign, when they are signed', () => {
  const address = deriveAddress(key.secretKey, 'p2wpkh');
  const verdictWith = (terms: Partial<typeof NO_TERMS>) =>
    verdictOf(address, 'text', fullBy(key.secretKey, address, { ...NO_TERMS, ...terms }));

  it.each([0, 2])('version %i is valid', (version) => {
    expect(verdictWith({ version })).toEqual({ verdict: 'valid' });
  });

  it.each([1, 3, -1])('version %i is unsupported, as an upgrade might give it a meaning', (version) => {
    expect(verdictWith({ version })).toEqual({
      verdict: 'unsupported',
      reason: `transaction version ${version}`,
    });
  });

  it.each([
    [1, 0],
    [0, 1],
    [0xffffffff, 0xffffffff],
  ])('lock time %i and age %i are unsupported', (lockTime, sequence) => {
    expect(verdictWith({ lockTime, sequence })).toEqual({
      verdict: 'unsupported',
      reason: `valid at time ${lockTime} and age ${sequence} only`,
    });
  });
});

describe("another key's true signature for the address", () => {
  const forger = new Uint8Array(32).fill(13);

  it.each(['p2wpkh', 'p2sh-p2wpkh'] as const)('is refused for %s', (type) => {
    const own = deriveAddress(forger, type);
    expect(verdictOf(own, 'text', fullBy(forger, own, NO_TERMS))).toEqual({ verdict: 'valid' });
    const victim = deriveAddress(key.secretKey, type);
    expect(verdictOf(victim, 'text', fullBy(forger, victim, NO_TERMS))).toEqual({
      verdict: 'invalid',
      reason: 'the key belongs to another address',
    });
  });

  it('is refused for p2pkh', () => {
    const { scriptPubKey } = decodeAddress(deriveAddress(key.secretKey, 'p2pkh'));
    const publicKey = secp256k1.getPublicKey(forger);
    const hash = ecdsaHash(toSign('text', scriptPubKey, NO_TERMS), publicKey, true);
    const der = secp256k1.sign(hash, forger, { prehash: false, format: 'der' });
    const scriptSig = Script.encode([Uint8Array.of(...der, 1), publicKey]);
    const forged = fullOf({ key, type: 'p2pkh', message: 'text' }, { scriptSig, witness: [] });
    expect(verdictOf(deriveAddress(key.secretKey, 'p2pkh'), 'text', forged)).toEqual({
      verdict: 'invalid',
      reason: 'the key belongs to another address',
    });
  });

  it('is refused for p2tr', () => {
    const { scriptPubKey } = decodeAddress(deriveAddress(key.secretKey, 'p2tr'));
    const hash = taprootHash(toSign('text', scriptPubKey, NO_TERMS), scriptPubKey, 0);
    const witness = [schnorr.sign(hash, taprootTweakPrivKey(forger))];
    const forged = fullOf({ key, type: 'p2tr', message: 'text' }, { scriptSig: new Uint8Array(), witness });
    expect(verdictOf(deriveAddress(key.secretKey, 'p2tr'), 'text', forged).verdict).toBe('invalid');
  });
});

describe('the required rules for scripts', () => {
  const address = deriveAddress(key.secretKey, 'p2wpkh');
  const [signature, publicKey] = RawWitness.decode(
    base64.decode(signBip322Simple({ key, type: 'p2wpkh', message: 'text' })),
  );
  if (!signature || !publicKey) throw new Error('a P2WPKH witness has two items');
  const der = signature.subarray(0, -1);
  const { r, s } = secp256k1.Signature.fromBytes(der, 'der');
  const highS = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der');
  const verdict = (...witness: Uint8Array[]) =>
    verdictOf(address, 'text', `smp${base64.encode(RawWitness.encode(witness))}`);
  const otherKey = secp256k1.getPublicKey(new Uint8Array(32).fill(1));

  it('the untouched witness is valid', () => {
    expect(verdict(signature, publicKey)).toEqual({ verdict: 'valid' });
  });

  it.each([
    ['LOW_S: the high-S twin', [Uint8Array.of(...highS, 1), publicKey]],
    ['SIGHASH_NONE', [Uint8Array.of(...der, 2), publicKey]],
    ['SIGHASH_SINGLE', [Uint8Array.of(...der, 3), publicKey]],
    ['SIGHASH_ALL | ANYONECANPAY', [Uint8Array.of(...der, 0x81), publicKey]],
    ['no sighash byte', [der, publicKey]],
    [
      'STRICTENC: a byte inside the DER sequence',
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
  ])('%s is invalid', (_name, change) => {
    const bytes = change(RawWitness.encode([signature, publicKey]));
    expect(verdictOf(address, 'text', `smp${base64.encode(bytes)}`).verdict).toBe('invalid');
  });

  describe('P2PKH', () => {
    const input = { key, type: 'p2pkh', message: 'text' } as const;
    const at = deriveAddress(key.secretKey, 'p2pkh');
    const scriptSig = rawOf(signBip322Full(input)).inputs[0]?.finalScriptSig ?? new Uint8Array();
    const length = scriptSig[0] ?? 0;
    const legacySignature = scriptSig.subarray(1, 1 + length);

    it.each([
      ['MINIMALDATA: a push in a longer form', Uint8Array.of(0x4c, ...scriptSig)],
      ['an item more', Uint8Array.of(0x51, ...scriptSig)],
      ['an opcode after it', Uint8Array.of(...scriptSig, 0x61)],
      ['nothing', new Uint8Array()],
      ['a truncated push', scriptSig.subarray(0, -1)],
      ['the signature alone', Script.encode([legacySignature])],
      ['the key of another', Script.encode([legacySignature, otherKey])],
      ['bytes that are not a key', Script.encode([legacySignature, new Uint8Array(33)])],
      ['the digest of segwit', Script.encode([signature, publicKey])],
    ])('%s is invalid', (_name, changed) => {
      expect(verdictOf(at, 'text', fullOf(input, { scriptSig: changed, witness: [] })).verdict).toBe(
        'invalid',
      );
    });

    it('a witness in addition to the scriptSig is invalid', () => {
      const spend = { scriptSig, witness: [signature] };
      expect(verdictOf(at, 'text', fullOf(input, { scriptSig, witness: [] })).verdict).toBe('valid');
      expect(verdictOf(at, 'text', fullOf(input, spend)).verdict).toBe('invalid');
    });
  });

  describe('P2SH-P2WPKH', () => {
    const input = { key, type: 'p2sh-p2wpkh', message: 'text' } as const;
    const at = deriveAddress(key.secretKey, 'p2sh-p2wpkh');
    const raw = rawOf(signBip322Full(input));
    const witness = raw.witnesses?.[0] ?? [];
    const scriptSig = raw.inputs[0]?.finalScriptSig ?? new Uint8Array();
    const verdictWith = (spend: SpendOf) => verdictOf(at, 'text', fullOf(input, spend)).verdict;

    it('the program of another key is invalid, any other script unsupported', () => {
      expect(verdictWith({ scriptSig, witness })).toBe('valid');
      expect(verdictWith({ scriptSig: Script.encode([payToKey(otherKey, 'p2wpkh')]), witness })).toBe(
        'invalid',
      );
      expect(verdictWith({ scriptSig: Script.encode([Uint8Array.of(0x51)]), witness })).toBe('unsupported');
      expect(verdictWith({ scriptSig: new Uint8Array(), witness })).toBe('unsupported');
    });

    it("a witness that is not a key's is invalid", () => {
      expect(verdictWith({ scriptSig, witness: witness.slice(0, 1) })).toBe('invalid');
      expect(verdictWith({ scriptSig, witness: [signature, publicKey] })).toBe('invalid');
    });
  });

  describe('P2TR', () => {
    const at = deriveAddress(key.secretKey, 'p2tr');
    const [signed] = RawWitness.decode(
      base64.decode(signBip322Simple({ key, type: 'p2tr', message: 'text' })),
    );
    if (!signed) throw new Error('a key path witness has one item');
    const verdictWith = (...items: Uint8Array[]) =>
      verdictOf(at, 'text', `smp${base64.encode(RawWitness.encode(items))}`).verdict;

    it('a signature over SIGHASH_ALL in 65 bytes, as bip322-js makes it, is valid', () => {
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
    ])('%s is invalid', (_name, item) => {
      expect(verdictWith(item)).toBe('invalid');
    });

    it('a scriptSig in addition to a valid witness is invalid', () => {
      const input = { key, type: 'p2tr', message: 'text' } as const;
      const spend = { scriptSig: new Uint8Array(), witness: [signed] };
      expect(verdictOf(at, 'text', fullOf(input, spend)).verdict).toBe('valid');
      const malleated = fullOf(input, { ...spend, scriptSig: Uint8Array.of(0x51) });
      expect(verdictOf(at, 'text', malleated).verdict).toBe('invalid');
    });

    it('an empty stack is invalid; an annex or a script path is unsupported', () => {
      expect(verdictWith()).toBe('invalid');
      expect(verdictWith(signed, Uint8Array.of(0x50))).toBe('unsupported');
      expect(verdictWith(signed, Uint8Array.of(0x51), new Uint8Array(33).fill(0xc0))).toBe('unsupported');
    });
  });
});
