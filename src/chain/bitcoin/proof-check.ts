import { isMessageSigned } from '../solana/message-signature.ts';
import {
  type CheckLine,
  checkBitcoin,
  checkFigures,
  checkSolana,
  type ProofEvidence,
} from './proof-lines.ts';
import { parseProofMessage } from './proof-message.ts';

/**
 * Checks a published proof: five lines, each green or red.
 * @throws RangeError when the message is not exactly the text of a proof
 */
export function checkProof(evidence: ProofEvidence): CheckLine[] {
  const message = parseProofMessage(evidence.proof.message);
  return [
    checkBitcoin(evidence, message),
    checkSolana(evidence, message, isMessageSigned(evidence.proof.message, evidence.proof.solana)),
    ...checkFigures(evidence, message),
  ];
}
