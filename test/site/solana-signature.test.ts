import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isSignedInBrowser } from '../../site/verify/solana-signature.ts';

afterEach(() => vi.restoreAllMocks());

const secret = ed25519.utils.randomSecretKey();
const address = base58.encode(ed25519.getPublicKey(secret));
const sign = (text: string): string => base58.encode(ed25519.sign(new TextEncoder().encode(text), secret));

describe.each(['with ed25519 of the browser', 'with the library'])('a Solana signature, %s', (how) => {
  const check = (message: string, signature: string, by = address): Promise<boolean> => {
    if (how === 'with the library')
      vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(
        new DOMException('unknown', 'NotSupportedError'),
      );
    return isSignedInBrowser(message, { address: by, signature });
  };

  it('accepts a Solana signature only with the message and the key that it was made with', async () => {
    expect(await check('text', sign('text'))).toBe(true);
    expect(await check('other text', sign('text'))).toBe(false);
    const other = base58.encode(ed25519.getPublicKey(ed25519.utils.randomSecretKey()));
    expect(await check('text', sign('text'), other)).toBe(false);
  });

  it('refuses a malformed Solana signature', async () => {
    expect(await check('text', 'no base58: 0OIl')).toBe(false);
    expect(await check('text', base58.encode(new Uint8Array(63)))).toBe(false);
    expect(await check('text', sign('text'), 'short')).toBe(false);
  });
});
