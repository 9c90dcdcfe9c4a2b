import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';

const VERSION_ONE = 0x81;

/** Size in bytes of the largest transaction of this version. */
export const maxWireBytes = (bytes: Uint8Array): number => (bytes[0] === VERSION_ONE ? 4096 : 1232);

export interface AddressLookup {
  readonly table: string;
  readonly writableIndexes: readonly number[];
}

/** The parts of a transaction that the world decodes before it runs. */
export interface WireTransaction {
  readonly signature: string;
  /** Keys that sign, with their signatures as base58, in order. */
  readonly signers: readonly { readonly address: string; readonly signature: string }[];
  readonly version: 'legacy' | number;
  readonly blockhash: string;
  readonly writableAccounts: readonly string[];
  readonly lookups: readonly AddressLookup[];
  readonly signaturesValid: boolean;
}

/** Decodes a transaction; throws for other bytes. */
export function readWireTransaction(bytes: Uint8Array): WireTransaction {
  const transaction = getTransactionDecoder().decode(bytes);
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header;
  const keys = message.staticAccounts;
  const signatures = Object.entries(transaction.signatures);
  const first = signatures[0]?.[1] ?? new Uint8Array(64);
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : [];
  return {
    signature: base58.encode(Uint8Array.from(first)),
    signers: signatures.map(([address, signature]) => ({
      address,
      signature: base58.encode(Uint8Array.from(signature ?? new Uint8Array(64))),
    })),
    version: message.version,
    blockhash: message.lifetimeToken,
    writableAccounts: keys.filter((_, index) =>
      index < numSignerAccounts
        ? index < numSignerAccounts - numReadonlySignerAccounts
        : index < keys.length - numReadonlyNonSignerAccounts,
    ),
    lookups: lookups.map((lookup) => ({
      table: lookup.lookupTableAddress,
      writableIndexes: lookup.writableIndexes,
    })),
    signaturesValid: signatures.every(
      ([address, signature]) =>
        signature !== null &&
        ed25519.verify(
          Uint8Array.from(signature),
          Uint8Array.from(transaction.messageBytes),
          base58.decode(address),
        ),
    ),
  };
}
