/**
 * Reads a request for a second signature on a mint. Only bytes that `mintMessage` builds are accepted. The message is
 * built again from the decoded fields, and both must be equal. So it cannot contain a hidden instruction, account or
 * signer.
 * @module
 */
import {
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
} from '@solana/web3.js';
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';
import { getMintToCheckedInstructionDataDecoder } from '@solana-program/token';
import { orUndefined } from '../../core/or-undefined.ts';
import { isSignedBy, verifyingKey } from '../ed25519.ts';
import { decodeBase58, encodeBase58 } from './address.ts';
import { type MintMultisig, mintMessage } from './token-messages.ts';
import type { Lifetime } from './transaction.ts';

/** The mints that may be requested. */
export type MintTerms = {
  /** The key that pays and signs first. */
  readonly custodian: string;
  readonly multisig: MintMultisig;
  readonly mint: string;
  /** Owner of the receiving associated account. */
  readonly owner: string;
};

export type MintRequest = {
  /** The bytes to sign. */
  readonly message: Uint8Array;
  /** The custodian's signature, base58: the transaction's id. */
  readonly signature: string;
  readonly blockhash: string;
  readonly program: string;
  readonly atoms: bigint;
  readonly decimals: number;
};

export type RequestRefusal = 'not_a_mint' | 'not_signed_by_custodian';

/**
 * @param wire bytes of a transaction that the custodian has signed and the witness has not
 * @returns the request, or the reason why the bytes are not one
 */
export async function readMintRequest(
  wire: Uint8Array,
  terms: MintTerms,
): Promise<MintRequest | RequestRefusal> {
  const request = orUndefined(() => decode(wire, terms));
  if (!request) return 'not_a_mint';
  const { signature, ...mint } = request;
  const publicKey = decodeBase58(terms.custodian, 32);
  const key = publicKey && (await verifyingKey(publicKey));
  if (!key || !signature || !(await isSignedBy(key, mint.message, signature)))
    return 'not_signed_by_custodian';
  return { ...mint, signature: encodeBase58(signature) };
}

/**
 * @returns undefined unless the message equals the one that the service builds for these terms. @throws on malformed
 * bytes
 */
function decode(wire: Uint8Array, { custodian: payer, multisig, mint, owner }: MintTerms) {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
  const message = new Uint8Array(messageBytes);
  const compiled = getCompiledTransactionMessageDecoder().decode(message);
  if (compiled.version === 'legacy') return undefined;
  const { instructions } = decompileTransactionMessage(compiled);
  const last = instructions.at(-1);
  if (!last?.data) return undefined;
  const { amount: atoms, decimals } = getMintToCheckedInstructionDataDecoder().decode(last.data);
  const program: string = last.programAddress;
  const lifetime: Lifetime = { blockhash: compiled.lifetimeToken, version: compiled.version };
  const rebuilt = mintMessage(
    { payer, multisig, owner, mint, program, atoms, decimals, memo: memoOf(instructions.at(-2)) },
    lifetime,
  );
  if (!areEqual(rebuilt, message)) return undefined;
  const signature = Object.entries(signatures).find(([signer]) => signer === payer)?.[1];
  return { message, signature, blockhash: lifetime.blockhash, program, atoms, decimals };
}

const memoOf = (instruction: Instruction | undefined): string | undefined =>
  instruction?.programAddress === LEGACY_MEMO_PROGRAM_ADDRESS_V3
    ? new TextDecoder().decode(instruction.data as Uint8Array)
    : undefined;

const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);
