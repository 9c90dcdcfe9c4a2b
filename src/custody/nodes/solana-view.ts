/**
 * The custodian's view of the Solana chain, from several nodes. A read that moves money is used only if a quorum of the
 * nodes agrees.
 * @module
 */
import { type Lifetime, lamportsChange, type MessageVersion } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import {
  type ANY_VERSION,
  asUpstreamFailure,
  type ChainTransaction,
  isAlreadyProcessed,
  type SolanaNode,
} from '../../providers/solana-rpc.ts';
import type { NodeView } from '../kernel/observation.ts';
import type { Landing, SignedAt, Signing, Witness } from '../kernel/operation.ts';
import type { Log, Within } from '../kernel/ports.ts';
import type { Balance } from '../kernel/spending-limits.ts';
import { expiryHeight } from '../kernel/state-machine.ts';
import {
  FINALITY_KNOWN_MS,
  type Finality,
  type FinalityMemory,
  FinalityWatch,
  MAX_NODE_LAG,
} from './finality.ts';
import { type History, historyOf } from './history.ts';
import {
  type Decide,
  decideSame,
  decideTransaction,
  type List,
  type NodeAgreement,
  Quorum,
  type QuorumMemory,
  quorumMissing,
  settled,
  transactionsDiffer,
  valuesOf,
} from './quorum.ts';

export type ChainPort = Pick<
  SolanaView,
  | 'quorum'
  | 'balance'
  | 'send'
  | 'views'
  | 'landing'
  | 'checkFinality'
  | 'height'
  | 'agreement'
  | 'memory'
  | 'recall'
>;

export type SignatureState = 'unknown' | 'pending' | 'confirmed' | 'final';

/** A blockhash that a quorum of nodes has seen, with each node's height after that. */
export type Blockhash = SignedAt & Lifetime;

export type SolanaViewPorts = {
  /** The configured nodes. If several have the same id, only the first is used. */
  readonly nodes: readonly SolanaNode[];
  readonly reserveAddress: string;
  readonly now: () => number;
  readonly within: Within;
  readonly log: Log;
  /** Format version of our own messages; 0 when absent. */
  readonly messageVersion?: MessageVersion;
};

type Memory = QuorumMemory & { readonly finality: FinalityMemory };

export class SolanaView {
  readonly quorum: number;
  readonly #ports: SolanaViewPorts;
  readonly #questions: Quorum<SolanaNode>;
  readonly #finality: FinalityWatch;
  #turn = 0;

  constructor(ports: SolanaViewPorts) {
    const nodes = ports.nodes.filter(
      (node, index) => ports.nodes.findIndex(({ id }) => id === node.id) === index,
    );
    this.#ports = { ...ports, nodes };
    this.#questions = new Quorum(this.#ports);
    this.quorum = this.#questions.size;
    this.#finality = new FinalityWatch(this.#ports, this.#questions);
  }

