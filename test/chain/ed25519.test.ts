import { ed25519 } from '@noble/curves/ed25519.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { isSignedBy, verifyingKey } from '../../src/chain/ed25519.ts';
import { SIGNATURE_CASES } from './ed25519-cases.ts';

async function passes(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const key = await verifyingKey(publicKey);
  return key !== undefined && (await isSignedBy(key, message, signature));
}

function peerPasses(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

it.each(SIGNATURE_CASES.map((one) => [one.name, one] as const))(
  'verifies an Ed25519 signature no more loosely than the peer library: %s',
  async (_name, one) => {
    const { publicKey, message, signature } = one;
    const passed = await passes(publicKey, message, signature);
    expect(passed).toBe(one.passes ?? passed);
    expect(peerPasses(publicKey, message, signature)).toBe(one.peer);
    expect(passed && !one.peer, 'looser than the peer').toBe(false);
  },
);

it('agrees with the peer library on honest signatures and on signatures with any one bit changed', async () => {
  for (let round = 0; round < 6; round += 1) {
    const secret = randomBytes(32);
    const publicKey = ed25519.getPublicKey(secret);
    const message = randomBytes(44);
    const signature = ed25519.sign(message, secret);
    expect(await passes(publicKey, message, signature)).toBe(true);
    for (const byte of signature.keys()) {
      const bit = 1 << ((byte + round) % 8);
      const changed = signature.map((value, at) => (at === byte ? value ^ bit : value));
      expect(await passes(publicKey, message, changed)).toBe(false);
    }
  }
});
