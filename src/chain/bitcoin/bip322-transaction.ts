/**
 * The two virtual transactions of BIP-322 and their digests. `to_spend` pays the address and commits to the
 * message through an input that no chain can contain. `to_sign` spends it, and the signature is that spend.
 * @module
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { OutScript, RawTx } from '@scure/btc-signer';
import { hash160, sha256x2 } from '@scure/btc-signer/utils.js';
import { messageBytes } from './verdict.ts';

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
