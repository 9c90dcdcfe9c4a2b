import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOfSecret, createMintKeys, createSigner } from '../../../src/custody/kernel/signer.ts';

/** A fresh key as node:crypto makes it: the seed, the public half and a verifier. */
function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { secret: Buffer.concat([seed, raw]), address: base58.encode(raw), publicKey };
}
const json = (bytes: Iterable<number>): string => JSON.stringify([...bytes]);

describe('a secret key', () => {
  it.each([
    ['as base58', (secret: Buffer) => base58.encode(secret)],
    ['as the JSON of solana-keygen', json],
    ['with white space around it', (secret: Buffer) => ` \n${base58.encode(secret)}\n`],
    ['as JSON with white space', (secret: Buffer) => `  ${JSON.stringify([...secret], null, 1)}\n`],
  ])('a secret key %s gives its address and signs', async (_name, spell) => {
    const { secret, address, publicKey } = keyPair();
    const text = spell(secret);
    expect(addressOfSecret(text)).toBe(address);
    const signer = createSigner(text);
    expect(signer.address).toBe(address);
    const message = Uint8Array.of(1, 2, 3);
    const signature = await signer.sign(message);
    expect(signature).toHaveLength(64);
    expect(verify(null, message, publicKey, signature)).toBe(true);
  });

  const { secret } = keyPair();
  const other = keyPair().secret;
  it.each([
    ['nothing', ''],
    ['a seed without its public half', base58.encode(secret.subarray(0, 32))],
    ['the halves of two keys', base58.encode(Buffer.concat([secret.subarray(0, 32), other.subarray(32)]))],
    [
      'the halves in the wrong order',
      base58.encode(Buffer.concat([secret.subarray(32), secret.subarray(0, 32)])),
    ],
    ['one byte too few', json(secret.subarray(1))],
    ['one byte too many', json([...secret, 0])],
    ['a byte of 256', json([256, ...secret.subarray(1)])],
    ['a negative byte', json([-1, ...secret.subarray(1)])],
    ['half a byte', json([0.5, ...secret.subarray(1)])],
    ['text in the list', JSON.stringify([...secret].map(String))],
    ['an object', '{"0":1}'],
    ['cut JSON', json(secret).slice(0, -5)],
    ['hexadecimal', secret.toString('hex')],
    ['base64', secret.toString('base64')],
    ['a last character changed', base58.encode(secret).replace(/.$/, (last) => (last === '1' ? '2' : '1'))],
    ['a mnemonic', 'abandon abandon abandon'],
  ])('refuses %s as a secret key, and does not quote it in the error', (_name, text) => {
    expect(addressOfSecret(text)).toBeUndefined();
    let said = '';
    try {
      createSigner(text);
    } catch (error) {
      said = String(error);
    }
    expect(said).toContain('SOLANA_PRIVATE_KEY');
    if (text.length > 5) expect(said).not.toContain(text.slice(0, 6));
  });

  it('refuses a secret key in which any byte is changed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 63 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const broken = Buffer.from(secret);
        broken[at] = (broken[at] ?? 0) ^ change;
        expect(addressOfSecret(base58.encode(broken))).toBeUndefined();
      }),
    );
  });

  it('the secret key cannot be read back from the signer', () => {
    const signer = createSigner(base58.encode(secret));
    expect(Object.keys(signer).toSorted()).toEqual(['address', 'sign']);
    expect(JSON.stringify(signer)).not.toContain(base58.encode(secret).slice(0, 8));
  });
});

it('each invoice has one permanent mint key, which signs for its address', () => {
  const keys = createMintKeys('a seed of its own');
  const address = keys.address('invoice-1');
  expect(createMintKeys('a seed of its own').address('invoice-1')).toBe(address);
  expect(keys.address('invoice-2')).not.toBe(address);
  expect(createMintKeys('another seed').address('invoice-1')).not.toBe(address);
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), base58.decode(address)]);
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const message = Uint8Array.of(9, 9);
  expect(verify(null, message, publicKey, keys.sign('invoice-1', message))).toBe(true);
  expect(verify(null, message, publicKey, keys.sign('invoice-2', message))).toBe(false);
});
