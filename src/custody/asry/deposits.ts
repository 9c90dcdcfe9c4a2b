/**
 * Reads a deposit from every node. What is paid follows from it, so nodes that see it differently end it, and one that
 * does not have it as final yet is waited for: a single lying node must not be able to invent a deposit.
 * @module
 */
import {
  type DepositTerms,
  type DepositTransaction,
  type DepositVerdict,
  judgeDeposit,
} from '../../chain/solana/deposit.ts';

export type DepositNode = {
  /** A finalized transaction, or null while this node does not have it. @throws when it fails */
  transaction(signature: string): Promise<DepositTransaction | null>;
  /** The oldest slot of its history. */
  firstAvailableBlock(): Promise<bigint>;
};

export type DepositReading =
  /** Not final yet, or unknown to a node that would know it. */
  | { readonly type: 'absent' }
  | { readonly type: 'disagreement' }
  | { readonly type: 'judged'; readonly signature: string; readonly verdict: DepositVerdict };

/** @throws the first node's failure when none answers */
export async function readDeposit(
  nodes: readonly DepositNode[],
  signature: string,
  terms: DepositTerms,
): Promise<DepositReading> {
  const answers = await Promise.allSettled(nodes.map((node) => node.transaction(signature)));
  const found: DepositTransaction[] = [];
  const without: DepositNode[] = [];
  for (const [index, answer] of answers.entries()) {
    const node = nodes[index];
    if (answer.status === 'rejected' || !node) continue;
    if (answer.value) found.push(answer.value);
    else without.push(node);
  }
  if (found.length + without.length === 0)
    throw answers.find((answer) => answer.status === 'rejected')?.reason;
  const [first] = found;
  if (!first || !(await areTooYoung(without, first.slot))) return { type: 'absent' };

  const readings = found.map((transaction) => ({
    type: 'judged' as const,
    signature: transaction.signature,
    verdict: judgeDeposit(transaction, terms),
  }));
  // A node that keeps too little is silent where another one tells.
  const telling = readings.filter(({ verdict }) => verdict.type !== 'unverifiable');
  const [reading = readings[0], ...others] = telling;
  if (!reading) return { type: 'absent' };
  return others.every((other) => isSame(other, reading)) ? reading : { type: 'disagreement' };
}

/** Whether the history of all these nodes begins after a slot: they cannot know what happened there. */
async function areTooYoung(nodes: readonly DepositNode[], slot: bigint): Promise<boolean> {
  const firsts = await Promise.all(nodes.map((node) => node.firstAvailableBlock().catch(() => 0n)));
  return firsts.every((first) => first > slot);
}

const text = (reading: DepositReading): string =>
  JSON.stringify(reading, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

const isSame = (a: DepositReading, b: DepositReading): boolean => text(a) === text(b);