  historyOf(address: string): History {
    return historyOf(this.#ports.nodes, address);
  }

  agreement(): NodeAgreement & Finality {
    const { stalledSince, consensus } = this.#finality.known;
    return { ...this.#questions.agreement(), stalledSince, consensus };
  }

  memory(): string {
    return JSON.stringify({ ...this.#questions.memory(), finality: this.#finality.known } satisfies Memory);
  }

  recall(text: string): void {
    const { finality, ...memory } = JSON.parse(text) as Memory;
    this.#questions.recall(memory);
    this.#finality.known = finality;
  }

  checkFinality() {
    return this.#finality.check();
  }

  height(commitment: 'confirmed' | 'finalized'): Promise<bigint> {
    return this.#finality.height(commitment);
  }

  /** Finalized lamports of any account. @throws AppError UPSTREAM_FAILED */
  async balanceOf(address: string): Promise<Lamports> {
    return (await this.balance(0n, address)).lamports;
  }

  /**
   * Finalized balance at `minSlot` or later: the highest figure that a quorum of nodes confirms.
   * @throws AppError UPSTREAM_FAILED when fewer nodes have reached that slot
   */
  async balance(minSlot: bigint, address = this.#ports.reserveAddress): Promise<Balance> {
    const read = async (node: SolanaNode) => {
      const balance = await node.balance(address, 'finalized', minSlot > 0n ? minSlot : undefined);
      if (balance.slot < minSlot) throw upstreamFailed(node.name, 'behind');
      return balance;
    };
    return this.#decided(`balance ${address}`, read, (given, isComplete) => {
      const shown = given.map(({ value }) => value.lamports);
      const covered = this.#questions.covered(shown, isComplete);
      if (covered === undefined) return undefined;
      const slots = given.map(({ value }) => value.slot).toSorted((a, b) => (a < b ? -1 : 1));
      return { agreed: { lamports: lamports(covered), slot: slots[0] ?? 0n } };
    });
  }

  /**
   * A finalized transaction, or null without a quorum.
   * @throws AppError UPSTREAM_FAILED: `nodes_disagree` if responses differ, `quorum_missing` if too few arrive
   */
  async transaction(signature: string, newest?: typeof ANY_VERSION): Promise<ChainTransaction | null> {
    const read = (node: SolanaNode) => node.transaction(signature, 'finalized', newest);
    const decide = decideTransaction(this.quorum);
    const answer = await this.#questions.ask(`transaction ${signature}`, read, decide, transactionsDiffer);
    return answer?.agreed ?? null;
  }

  /**
   * A response whose `keyOf` a quorum shares. Nodes at other slots may differ in the other members. @throws AppError
   * UPSTREAM_FAILED
   */
  async agreed<T>(
    question: string,
    read: (node: SolanaNode) => Promise<T>,
    keyOf: (value: T) => unknown = (value) => value,
  ): Promise<T> {
    return this.#decided(question, read, decideSame(this.quorum, keyOf));
  }

  /**
   * Each value of a list, decided separately, and the highest figure that a quorum has reached. @throws AppError
   * UPSTREAM_FAILED
   */
  async agreedEach<T>(question: string, read: (node: SolanaNode) => Promise<List<T>>) {
    return this.#decided(question, read, (given, isComplete) => this.#questions.each(given, isComplete));
  }

  async #decided<T, R>(question: string, read: (node: SolanaNode) => Promise<T>, decide: Decide<T, R>) {
    const answer = await this.#questions.ask(question, read, decide);
    if (!answer) throw quorumMissing();
    return answer.agreed;
  }

  /** The transaction as the next node in turn has confirmed it. It may still be dropped, so it must not move money. */
  async confirmedTransaction(signature: string): Promise<ChainTransaction | null> {
    return this.#fromNext((node) => node.transaction(signature, 'confirmed'));
  }

  /** The 200 newest signatures of an address, from the node whose turn it is. They only set the order of reads. */
  async newestOf(address: string): Promise<readonly string[]> {
    const page = { limit: 200, commitment: 'confirmed' } as const;
    const listed = await this.#fromNext((node) => node.signaturesFor(address, page));
    return listed?.map(({ signature }) => signature) ?? [];
  }

  async #fromNext<T>(read: (node: SolanaNode) => Promise<T>): Promise<T | null> {
    const node = this.#ports.nodes[this.#turn++ % this.#ports.nodes.length];
    return node ? read(node).catch(() => null) : null;
  }

  /**
   * The most advanced state of each signature that any node shows. @throws AppError UPSTREAM_FAILED if every node fails
   */
  async signatureStates(signatures: readonly string[]): Promise<SignatureState[]> {
    const reads = await this.#fromMost((node) => node.signatureStatuses(signatures));
    const seen = valuesOf(reads);
    const failed = reads.find((read) => read.status === 'rejected');
    if (seen.length === 0) throw failed ? asUpstreamFailure(failed.reason) : quorumMissing();
    return signatures.map((_, at) => {
      const shown = seen.flatMap(({ statuses }) => statuses[at]?.commitment ?? []);
      if (shown.includes('finalized')) return 'final';
      if (shown.includes('confirmed')) return 'confirmed';
      // A node that has not responded may have the transaction.
      return seen.length < this.#ports.nodes.length || shown.length > 0 ? 'pending' : 'unknown';
    });
  }

