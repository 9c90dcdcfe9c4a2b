import {
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  getSignatureFromTransaction,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import type { LandedTransaction, SolanaLedger } from './solana-ledger.ts';

/** Signs the instructions (their signers sign too) with the newest block hash. */
export async function buildTransaction(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<{ signature: string; wire: Uint8Array }> {
  const { blockhash, lastValidBlockHeight } = await ledger.clock.newestBlockhash();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageFeePayerSigner(payer, tx),
    (tx) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) },
        tx,
      ),
    (tx) => appendTransactionMessageInstructions(instructions, tx),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  return {
    signature: getSignatureFromTransaction(transaction),
    wire: Uint8Array.from(getTransactionEncoder().encode(transaction)),
  };
}

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111');
const COMPUTE_UNITS = 400_000;
let landings = 0;

// Two equal transfers in one slot would have the same signature, so each gets a different compute limit,
// which is free.
function distinctLimit(): Instruction {
  landings = (landings + 1) % 100_000;
  const data = new Uint8Array(5);
  data[0] = 2;
  new DataView(data.buffer).setUint32(1, COMPUTE_UNITS + landings, true);
  return { programAddress: COMPUTE_BUDGET, data };
}

/** Lands a transaction of the world itself, without the servers and their faults; throws when it fails. */
export async function landTransaction(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
  options: { readonly asVersionOne?: boolean } = {},
): Promise<LandedTransaction> {
  const { signature, wire } = await buildTransaction(ledger, payer, [distinctLimit(), ...instructions]);
  const outcome = await ledger.send(wire, { skipPreflight: false, ...options });
  if ('error' in outcome) throw new Error(outcome.error.message);
  const landed = ledger.transaction(signature);
  if (landed === null) throw new Error(`${signature} did not land`);
  return landed;
}

export function transferSol(
  ledger: SolanaLedger,
  from: KeyPairSigner,
  to: string,
  lamports: bigint,
): Promise<LandedTransaction> {
  return landTransaction(ledger, from, [
    getTransferSolInstruction({ source: from, destination: address(to), amount: lamports }),
  ]);
}
