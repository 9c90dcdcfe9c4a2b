/**
 * BIP-322 generic signed messages, text 2.0.0 of 2026, for scripts that one key satisfies. A signature
 * spends a virtual transaction. `to_spend` pays the address and commits to the message through an input that no
 * chain can contain. `to_sign` spends it, and the signature is that spend.
 *
 * A signature has one of three prefixes. `smp` precedes the base64 of to_sign's witness stack (P2WPKH, P2TR).
 * `ful` precedes the base64 of the complete to_sign (the same types, P2PKH and P2SH-P2WPKH). `pof` precedes
 * the base64
 * of a PSBT with further inputs. Without a prefix it is decoded as simple, the form that signers wrote before
 * 2026.
 * @see https://github.com/bitcoin/bips/blob/master/bip-0322.mediawiki
 * @module
 */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { OutScript, RawTx, RawWitness, Script } from '@scure/btc-signer';
import { equalBytes, hash160, sha256x2, taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { type BitcoinAddress, type KeyAddressType, payToKey } from './address.ts';
import { decodeBase64, invalid, messageBytes, unsupported, VALID, type Verdict } from './verdict.ts';
import type { BitcoinKey } from './wif.ts';

const VARIANTS = { smp: 'bip322-simple', ful: 'bip322-full', pof: 'bip322-proof-of-funds' } as const;
export type Bip322Scheme = (typeof VARIANTS)[keyof typeof VARIANTS];

/**
 * The prefix's scheme and the base64 after it; undefined without a prefix. The base64 of a witness never
 * starts with a prefix.
 */
export function splitVariant(signature: string): { scheme: Bip322Scheme; body: string } | undefined {
  const prefix = signature.slice(0, 3);
  if (prefix !== 'smp' && prefix !== 'ful' && prefix !== 'pof') return undefined;
  return { scheme: VARIANTS[prefix], body: signature.slice(3) };
}

/** scriptSig of P2SH-P2WPKH (BIP-141): one push of the witness program. */
const nestedScriptSig = (publicKey: Uint8Array): Uint8Array => Script.encode([payToKey(publicKey, 'p2wpkh')]);

export type Bip322SignInput = {
  readonly key: BitcoinKey;
  /** How the key controls the address of the proof. */
  readonly type: KeyAddressType;
  readonly message: string;
  /** 32 bytes for BIP-340's nonce. The default, zeros, makes taproot signatures deterministic too. */
  readonly auxRand?: Uint8Array;
};

function satisfy({ key, type, message, auxRand = new Uint8Array(32) }: Bip322SignInput) {
  const publicKey = secp256k1.getPublicKey(key.secretKey, key.compressed);
  const scriptPubKey = payToKey(publicKey, type);
  const tx = toSign(message, scriptPubKey, NO_TERMS);
  if (type === 'p2tr') {
    const hash = taprootHash(tx, scriptPubKey, SIGHASH_DEFAULT);
    const signature = schnorr.sign(hash, taprootTweakPrivKey(key.secretKey), auxRand);
    return { tx, spend: { scriptSig: NOTHING, witness: [signature] } };
  }
  const hash = ecdsaHash(tx, publicKey, type === 'p2pkh');
  const der = secp256k1.sign(hash, key.secretKey, { prehash: false, format: 'der' });
  const signature = concatBytes(der, Uint8Array.of(SIGHASH_ALL));
  if (type === 'p2pkh') {
    return { tx, spend: { scriptSig: Script.encode([signature, publicKey]), witness: [] } };
  }
  const scriptSig = type === 'p2sh-p2wpkh' ? nestedScriptSig(publicKey) : NOTHING;
  return { tx, spend: { scriptSig, witness: [signature, publicKey] } };
}

/**
 * @returns base64 without a prefix; the current form adds `smp`, and older verifiers expect the bare base64
 * @throws RangeError for P2PKH and P2SH-P2WPKH, which have no simple form
 */
export function signBip322Simple(input: Bip322SignInput): string {
  if (input.type === 'p2pkh' || input.type === 'p2sh-p2wpkh') {
    throw new RangeError(`${input.type} has no simple BIP-322 signature`);
  }
  return base64.encode(RawWitness.encode([...satisfy(input).spend.witness]));
}

/** @returns `ful` and the base64 of the signed `to_sign` */
export function signBip322Full(input: Bip322SignInput): string {
  const { tx, spend } = satisfy(input);
  return `ful${base64.encode(RawTx.encode(withSpend(tx, spend)))}`;
}

/**
 * Strict: all bytes must be those of the one canonical encoding. A signature with a lock time or an age,
 * which BIP-322 calls "valid at time T and age S", is checked and reported as `unsupported`, because it
 * proves nothing today.
 */
export function verifyBip322(address: BitcoinAddress, message: string, signature: string): Verdict {
  const { scheme, body } = splitVariant(signature) ?? { scheme: VARIANTS.smp, body: signature };
  if (!message.isWellFormed()) return invalid('the message is not well-formed Unicode');
  if (scheme === 'bip322-proof-of-funds')
    return unsupported('proof of funds needs the set of unspent outputs');
  const bytes = decodeBase64(body);
  if (!bytes) return invalid('the signature is not canonical base64');
  return scheme === 'bip322-simple'
    ? verifySimple(address, message, bytes)
    : verifyFull(address, message, bytes);
}

function verifySimple(address: BitcoinAddress, message: string, bytes: Uint8Array): Verdict {
  if (address.type === 'p2pkh' || address.type === 'p2sh') {
    return invalid('this type of address has no simple BIP-322 signature');
  }
  const witness = decodeWitness(bytes);
  if (!witness) return invalid('the signature is not a witness stack');
  const tx = toSign(message, address.scriptPubKey, NO_TERMS);
  return verifySpend(address, tx, { scriptSig: NOTHING, witness });
}

function decodeWitness(bytes: Uint8Array): Uint8Array[] | undefined {
  try {
    return RawWitness.decode(bytes);
  } catch {
    return undefined;
  }
}

function verifyFull(address: BitcoinAddress, message: string, bytes: Uint8Array): Verdict {
  const signed = decodeTx(bytes);
  const input = signed?.inputs[0];
  if (!signed || !input) return invalid('the signature is not a transaction');
  if (signed.inputs.length > 1) return unsupported('further inputs are a proof of funds');
  const { version, lockTime } = signed;
  const terms = { version, lockTime, sequence: input.sequence };
  const spend = { scriptSig: input.finalScriptSig, witness: signed.witnesses?.[0] ?? [] };
  const tx = toSign(message, address.scriptPubKey, terms);
  // Encoding it again checks every field at once: the spent output, the single output, and the shortest
  // encoding of each length.
  if (!equalBytes(RawTx.encode(withSpend(tx, spend)), bytes)) {
    return invalid('the transaction does not sign this message for this address');
  }
  const verdict = verifySpend(address, tx, spend);
  if (verdict.verdict !== 'valid') return verdict;
  if (version !== 0 && version !== 2) return unsupported(`transaction version ${version}`);
  if (lockTime === 0 && input.sequence === 0) return verdict;
  return unsupported(`valid at time ${lockTime} and age ${input.sequence} only`);
}

function decodeTx(bytes: Uint8Array) {
  try {
    return RawTx.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Evaluates the address's script, for the templates that one key satisfies. */
function verifySpend(address: BitcoinAddress, tx: RawTransaction, spend: Spend): Verdict {
  const { scriptSig, witness } = spend;
  switch (address.type) {
    case 'p2wsh':
      return unsupported('P2WSH scripts are not evaluated');
    case 'p2pkh':
      return witness.length === 0 ? verifyP2pkh(address, tx, scriptSig) : invalid('P2PKH takes no witness');
    case 'p2sh':
      // A push of 22 bytes that starts like a version 0 program of 20 bytes; anything else is a different
      // script.
      if (scriptSig[0] !== 0x16 || scriptSig[1] !== 0x00 || scriptSig[2] !== 0x14) {
        return unsupported('P2SH scripts other than P2WPKH are not evaluated');
      }
      return verifyP2wpkh(address, tx, spend);
    case 'p2wpkh':
      return scriptSig.length === 0 ? verifyP2wpkh(address, tx, spend) : invalid('P2WPKH takes no scriptSig');
    case 'p2tr':
      return scriptSig.length === 0 ? verifyP2tr(address, tx, witness) : invalid('P2TR takes no scriptSig');
  }
}

function verifyP2pkh(address: BitcoinAddress, tx: RawTransaction, scriptSig: Uint8Array): Verdict {
  const [signature, publicKey] = decodePushes(scriptSig);
  // Encoding them again verifies MINIMALDATA and that nothing else is pushed.
  if (!signature || !publicKey || !equalBytes(Script.encode([signature, publicKey]), scriptSig)) {
    return invalid('the scriptSig is not two minimal pushes, a signature and a key');
  }
  return verifyEcdsa(address, 'p2pkh', tx, signature, publicKey);
}

function decodePushes(script: Uint8Array): Uint8Array[] {
  try {
    return Script.decode(script).map((item) => (item instanceof Uint8Array ? item : NOTHING));
  } catch {
    return [];
  }
}

function verifyP2wpkh(address: BitcoinAddress, tx: RawTransaction, { scriptSig, witness }: Spend): Verdict {
  const [signature, publicKey] = witness;
  if (!signature || publicKey?.length !== 33 || witness.length !== 2) {
    return invalid('the witness is not a signature and a compressed key');
  }
  if (address.type === 'p2wpkh') return verifyEcdsa(address, 'p2wpkh', tx, signature, publicKey);
  // 33 bytes that are not a point have no witness program.
  if (!secp256k1.utils.isValidPublicKey(publicKey)) return invalid('not a public key');
  if (!equalBytes(scriptSig, nestedScriptSig(publicKey))) {
    return invalid('the scriptSig is not the witness program of the key');
  }
  return verifyEcdsa(address, 'p2sh-p2wpkh', tx, signature, publicKey);
}

/** CHECKSIG under BIP-322's required rules: SIGHASH_ALL, strict DER, low S. */
function verifyEcdsa(
  address: BitcoinAddress,
  type: KeyAddressType,
  tx: RawTransaction,
  signature: Uint8Array,
  publicKey: Uint8Array,
): Verdict {
  if (!secp256k1.utils.isValidPublicKey(publicKey)) return invalid('not a public key');
  if (!equalBytes(payToKey(publicKey, type), address.scriptPubKey))
    return invalid('the key belongs to another address');
  if (signature.at(-1) !== SIGHASH_ALL) return invalid('the signature is not SIGHASH_ALL');
  const hash = ecdsaHash(tx, publicKey, type === 'p2pkh');
  const options = { prehash: false, format: 'der', lowS: true } as const;
  return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, options)
    ? VALID
    : invalid('the signature does not match');
}

function verifyP2tr(address: BitcoinAddress, tx: RawTransaction, witness: readonly Uint8Array[]): Verdict {
  const [item] = witness;
  if (witness.length > 1) return unsupported('taproot script paths and annexes are not evaluated');
  // BIP-341: 64 bytes mean SIGHASH_DEFAULT; a 65th byte names another type, and only ALL is allowed here.
  const sighash = item?.length === 65 ? item[64] : SIGHASH_DEFAULT;
  if (!item || (item.length !== 64 && sighash !== SIGHASH_ALL))
    return invalid('not a SIGHASH_ALL Schnorr signature');
  const hash = taprootHash(tx, address.scriptPubKey, sighash ?? SIGHASH_DEFAULT);
  const outputKey = address.scriptPubKey.subarray(2);
  return schnorr.verify(item.subarray(0, 64), hash, outputKey)
    ? VALID
    : invalid('the signature does not match');
}

export const NOTHING = new Uint8Array();
const OP_RETURN = Uint8Array.of(0x6a);
/** Taproot's shorter encoding of SIGHASH_ALL (BIP-341). */
export const SIGHASH_DEFAULT = 0;
export const SIGHASH_ALL = 1;

export type RawTransaction = Parameters<typeof RawTx.encode>[0];
/** The fields of `to_sign` that a signer may choose: all zero in the simple form. */
export type Terms = { readonly version: number; readonly lockTime: number; readonly sequence: number };
export type Spend = { readonly scriptSig: Uint8Array; readonly witness: readonly Uint8Array[] };
export const NO_TERMS: Terms = { version: 0, lockTime: 0, sequence: 0 };

/** BIP-340 tagged hash of the UTF-8 bytes. */
export const bip322Hash = (message: string): Uint8Array =>
  schnorr.utils.taggedHash('BIP0322-signed-message', messageBytes(message));

function virtual(terms: Terms, txid: Uint8Array, index: number, scriptSig: Uint8Array, script: Uint8Array) {
  const { version, lockTime, sequence } = terms;
  const input = { txid, index, finalScriptSig: scriptSig, sequence };
  return { version, segwitFlag: false, inputs: [input], outputs: [{ amount: 0n, script }], lockTime };
}

const txidOf = (tx: RawTransaction): Uint8Array => sha256x2(RawTx.encode(tx)).reverse();

/** Txid bytes in display order. */
export function toSpendTxid(message: string, scriptPubKey: Uint8Array): Uint8Array {
  const scriptSig = concatBytes(Uint8Array.of(0x00, 0x20), bip322Hash(message)); // OP_0 PUSH32
  return txidOf(virtual(NO_TERMS, new Uint8Array(32), 0xffffffff, scriptSig, scriptPubKey));
}

/** Unsigned. */
export const toSign = (message: string, scriptPubKey: Uint8Array, terms: Terms): RawTransaction =>
  virtual(terms, toSpendTxid(message, scriptPubKey), 0, NOTHING, OP_RETURN);

/** Txid of `to_sign` in the simple form, in display order. */
export const toSignTxid = (message: string, scriptPubKey: Uint8Array): Uint8Array =>
  txidOf(toSign(message, scriptPubKey, NO_TERMS));

export const withSpend = (tx: RawTransaction, { scriptSig, witness }: Spend): RawTransaction => ({
  ...tx,
  segwitFlag: witness.length > 0,
  inputs: tx.inputs.map((input) => ({ ...input, finalScriptSig: scriptSig })),
  ...(witness.length > 0 ? { witnesses: [[...witness]] } : {}),
});

/** The parts of `to_sign` in wire format; it has exactly one input and one output. */
function partsOf(tx: RawTransaction) {
  const bytes = RawTx.encode(withSpend(tx, { scriptSig: NOTHING, witness: [] }));
  return {
    version: bytes.subarray(0, 4),
    outpoint: bytes.subarray(5, 41), // after the count of inputs
    sequence: bytes.subarray(42, 46), // after the length of the empty scriptSig
    output: bytes.subarray(47, -4), // after the count of outputs
    lockTime: bytes.subarray(-4),
  };
}

/** `to_spend` pays nothing. */
const NO_SATS = new Uint8Array(8);
const withLength = (script: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(script.length), script);

/** The digest that an ECDSA key signs: legacy for P2PKH, BIP-143 for witness version 0. */
export function ecdsaHash(tx: RawTransaction, publicKey: Uint8Array, legacy: boolean): Uint8Array {
  const script = OutScript.encode({ type: 'pkh', hash: hash160(publicKey) });
  const sighash = Uint8Array.of(SIGHASH_ALL, 0, 0, 0);
  if (legacy) return sha256x2(RawTx.encode(withSpend(tx, { scriptSig: script, witness: [] })), sighash);
  const { version, outpoint, sequence, output, lockTime } = partsOf(tx);
  const [prevouts, sequences, outputs] = [sha256x2(outpoint), sha256x2(sequence), sha256x2(output)];
  const spent = concatBytes(outpoint, withLength(script), NO_SATS, sequence);
  return sha256x2(concatBytes(version, prevouts, sequences, spent, outputs, lockTime, sighash));
}

/** BIP-341's digest of a key path spend: epoch 0, no annex, input 0. */
export function taprootHash(tx: RawTransaction, scriptPubKey: Uint8Array, sighash: number): Uint8Array {
  const { version, outpoint, sequence, output, lockTime } = partsOf(tx);
  const hashes = [outpoint, NO_SATS, withLength(scriptPubKey), sequence, output].map((part) => sha256(part));
  const head = concatBytes(Uint8Array.of(0, sighash), version, lockTime);
  return schnorr.utils.taggedHash('TapSighash', concatBytes(head, ...hashes, new Uint8Array(5)));
}
