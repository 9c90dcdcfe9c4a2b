/**
 * Proof that an address's owner signed a message. The address type determines the scheme: BIP-137 for `1...` and
 * `3...`, BIP-322 simple for `bc1q...` (20 bytes) and `bc1p...`. Pure; also runs in a browser.
 *
 * A signature proves control only at the moment of signing, so the message itself must be fresh and name its purpose.
 * @module
 */
import { orUndefined } from '../../core/or-undefined.ts';
import { type BitcoinAddress, decodeAddress } from './address.ts';
import { type Bip137Type, signBip137, verifyBip137 } from './bip137.ts';
import { type Bip322Scheme, signBip322Simple, splitVariant, verifyBip322 } from './bip322.ts';
import { invalid, type Verdict } from './verdict.ts';
import { decodeWif, findAddressType } from './wif.ts';

export type MessageScheme = `bip137-${Bip137Type}` | Bip322Scheme;

export type SignedMessage = {
  readonly scheme: MessageScheme;
  readonly signature: string;
  /** BIP-322 simple in the form for verifiers from before 2026: the same base64 without `smp`. */
  readonly signatureUnprefixed?: string;
};

/** @throws RangeError when the key does not control the address, or one of the inputs is malformed */
export function signMessage({
  wif,
  address,
  message,
}: Omit<MessageInput, 'signature'> & { readonly wif: string }): SignedMessage {
  const key = decodeWif(wif);
  const type = findAddressType(key, address);
  if (type === null) throw new RangeError('the key does not control this address');
  if (type === 'p2pkh' || type === 'p2sh-p2wpkh')
    return { scheme: `bip137-${type}`, signature: signBip137(key, type, message) };
  const bare = signBip322Simple(key.secretKey, type, message);
  return { scheme: 'bip322-simple', signature: `smp${bare}`, signatureUnprefixed: bare };
}

export type MessageInput = { readonly address: string; readonly message: string; readonly signature: string };

/** `scheme` is the scheme that was tried; null if the address is not a Bitcoin mainnet address. Never throws. */
export type MessageVerdict = Verdict & { readonly scheme: MessageScheme | null };

export function verifyMessage({ address, message, signature }: MessageInput): MessageVerdict {
  const decoded = orUndefined(() => decodeAddress(address));
  if (!decoded) return { ...invalid('not a Bitcoin mainnet address'), scheme: null };
  const scheme = schemeOf(decoded, signature);
  const verdict = scheme.startsWith('bip137-')
    ? verifyBip137(decoded, message, signature)
    : verifyBip322(decoded, message, signature);
  return { ...verdict, scheme };
}

/** Only BIP-322 signatures have a prefix. Without a prefix, the address type determines the scheme. */
function schemeOf(address: BitcoinAddress, signature: string): MessageScheme {
  const variant = splitVariant(signature);
  if (variant) return variant.scheme;
  if (address.type === 'p2pkh') return 'bip137-p2pkh';
  return address.type === 'p2sh' ? 'bip137-p2sh-p2wpkh' : 'bip322-simple';
}
