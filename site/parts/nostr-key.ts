import { hexToBytes } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';

/** A public key in the text form that Nostr clients show (NIP-19); any other text is returned as it is. */
export const npubOf = (publicKey: string): string =>
  /^[0-9a-f]{64}$/.test(publicKey) ? bech32.encode('npub', bech32.toWords(hexToBytes(publicKey))) : publicKey;
