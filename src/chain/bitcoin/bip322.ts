/**
 * Signed messages of BIP-322, version 2.0.0 (2026), in the simple form, for P2WPKH and P2TR. A signature spends a
 * virtual transaction. `to_spend` pays the address and commits to the message through an input that cannot exist on a
 * chain. `to_sign` spends it, and the signature is `smp` and the base64 of its witness stack. Signers before 2026 wrote
 * no prefix. The prefixes `ful` and `pof` mark the other forms, which are not evaluated.
 * @see https://github.com/bitcoin/bips/blob/master/bip-0322.mediawiki
 * @module
 */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { OutScript, RawTx, RawWitness, Transaction } from '@scure/btc-signer';
import { equalBytes, hash160, sha256x2, taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { decodeBase64 } from '../../core/base64.ts';
import { orUndefined } from '../../core/or-undefined.ts';
import { type BitcoinAddress, type KeyAddressType, payToKey } from './address.ts';
import { invalid, messageBytes, unsupported, VALID, type Verdict } from './verdict.ts';

const VARIANTS = { smp: 'bip322-simple', ful: 'bip322-full', pof: 'bip322-proof-of-funds' } as const;
export type Bip322Scheme = (typeof VARIANTS)[keyof typeof VARIANTS];
/** Types of address that have a simple signature. */
export type SimpleType = Extract<KeyAddressType, 'p2wpkh' | 'p2tr'>;

/**
 * The scheme that the prefix names, and the base64 after the prefix; undefined without a prefix. The base64 of a
 * witness never starts with one of the prefixes.
 */
export function splitVariant(signature: string): { scheme: Bip322Scheme; body: string } | undefined {
  const prefix = signature.slice(0, 3);
  if (prefix !== 'smp' && prefix !== 'ful' && prefix !== 'pof') return undefined;
  return { scheme: VARIANTS[prefix], body: signature.slice(3) };
}

/** Zeros for BIP-340's nonce, so that taproot signatures are deterministic too. */
const NO_RANDOMNESS = new Uint8Array(32);

/**
 * @param secretKey of a compressed public key
 * @returns base64 without a prefix; the current form adds `smp`, and older verifiers expect the bare base64
 */
export function signBip322Simple(secretKey: Uint8Array, type: SimpleType, message: string): string {
  const publicKey = secp256k1.getPublicKey(secretKey);
  const scriptPubKey = payToKey(publicKey, type);
  if (type === 'p2tr') {
    const hash = taprootHash(message, scriptPubKey, SIGHASH_DEFAULT);
    return encodeWitness([schnorr.sign(hash, taprootTweakPrivKey(secretKey), NO_RANDOMNESS)]);
  }
  const hash = ecdsaHash(message, scriptPubKey, publicKey);
  const der = secp256k1.sign(hash, secretKey, { prehash: false, format: 'der' });
  return encodeWitness([concatBytes(der, Uint8Array.of(SIGHASH_ALL)), publicKey]);
}

const encodeWitness = (items: Uint8Array[]): string => base64.encode(RawWitness.encode(items));

/** Strict: accepts only the canonical encoding of a signature. */
export function verifyBip322(address: BitcoinAddress, message: string, signature: string): Verdict {
  const { scheme, body } = splitVariant(signature) ?? { scheme: VARIANTS.smp, body: signature };
  if (!message.isWellFormed()) return invalid('the message is not well-formed Unicode');
  if (scheme !== 'bip322-simple') return unsupported('only the simple form of BIP-322 is evaluated');
  const bytes = decodeBase64(body);
  if (!bytes) return invalid('the signature is not canonical base64');
  const witness = orUndefined(() => RawWitness.decode(bytes));
  if (!witness) return invalid('the signature is not a witness stack');
  switch (address.type) {
    case 'p2pkh':
    case 'p2sh':
      return invalid('this type of address has no simple BIP-322 signature');
    case 'p2wsh':
      return unsupported('P2WSH scripts are not evaluated');
    case 'p2wpkh':
      return verifyP2wpkh(address, message, witness);
    case 'p2tr':
      return verifyP2tr(address, message, witness);
  }
}

/** CHECKSIG under BIP-322's required rules: SIGHASH_ALL, strict DER, low S. */
function verifyP2wpkh(
  { scriptPubKey }: BitcoinAddress,
  message: string,
  witness: readonly Uint8Array[],
): Verdict {
  const [signature, publicKey] = witness;
  if (!signature || publicKey?.length !== 33 || witness.length !== 2)
    return invalid('the witness is not a signature and a compressed key');
  if (!secp256k1.utils.isValidPublicKey(publicKey)) return invalid('not a public key');
  if (!equalBytes(payToKey(publicKey, 'p2wpkh'), scriptPubKey))
    return invalid('the key belongs to another address');
  if (signature.at(-1) !== SIGHASH_ALL) return invalid('the signature is not SIGHASH_ALL');
  const hash = ecdsaHash(message, scriptPubKey, publicKey);
  const options = { prehash: false, format: 'der', lowS: true } as const;
  return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, options)
    ? VALID
    : invalid('the signature does not match');
}

