/**
 * Checks the archive of proofs in the browser: each proof alone, and the chain that their hashes form.
 * @module
 */
import type { ProofHistory } from '../../packages/client/src/index.ts';
import { checkBitcoin, checkSolana } from '../../src/chain/bitcoin/proof-lines.ts';
import { parseProofMessage, proofHash } from '../../src/chain/bitcoin/proof-message.ts';
import { isSignedInBrowser } from './solana-signature.ts';

export type ArchivedProof = ProofHistory['proofs'][number];

/** How a row of the archive differs from its message; null if it does not. */
function rowFault({ message, timestamp, hash, figures, bitcoin, solana }: ArchivedProof): string | null {
  const signed = parseProofMessage(message);
  const shown = [
    [timestamp, signed.time],
    [figures.reserveSatoshis, signed.reserveSats.toString()],
    [figures.absrSupplyAtoms, signed.absr?.atoms.toString() ?? null],
    [figures.previousProof, signed.previousProof],
  ];
  if (shown.some(([own, said]) => own !== said)) return 'its figures differ from its message';
  const ownHash = proofHash(message, { bitcoin: bitcoin.signature, solana: solana.signature });
  return ownHash === hash ? null : 'its hash does not belong to its message and signatures';
}

const faultOf = (proof: ArchivedProof): string | null => {
  try {
    return rowFault(proof);
  } catch {
    return 'its message is not a proof message';
  }
};

export type ChainResult =
  | { readonly type: 'empty' }
  | { readonly type: 'linked'; readonly count: number; readonly first: string }
  | { readonly type: 'broken'; readonly at: string; readonly why: string };

/**
 * Whether each proof contains the hash of the one before it, back to the first.
 * @param proofs newest first
 * @param report receives the number of proofs that were checked
 */
export async function checkChain(
  proofs: AsyncIterable<ArchivedProof>,
  report: (count: number) => void,
): Promise<ChainResult> {
  let count = 0;
  let later: ArchivedProof | null = null;
  for await (const proof of proofs) {
    const fault = faultOf(proof);
    if (fault !== null) return { type: 'broken', at: proof.timestamp, why: fault };
    if (later !== null && later.figures.previousProof !== proof.hash)
      return {
        type: 'broken',
        at: later.timestamp,
        why: 'it does not contain the hash of the previous proof',
      };
    later = proof;
    count += 1;
    if (count % 100 === 0) report(count);
  }
  if (later === null) return { type: 'empty' };
  if (later.figures.previousProof !== null)
    return { type: 'broken', at: later.timestamp, why: 'the proofs before it are missing' };
  return { type: 'linked', count, first: later.timestamp };
}

/** What is wrong with one proof of the archive; null when both keys signed it and its hash is right. */
export async function proofFault(proof: ArchivedProof): Promise<string | null> {
  const fault = faultOf(proof);
  if (fault !== null) return fault;
  const message = parseProofMessage(proof.message);
  const isSigned = await isSignedInBrowser(proof.message, proof.solana);
  const wrong = [checkBitcoin({ proof }, message), checkSolana({ proof }, message, isSigned)].find(
    ({ result }) => result !== 'confirmed',
  );
  return wrong?.text ?? null;
}
