/** Sends transactions that keys on the operator's machine sign, and waits until they are final. */
import { base64 } from '@scure/base';
import type { Instruction } from '@solana/web3.js';
import {
  type ComputeBudget,
  compileMessage,
  EXPIRY_BLOCKS,
  signedTransaction,
} from '../../src/chain/solana/transaction.ts';
import type { Signer } from '../../src/custody/kernel/ports.ts';
import { quorumOf, settled, valuesOf } from '../../src/custody/nodes/quorum.ts';
import { byTrust } from '../../src/custody/nodes/solana-view.ts';
import { within } from '../../src/http/within.ts';
import {
  isAlreadyProcessed,
  RpcRefusal,
  type SolanaNode,
  type SolanaRpc,
} from '../../src/providers/solana-rpc.ts';

/** Between two rounds of reads and sends: a public node refuses a key that sends more often. */
const POLL_MS = 2_000;
/** Consecutive polls that read nothing, about five minutes: the transactions have expired meanwhile. */
const MOST_UNREAD = 150;

export type Prepared = {
  /** The payer of the fee. */
  readonly payer: Signer;
  /** The other keys that sign. */
  readonly others: readonly Signer[];
  readonly budget: ComputeBudget;
  readonly instructions: readonly Instruction[];
};

type Attempt = { readonly signature: string; readonly wire: string; isSent: boolean };

/** `open` while the transaction may land; an error has a text for the operator. */
type Outcome = 'open' | 'final' | { readonly error: unknown };

/**
 * Sends to every node with each poll: a node may drop a transaction, and none sends it again by itself. All transactions
 * share the reads of a poll. A read that fails ends nothing, because they may land until their expiry.
 * @param show gets each signature before the first transaction is sent
 * @returns an error with a text for the operator, for each transaction that is not final
 * @throws when no blockhash can be read; nothing was sent then
 */