function verifyP2tr(
  { scriptPubKey }: BitcoinAddress,
  message: string,
  witness: readonly Uint8Array[],
): Verdict {
  const [item] = witness;
  if (witness.length > 1) return unsupported('taproot script paths and annexes are not evaluated');
  // BIP-341: a signature of 64 bytes uses SIGHASH_DEFAULT. A 65th byte names a different type, and only ALL is allowed
  // here.
  const sighash = item?.length === 65 ? item[64] : SIGHASH_DEFAULT;
  if (!item || (item.length !== 64 && sighash !== SIGHASH_ALL))
    return invalid('not a SIGHASH_ALL Schnorr signature');
  const hash = taprootHash(message, scriptPubKey, sighash ?? SIGHASH_DEFAULT);
  return schnorr.verify(item.subarray(0, 64), hash, scriptPubKey.subarray(2))
    ? VALID
    : invalid('the signature does not match');
}

/** Taproot's shorter encoding of SIGHASH_ALL (BIP-341). */
const SIGHASH_DEFAULT = 0;
const SIGHASH_ALL = 1;
const OP_RETURN = Uint8Array.of(0x6a);

/** BIP-340 tagged hash of the UTF-8 bytes. */
const messageHash = (message: string): Uint8Array =>
  schnorr.utils.taggedHash('BIP0322-signed-message', messageBytes(message));

/** Bytes of the txid of `to_spend`, in display order. */
function toSpendTxid(message: string, scriptPubKey: Uint8Array): Uint8Array {
  const finalScriptSig = concatBytes(Uint8Array.of(0x00, 0x20), messageHash(message)); // OP_0 PUSH32
  const input = { txid: new Uint8Array(32), index: 0xffffffff, finalScriptSig, sequence: 0 };
  const outputs = [{ amount: 0n, script: scriptPubKey }];
  return sha256x2(
    RawTx.encode({ version: 0, segwitFlag: false, inputs: [input], outputs, lockTime: 0 }),
  ).reverse();
}

function toSign(message: string, scriptPubKey: Uint8Array): Transaction {
  const tx = new Transaction({ version: 0, lockTime: 0, allowUnknownOutputs: true });
  tx.addInput({ txid: toSpendTxid(message, scriptPubKey), index: 0, sequence: 0 });
  tx.addOutput({ script: OP_RETURN, amount: 0n });
  return tx;
}

/** The digest that an ECDSA signature of `to_sign` signs (BIP-143). */
function ecdsaHash(message: string, scriptPubKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const script = OutScript.encode({ type: 'pkh', hash: hash160(publicKey) });
  return toSign(message, scriptPubKey).preimageWitnessV0(0, script, SIGHASH_ALL, 0n);
}

/** The digest that a taproot key path signature of `to_sign` signs (BIP-341). */
const taprootHash = (message: string, scriptPubKey: Uint8Array, sighash: number): Uint8Array =>
  toSign(message, scriptPubKey).preimageWitnessV1(0, [scriptPubKey], sighash, [0n]);
