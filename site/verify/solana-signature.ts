import { decodeBase58 } from '../../src/chain/solana/address.ts';

type Signed = { readonly address: string; readonly signature: string };

/**
 * Whether a Solana key signed a text. Browsers verify ed25519 themselves; one that cannot loads the library for it.
 */
export async function isSignedInBrowser(message: string, signed: Signed): Promise<boolean> {
  const key = decodeBase58(signed.address, 32);
  const bytes = decodeBase58(signed.signature, 64);
  if (!key || !bytes) return false;
  try {
    const verifier = await crypto.subtle.importKey('raw', new Uint8Array(key), 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify(
      'Ed25519',
      verifier,
      new Uint8Array(bytes),
      new TextEncoder().encode(message),
    );
  } catch {
    const { isMessageSigned } = await import('../../src/chain/bitcoin/proof-check.ts');
    return isMessageSigned(message, signed);
  }
}
