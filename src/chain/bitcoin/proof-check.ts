/**
 * The complete check of a published proof. This module is separate from `proof-lines.ts`, because it loads the ed25519
 * library. A page loads it only if the browser lacks ed25519.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { orUndefined } from '../../core/or-undefined.ts';
import { decodeBase58 } from '../solana/address.ts';
import {
  type CheckLine,
  checkBitcoin,
  checkFigures,
  checkSolana,
  type ProofEvidence,
} from './proof-lines.ts';
import { parseProofMessage } from './proof-message.ts';

/**
 * Checks a proof. Returns six lines, each with its result.
 * @throws RangeError if the message is not exactly a proof message
 */
export function checkProof(evidence: ProofEvidence): CheckLine[] {
  const message = parseProofMessage(evidence.proof.message);
  return [
    checkBitcoin(evidence, message),
    checkSolana(evidence, message, isMessageSigned(evidence.proof.message, evidence.proof.solana)),
    ...checkFigures(evidence, message),
  ];
}

/**
 * Whether a Solana key has signed a message as wallets do: ed25519 over the UTF-8 bytes.
 * @param signed address and signature as base58; a malformed string is not a signature
 */
export function isMessageSigned(
  message: string,
  { address, signature }: { readonly address: string; readonly signature: string },
): boolean {
  const key = decodeBase58(address, 32);
  const bytes = decodeBase58(signature, 64);
  if (!key || !bytes) return false;
  // `zip215: false` applies the strict rules, as the chain does.
  const options = { zip215: false };
  return orUndefined(() => ed25519.verify(bytes, new TextEncoder().encode(message), key, options)) ?? false;
}
