/** Sends a transaction that keys on the operator's machine sign, and waits until it is final. */
import { setTimeout as sleep } from 'node:timers/promises';
import { base64 } from '@scure/base';
import type { Instruction } from '@solana/web3.js';
import { type ComputeBudget, compileMessage, signedTransaction } from '../../src/chain/solana/transaction.ts';
import type { Signer } from '../../src/custody/kernel/ports.ts';
import type { SolanaRpc } from '../../src/providers/solana-rpc.ts';

const POLL_MS = 500;
const POLLS = 240;

export type Prepared = {
  /** The payer of the fee. */
  readonly payer: Signer;
  /** The other keys that sign. */
  readonly others: readonly Signer[];
  readonly budget: ComputeBudget;
  readonly instructions: readonly Instruction[];
};

/**
 * @param show gets the signature before the transaction is sent
 * @throws Error with a text for the operator
 */
export async function sendSigned(
  rpc: SolanaRpc,
  { payer, others, budget, instructions }: Prepared,
  show: (signature: string) => void,
): Promise<void> {
  const lifetime = await rpc.first((node) => node.latestBlockhash('confirmed'));
  const message = compileMessage(payer.address, lifetime, budget, instructions);
  const own = await payer.sign(message);
  const cosignatures = await Promise.all(others.map((signer) => signer.sign(message)));
  const { wire, signature } = signedTransaction(message, [own, ...cosignatures]);
  show(signature);
  await rpc.first((node) => node.send(base64.encode(wire)));
  for (let poll = 0; poll < POLLS; poll++) {
    const { statuses } = await rpc.first((node) => node.signatureStatuses([signature]));
    const [status] = statuses;
    if (status?.commitment === 'finalized') {
      if (status.err !== null) throw new Error('The transaction failed on the chain.');
      return;
    }
    await sleep(POLL_MS);
  }
  throw new Error(
    `${signature} is not final after two minutes. Repeat the command: it shows what the chain has.`,
  );
}
