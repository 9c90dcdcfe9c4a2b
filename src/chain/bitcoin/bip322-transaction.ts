/**
 * The two virtual transactions of BIP-322 and what is signed in them. `to_spend` pays the address and commits to the
 * message by an input that no chain can hold; `to_sign` spends it, and a signature is that spend.
 * @module
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { OutScript, RawTx, Transaction } from '@scure/btc-signer';
import { hash160, sha256x2 } from '@scure/btc-signer/utils.js';
import { messageBytes } from './verdict.ts';

export const NOTHING = new Uint8Array();
const OP_RETURN = Uint8Array.of(0x6a);
/** Taproot's spelling of ALL that is a byte shorter (BIP-341). */
export const SIGHASH_DEFAULT = 0;
export const SIGHASH_ALL = 1;

export type RawTransaction = Parameters<typeof RawTx.encode>[0];
/** What a signer may choose in `to_sign`: all zero in the simple form. */
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

/** Txid bytes in the order in which they are printed. */
export function toSpendTxid(message: string, scriptPubKey: Uint8Array): Uint8Array {
  const scriptSig = concatBytes(Uint8Array.of(0x00, 0x20), bip322Hash(message)); // OP_0 PUSH32
  return txidOf(virtual(NO_TERMS, new Uint8Array(32), 0xffffffff, scriptSig, scriptPubKey));
}

/** Unsigned. */
export const toSign = (message: string, scriptPubKey: Uint8Array, terms: Terms): RawTransaction =>
  virtual(terms, toSpendTxid(message, scriptPubKey), 0, NOTHING, OP_RETURN);

/** Txid of `to_sign` in the simple form, in printed order. */
export const toSignTxid = (message: string, scriptPubKey: Uint8Array): Uint8Array =>
  txidOf(toSign(message, scriptPubKey, NO_TERMS));

export const withSpend = (tx: RawTransaction, { scriptSig, witness }: Spend): RawTransaction => ({
  ...tx,
  segwitFlag: witness.length > 0,
  inputs: tx.inputs.map((input) => ({ ...input, finalScriptSig: scriptSig })),
  ...(witness.length > 0 ? { witnesses: [[...witness]] } : {}),
});

const digests = (tx: RawTransaction) => Transaction.fromRaw(RawTx.encode(tx), { allowUnknownOutputs: true });

/** What an ECDSA key signs: the legacy digest for P2PKH, BIP-143's for witness version 0. */
export function ecdsaHash(tx: RawTransaction, publicKey: Uint8Array, legacy: boolean): Uint8Array {
  const script = OutScript.encode({ type: 'pkh', hash: hash160(publicKey) });
  if (!legacy) return digests(tx).preimageWitnessV0(0, script, SIGHASH_ALL, 0n);
  const unsigned = withSpend(tx, { scriptSig: script, witness: [] });
  return sha256x2(RawTx.encode(unsigned), Uint8Array.of(SIGHASH_ALL, 0, 0, 0));
}

export const taprootHash = (tx: RawTransaction, scriptPubKey: Uint8Array, sighash: number): Uint8Array =>
  digests(tx).preimageWitnessV1(0, [scriptPubKey], sighash, [0n]);
