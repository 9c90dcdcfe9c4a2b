/**
 * Mainnet Bitcoin addresses as scriptPubKeys: base58check (P2PKH, P2SH), bech32 for witness version 0 (BIP-173) and
 * bech32m for version 1 (BIP-350). All comparisons use scripts, never strings, because bech32 has two spellings.
 * @module
 */
import { Address, OutScript, p2pkh, p2sh, p2tr, p2wpkh } from '@scure/btc-signer';
import { equalBytes } from '@scure/btc-signer/utils.js';
import { orUndefined } from '../../core/or-undefined.ts';

const TYPES = { pkh: 'p2pkh', sh: 'p2sh', wpkh: 'p2wpkh', wsh: 'p2wsh', tr: 'p2tr' } as const;
const MAINNET = Address();

type AddressType = (typeof TYPES)[keyof typeof TYPES];
export type BitcoinAddress = { readonly type: AddressType; readonly scriptPubKey: Uint8Array };

/** The address types that one key alone can spend from. */
export type KeyAddressType = 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr';

const isKnown = (type: string): type is keyof typeof TYPES => Object.hasOwn(TYPES, type);

/**
 * @throws RangeError for anything except a mainnet address of the five types. A taproot key that is not on the curve is
 * also refused: its checksum may be right, but it can never be spent.
 */
export function decodeAddress(text: string): BitcoinAddress {
  try {
    const output = MAINNET.decode(text);
    if (isKnown(output.type)) return { type: TYPES[output.type], scriptPubKey: OutScript.encode(output) };
  } catch {
    // The library's error message quotes the input; our message must not.
  }
  throw new RangeError('not a Bitcoin mainnet address');
}

export const isBitcoinAddress = (text: string): boolean =>
  orUndefined(() => decodeAddress(text)) !== undefined;

/** The address of this script, bech32 in lower case; null for a script of any other type. */
export const encodeAddress = (scriptPubKey: Uint8Array): string | null =>
  orUndefined(() => {
    const output = OutScript.decode(scriptPubKey);
    // The library also decodes a push that is longer than needed. On chain that is a different script, so it does not have this address.
    const isExact = isKnown(output.type) && equalBytes(OutScript.encode(output), scriptPubKey);
    return isExact ? MAINNET.encode(output) : null;
  }) ?? null;

/** Whether an address has the spelling that indexes and proofs use. Bech32 may also be written in capitals. */
export const isCanonicalAddress = (text: string): boolean =>
  orUndefined(() => encodeAddress(decodeAddress(text).scriptPubKey)) === text;

/**
 * The script that pays to one public key.
 *
 * @param publicKey SEC1: 33 bytes, or 65 for P2PKH only (BIP-143 makes uncompressed keys unspendable in segwit)
 * @throws Error when the key does not fit the type
 */
export function payToKey(publicKey: Uint8Array, type: KeyAddressType): Uint8Array {
  switch (type) {
    case 'p2pkh':
      return p2pkh(publicKey).script;
    case 'p2sh-p2wpkh':
      return p2sh(p2wpkh(publicKey)).script;
    case 'p2wpkh':
      return p2wpkh(publicKey).script;
    case 'p2tr':
      // BIP-86: the x coordinate is the internal key, with no script tree.
      return p2tr(publicKey.subarray(1)).script;
  }
}
