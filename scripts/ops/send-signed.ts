/** Sends a transaction that keys on the operator's machine sign, and waits until it is final. */
import { setTimeout as sleep } from 'node:timers/promises';
import { base64 } from '@scure/base';
import type { Instruction } from '@solana/web3.js';
import {
  type ComputeBudget,
  compileMessage,
  EXPIRY_BLOCKS,
  signedTransaction,
} from '../../src/chain/solana/transaction.ts';
import type { Signer } from '../../src/custody/kernel/ports.ts';
import { settled } from '../../src/custody/nodes/quorum.ts';
import { within } from '../../src/http/within.ts';
import { isAlreadyProcessed, type SolanaRpc } from '../../src/providers/solana-rpc.ts';

const POLL_MS = 500;

export type Prepared = {
  /** The payer of the fee. */
  readonly payer: Signer;
  /** The other keys that sign. */
  readonly others: readonly Signer[];
  readonly budget: ComputeBudget;
  readonly instructions: readonly Instruction[];
};

/**
 * Sends to every node with each poll: a node may drop a transaction, and none sends it again by itself.
 * @param show gets the signature before the transaction is sent
 * @throws Error with a text for the operator
 */
export async function sendSigned(
  rpc: SolanaRpc,
  { payer, others, budget, instructions }: Prepared,
  show: (signature: string) => void,
): Promise<void> {
  const lifetime = await rpc.first((node) => node.latestBlockhash('confirmed'));
  const { blockHeight: signedAt } = await rpc.first((node) => node.epochInfo('confirmed'));
  const message = compileMessage(payer.address, lifetime, budget, instructions);
  const own = await payer.sign(message);
  const cosignatures = await Promise.all(others.map((signer) => signer.sign(message)));
  const { wire, signature } = signedTransaction(message, [own, ...cosignatures]);
  show(signature);
  for (let isSent = false; ; ) {
    // The height is read before the status, so that a landing in the last block is not missed.
    const { blockHeight } = await rpc.first((node) => node.epochInfo('finalized'));
    const { statuses } = await rpc.first((node) => node.signatureStatuses([signature]));
    const [status] = statuses;
    if (status?.commitment === 'finalized') {
      if (status.err !== null) throw new Error('The transaction failed on the chain.');
      return;
    }
    if (!status && blockHeight > signedAt + EXPIRY_BLOCKS)
      throw new Error(`${signature} has expired. Repeat the command: it shows what the chain has.`);
    const answers = await settled(
      rpc.nodes.map((node) => node.send(base64.encode(wire))),
      1,
      within,
    );
    isSent ||= answers.some((answer) => answer.status === 'fulfilled' || isAlreadyProcessed(answer.reason));
    const refusal = answers.find((answer) => answer.status === 'rejected');
    if (!isSent) throw refusal?.reason ?? new Error('No Solana node is configured.');
    await sleep(POLL_MS);
  }
}