export async function sendSigned<T extends Prepared>(
  rpc: SolanaRpc,
  transactions: readonly T[],
  show: (transaction: T, signature: string) => void,
): Promise<ReadonlyMap<T, unknown>> {
  const lifetime = await lifetimeOf(rpc);
  const signedAt = await heightOf(rpc);
  const failed = new Map<T, unknown>();
  const open = new Map<T, Attempt>();
  for (const transaction of transactions)
    try {
      open.set(transaction, await sign(transaction, lifetime));
    } catch (error) {
      failed.set(transaction, error);
    }
  for (const [transaction, { signature }] of open) show(transaction, signature);
  const read = outcomesUntil(rpc, signedAt + EXPIRY_BLOCKS);
  for (;;) {
    const outcomes = await read([...open.values()]);
    const polled = [...open].map(async ([transaction, attempt], at) => {
      const shown = outcomes[at] ?? 'open';
      const outcome = shown === 'open' ? await send(rpc, attempt) : shown;
      if (outcome === 'open') return;
      open.delete(transaction);
      if (outcome !== 'final') failed.set(transaction, outcome.error);
    });
    await Promise.all(polled);
    if (open.size === 0) return failed;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function sign(
  { payer, others, budget, instructions }: Prepared,
  lifetime: Parameters<typeof compileMessage>[1],
): Promise<Attempt> {
  const message = compileMessage(payer.address, lifetime, budget, instructions);
  const own = await payer.sign(message);
  const cosignatures = await Promise.all(others.map((signer) => signer.sign(message)));
  const { wire, signature } = signedTransaction(message, [own, ...cosignatures]);
  return { signature, wire: base64.encode(wire), isSent: false };
}

/**
 * What each responding node shows.
 * @throws the failure of a node when none responds
 */
async function eachNode<T>(rpc: SolanaRpc, read: (node: SolanaNode) => Promise<T>): Promise<T[]> {
  const results = await settled(rpc.nodes.map(read), quorumOf(rpc.nodes.length), within);
  const values = valuesOf(results);
  const failure = results.find((result) => result.status === 'rejected');
  if (values.length === 0) throw failure?.reason ?? new Error('No Solana node is configured.');
  return values;
}

/** The blockhash that most of the responding nodes have seen. One node's blockhash may be invented or about to expire. */
async function lifetimeOf(rpc: SolanaRpc) {
  const tips = await eachNode(rpc, (node) => node.latestBlockhash('confirmed'));
  let best = { blockhash: '', seen: -1 };
  for (const blockhash of byTrust(tips, quorumOf(tips.length))) {
    const states = await eachNode(rpc, (node) => node.isBlockhashValid(blockhash, 'confirmed'));
    const seen = states.filter(({ valid }) => valid).length;
    if (seen > best.seen) best = { blockhash, seen };
    if (seen >= quorumOf(rpc.nodes.length)) break;
  }
  return best;
}

/** The confirmed height that a majority of the responding nodes has reached. */
async function heightOf(rpc: SolanaRpc): Promise<bigint> {
  const seen = await eachNode(rpc, async (node) => (await node.epochInfo('confirmed')).blockHeight);
  const sorted = seen.toSorted((one, other) => (one < other ? 1 : -1));
  return sorted[quorumOf(sorted.length) - 1] ?? 0n;
}

type Status = Awaited<ReturnType<SolanaNode['signatureStatuses']>>['statuses'][number];
/** What each node shows of one attempt, and the finalized height that it showed before. */
type Seen = readonly { readonly height: bigint; readonly status: Status }[];

/**
 * A majority of the responding nodes decides. A node that has confirmed the transaction agrees with one that shows it as
 * final, so that an emergency does not wait for slow nodes.
 */
function outcomeOf(signature: string, seen: Seen, expiry: bigint): Outcome {
  const isMost = (nodes: Seen): boolean => nodes.length >= quorumOf(seen.length);
  const landed = seen.filter(({ status }) => status !== null && status.commitment !== 'processed');
  if (landed.some(({ status }) => status?.commitment === 'finalized')) {
    if (isMost(landed.filter(({ status }) => status?.err === null))) return 'final';
    if (isMost(landed.filter(({ status }) => status?.err !== null)))
      return { error: new Error('The transaction failed on the chain.') };
  }
  if (!isMost(seen.filter(({ status, height }) => status === null && height > expiry))) return 'open';
  const text = `${signature} has expired. Repeat the command: it shows what the chain has.`;
  return { error: new Error(text) };
}

/** Reads what the chain has of the attempts. While reads fail, they stay open until `MOST_UNREAD` is reached. */
function outcomesUntil(rpc: SolanaRpc, expiry: bigint) {
  let unread = 0;
  return async (attempts: readonly Attempt[]): Promise<Outcome[]> => {
    try {
      const signatures = attempts.map(({ signature }) => signature);
      const views = await eachNode(rpc, async (node) => {
        // The height is read before the statuses, so that a landing in the last block is not missed.
        const { blockHeight: height } = await node.epochInfo('finalized');
        const { statuses } = await node.signatureStatuses(signatures);
        return statuses.map((status) => ({ height, status }));
      });
      unread = 0;
      return signatures.map((signature, at) => {
        const seen = views.flatMap((view) => view[at] ?? []);
        return outcomeOf(signature, seen, expiry);
      });
    } catch (error) {
      unread += 1;
      return attempts.map(() => (unread > MOST_UNREAD ? { error } : 'open'));
    }
  };
}

/** An attempt that every node refuses before any has accepted it cannot land. */
async function send(rpc: SolanaRpc, attempt: Attempt): Promise<Outcome> {
  const answers = await settled(
    rpc.nodes.map((node) => node.send(attempt.wire)),
    1,
    within,
  );
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  attempt.isSent ||= refusals.length < answers.length || refusals.some(isAlreadyProcessed);
  const isRefused = !attempt.isSent && refusals.every((reason) => reason instanceof RpcRefusal);
  return isRefused ? { error: refusals[0] ?? new Error('No Solana node is configured.') } : 'open';
}
