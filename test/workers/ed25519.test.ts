import { expect, it } from 'vitest';
import { isSignedBy, verifyingKey } from '../../src/chain/ed25519.ts';
import { SIGNATURE_CASES } from '../chain/ed25519-cases.ts';

it.each(SIGNATURE_CASES.map((one) => [one.name, one] as const))(
  'the runtime gives the same verdict as Node: %s',
  async (_name, { publicKey, message, signature, passes, peer }) => {
    const key = await verifyingKey(publicKey);
    const passed = key !== undefined && (await isSignedBy(key, message, signature));
    expect(passed).toBe(passes ?? passed);
    expect(passed && !peer, 'looser than the peer').toBe(false);
  },
);