  /**
   * The newest confirmed blockhash that a quorum of nodes accepts. A node that has not seen it cannot prove later that
   * it has expired. If fewer nodes than a quorum had seen it, an attempt could stay undecided.
   * @throws AppError UPSTREAM_FAILED
   */
  async latestBlockhash(): Promise<Blockhash> {
    const tips = await this.#fromMost(async (node) => ({
      node: node.id,
      ...(await node.latestBlockhash('confirmed')),
    }));
    const found = valuesOf(tips);
    if (found.length === 0) throw tips.find((tip) => tip.status === 'rejected')?.reason ?? quorumMissing();
    const { slot: final, seenAt } = this.#finality.known;
    const isBounded = this.#ports.now() - seenAt < FINALITY_KNOWN_MS;
    // A slot below the finalized one is also possible: the node lags, or a newer check of the finalized slot ended
    // first.
    const isPossible = ({ slot }: Witness) =>
      !isBounded || (slot + MAX_NODE_LAG >= BigInt(final) && slot <= BigInt(final) + MAX_NODE_LAG);
    for (const blockhash of byTrust(found, this.quorum)) {
      const shownAt = new Map(
        found.flatMap((tip) => (tip.blockhash === blockhash ? [[tip.node, tip.slot]] : [])),
      );
      const seen = valuesOf(await this.#fromMost((node) => witnessOf(node, blockhash, shownAt.get(node.id))));
      // The slot is stored, so it must be real: otherwise a node added later could never prove that the attempt ended.
      const witnesses = seen.filter((witness) => witness !== undefined).filter(isPossible);
      const [first] = witnesses;
      if (!first || witnesses.length < this.quorum) continue;
      const slot = witnesses.reduce((low, witness) => (witness.slot < low ? witness.slot : low), first.slot);
      return { blockhash, version: this.#ports.messageVersion ?? 0, slot, witnesses };
    }
    throw quorumMissing();
  }

  /** Sends to every node; true if at least one node accepts the transaction. */
  async send(wire: string): Promise<boolean> {
    const answers = await this.#fromMost((node) => node.send(wire));
    return answers.some((answer) => answer.status === 'fulfilled' || isAlreadyProcessed(answer.reason));
  }

  /** Each node's view of an attempt of this signer. Nodes that fail are excluded. */
  async views(signing: Signing, signer: string): Promise<NodeView[]> {
    return valuesOf(await this.#fromMost((node) => viewOf(node, signing, signer)));
  }

  #fromMost<T>(call: (node: SolanaNode) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
    return settled(this.#ports.nodes.map(call), this.quorum, this.#ports.within);
  }

  /** How the finalized transaction changed its signer's balance, or null without a quorum. */
  async landing(signature: string, signer: string): Promise<Landing | null> {
    const found = await this.transaction(signature);
    // A transaction that contradicts the finalized status is not its landing.
    if (!found || found.failed || found.signature !== signature) return null;
    const change = lamportsChange(found, signer);
    if (change === undefined) return null;
    const { slot, blockTime, fee } = found;
    return { slot, blockTime, fee: lamports(fee), debit: lamports(-change) };
  }
}

/**
 * One URL may be two machines: the height may be this many slots older than the blockhash. The margin of an expiry is
 * twice this.
 */
const MAX_WITNESS_LAG = 16n;

/**
 * Blockhashes in the order in which they are tried. First comes one that most nodes show, then the quorum-th newest.
 * One node can push that second slot neither above nor below the slots of all other nodes. A node may show a blockhash
 * that expires in seconds as its newest.
 */
export function byTrust(
  tips: readonly { readonly blockhash: string; readonly slot: bigint }[],
  quorum: number,
): ReadonlySet<string> {
  const newest = tips.toSorted((a, b) => (a.slot > b.slot ? -1 : 1));
  const tried = [...newest.slice(quorum - 1), ...newest.slice(0, quorum - 1)].map((tip) => tip.blockhash);
  const shown = (blockhash: string) => tried.filter((other) => other === blockhash).length;
  return new Set(tried.toSorted((a, b) => shown(b) - shown(a)));
}

/**
 * The node's height, if the node has seen the blockhash and reads the height at a slot at most MAX_WITNESS_LAG before
 * the slot of that sighting; otherwise undefined.
 * @param shownAt slot at which the node itself returned the blockhash as its newest. If that slot is long past, the
 * blockhash is checked again, because it may have expired
 */
async function witnessOf(
  node: SolanaNode,
  blockhash: string,
  shownAt: bigint | undefined,
): Promise<Witness | undefined> {
  const seenAt = shownAt ?? (await validAt(node, blockhash));
  if (seenAt === undefined) return undefined;
  const { slot, blockHeight } = await node.epochInfo('confirmed');
  const isOld = shownAt !== undefined && slot > shownAt + MAX_WITNESS_LAG;
  if (isOld && (await validAt(node, blockhash)) === undefined) return undefined;
  return slot + MAX_WITNESS_LAG >= seenAt ? { node: node.id, slot, height: blockHeight } : undefined;
}

async function validAt(node: SolanaNode, blockhash: string): Promise<bigint | undefined> {
  const { valid, slot } = await node.isBlockhashValid(blockhash, 'confirmed');
  return valid ? slot : undefined;
}

/** The order matters: the status is read after the heights, so that it is at least as new as they are. */
async function viewOf(node: SolanaNode, signing: Signing, signer: string): Promise<NodeView> {
  const { slot, blockHeight } = await node.epochInfo('finalized');
  const { slot: statusSlot, statuses } = await node.signatureStatuses([signing.signature]);
  const status = statuses[0] ?? null;
  const expiry = expiryHeight(signing, node.id);
  const past = status === null && expiry !== undefined && blockHeight > expiry;
  return {
    node: node.id,
    finalizedSlot: slot,
    finalizedHeight: blockHeight,
    statusSlot,
    status: status && {
      slot: status.slot,
      failed: status.err !== null,
      commitment: status.commitment,
      charged:
        status.err !== null && status.commitment === 'finalized'
          ? await wasCharged(node, signing.signature, signer).catch(() => null)
          : null,
    },
    firstAvailableSlot: past ? await node.firstAvailableBlock() : null,
  };
}

/** Whether a failed transaction took lamports from its signer; null while the node does not show it as failed. */
async function wasCharged(node: SolanaNode, signature: string, signer: string): Promise<boolean | null> {
  const found = await node.transaction(signature, 'finalized');
  if (!found?.failed || found.signature !== signature) return null;
  const change = lamportsChange(found, signer);
  return change === undefined ? null : change < 0n;
}
