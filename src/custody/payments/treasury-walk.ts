/**
 * Reads every transaction of the treasury, node by node. A walk's position is a head and the gaps below it:
 * everything up to the head has been read, except the gaps. Only a step of the walk moves its position, and
 * only past transactions that it has read or recorded. No payment is skipped, regardless of the number of
 * other transactions.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { SignatureEntry, SolanaNode } from '../../providers/solana-rpc.ts';
import { quorumOf, succeeded } from '../kernel/quorum.ts';
import type { PaymentSearchPorts } from './payment-search.ts';

/**
 * One node's list of transactions. Each node has its own walk, so a node that hides a payment does not hide
 * it from the others.
 */
export type TreasuryNode = Pick<SolanaNode, 'name' | 'signaturesFor' | 'firstAvailableBlock'>;

const PAGE = 20;
const NEWEST = { limit: PAGE, commitment: 'finalized' } as const;
/** Maximum gaps of a walk. At this limit no newer transactions are read until a gap is closed, and none is skipped. */
const MAX_GAPS = 20;
/**
 * A list is read back this much further than its end time. A clock that was a day ahead when a request was opened then
 * hides none of its payments.
 */
const CLOCK_SKEW_MS = DAY_MS + 120_000;
/** A walk that is behind for this long is reported, and again every hour. */
const BEHIND_ALARM_MS = 10 * 60_000;
/**
 * A node whose list ends below the head for longer than this does not merely lag: it once listed something
 * that does not exist.
 */
const RETREAT_ALARM_MS = 10 * 60_000;

type Place = { readonly signature: string; readonly slot: string };

/**
 * Where a gap ends: at a position that was read or, for the very first walk, at a time in Unix milliseconds.
 */
type End = Place | { readonly since: number };

type Gap = {
  /**
   * Everything from here upwards has been read, and so has one entry below it. That entry begins the next page.
   * An empty page is therefore from a node that lacks this entry, and never the end of the history.
   */
  readonly before: string;
  readonly end: End;
};

type Walk = {
  /** The newest transaction read; null before the first. */
  readonly head: Place | null;
  /** The gaps, newest first. */
  readonly gaps: readonly Gap[];
  /** When the head was last read, in Unix milliseconds; absent in rows of storage version 1. */
  readonly headAt?: number;
  /**
   * When the node's newest transaction became older than the head, in Unix milliseconds; absent while it is not.
   */
  readonly retreatedSince?: number;
  /** When the walk got a gap after it had none, in Unix milliseconds; null without gaps. */
  readonly behindSince: number | null;
  /** Unix milliseconds up to which everything has been read, while there are gaps; absent in rows of storage version 1. */
  readonly readUntil?: number;
};

/**
 * The walk without times that are ahead of the clock; these were stored before the clock went back. A period that began
 * at such a time is counted from now, and such a time of the head is dropped.
 */
function asOf(now: number, { headAt, retreatedSince, behindSince, readUntil, ...walk }: Walk): Walk {
  return {
    ...walk,
    ...(headAt === undefined || headAt > now ? {} : { headAt }),
    ...(retreatedSince === undefined ? {} : { retreatedSince: Math.min(retreatedSince, now) }),
    behindSince: behindSince === null ? null : Math.min(behindSince, now),
    ...(readUntil === undefined || readUntil > now ? {} : { readUntil }),
  };
}

const NEW_WALK: Walk = { head: null, gaps: [], behindSince: null };

/** Transactions that one run may still read. */
export type Budget = { reads: number };

function isBelow(entry: SignatureEntry, end: End): boolean {
  if ('since' in end) return entry.blockTime !== null && entry.blockTime * 1_000 < end.since - CLOCK_SKEW_MS;
  // A signature alone does not mark the end: the bytes of a no-op may land later in another slot (SIMD-0290).
  const slot = BigInt(end.slot);
  return entry.slot < slot || (entry.slot === slot && entry.signature === end.signature);
}

/**
 * Whether a node's history begins above an end, so that its list lacks the transactions between the two.
 */
const isPruned = async (node: TreasuryNode, end: Place): Promise<boolean> =>
  (await node.firstAvailableBlock()) > BigInt(end.slot);

type TreasuryWalkPorts = Omit<PaymentSearchPorts, 'store'>;

export class TreasuryWalk {
  readonly #p: TreasuryWalkPorts;
  #turns = 0;

  constructor(p: TreasuryWalkPorts) {
    this.#p = p;
  }

  /**
   * One bounded step of every node's walk: the head, then one gap.
   * @param since Unix milliseconds; no open request can have been paid before
   * @returns whether a quorum of the nodes listed their newest transactions
   */
  async run(since: number, budget: Budget): Promise<boolean> {
    this.#turns++;
    let heads = 0;
    // Half of the reads are reserved for gaps, and each node has the same share.
    const share = Math.max(Math.floor(budget.reads / (2 * this.#p.nodes.length)), 1);
    for (const node of this.#p.nodes) {
      try {
        await this.#readHead(node, since, { reads: share });
        heads++;
        await this.#readGap(node, { reads: share });
      } catch (error) {
        // This node keeps its position; the other nodes' walks continue.
        this.#p.log({
          level: 'warn',
          event: 'treasury_walk_failed',
          node: node.name,
          reason: failureReason(error),
        });
      }
      const { behindSince } = this.#load(node);
      if (behindSince !== null && this.#p.now() - behindSince > BEHIND_ALARM_MS)
        this.#alarm(node, 'treasury_walk_behind', { since: new Date(behindSince).toISOString() });
    }
    return heads >= quorumOf(this.#p.nodes.length);
  }

  /** Time in Unix milliseconds after which transactions may be unread; null when all are read. */
  readUntil(): number | null {
    const times = this.#p.nodes
      .map((node) => this.#load(node))
      .flatMap(({ behindSince, readUntil }) => (behindSince === null ? [] : (readUntil ?? behindSince)));
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Reads new transactions at the top. The rest that exceeds this step becomes a gap. */
  async #readHead(node: TreasuryNode, since: number, budget: Budget): Promise<void> {
    const walk = this.#load(node);
    if (walk.gaps.length >= MAX_GAPS) return this.#alarm(node, 'treasury_walk_paused', { gaps: MAX_GAPS });
    const page = await node.signaturesFor(this.#p.treasuryAddress, NEWEST);
    const [top] = page;
    if (!top) return;
    const end = this.#endOf(node, walk, top, since);
    if (!end) return;
    const { last, above, reached } = await this.#readPage(node, page, end, budget);
    const head = { signature: top.signature, slot: top.slot.toString() };
    const readUntil = walk.gaps.length === 0 ? (walk.headAt ?? since) : walk.readUntil;
    const read = {
      head,
      headAt: this.#p.now(),
      behindSince: walk.behindSince,
      ...(readUntil === undefined ? {} : { readUntil }),
    };
    if (reached) return this.#save(node, { ...read, gaps: walk.gaps });
    if (last) this.#save(node, { ...read, gaps: [{ before: (above ?? last).signature, end }, ...walk.gaps] });
  }

  /**
   * Where the step from the top ends: at the head, or at `since` without a head. If the node's whole list has been
   * below the head for ten minutes, the slot of the head does not exist. Then everything since shortly before the last
   * read of the head is read again. Until then the result is undefined.
   */
  #endOf(node: TreasuryNode, walk: Walk, top: SignatureEntry, since: number): End | undefined {
    if (!walk.head) return { since };
    if (top.slot >= BigInt(walk.head.slot)) return walk.head;
    const { retreatedSince } = walk;
    if (retreatedSince === undefined) {
      this.#save(node, { ...walk, retreatedSince: this.#p.now() });
      return undefined;
    }
    if (this.#p.now() - retreatedSince < RETREAT_ALARM_MS) return undefined;
    this.#alarm(node, 'treasury_list_retreated', { head: walk.head.slot, newest: top.slot.toString() });
    return { since: walk.headAt === undefined ? since : walk.headAt - RETREAT_ALARM_MS };
  }

  /** Continues in a gap: the newest and the oldest gap in turn, so that neither waits for the other. */
  async #readGap(node: TreasuryNode, budget: Budget): Promise<void> {
    const walk = this.#load(node);
    const at = this.#turns % 2 === 0 ? 0 : walk.gaps.length - 1;
    const gap = walk.gaps[at];
    if (!gap) return;
    const page = await node.signaturesFor(this.#p.treasuryAddress, { ...NEWEST, before: gap.before });
    const { last, above, reached } = await this.#readPage(node, page, gap.end, budget);
    const isShort = page.length < PAGE && last?.signature === page.at(-1)?.signature;
    const missed = isShort && !reached ? await this.#missing(node, gap.end) : undefined;
    if (missed === 'late') this.#alarm(node, 'treasury_walk_stuck');
    const left = reached || missed === 'lost' ? [] : [{ ...gap, before: above?.signature ?? gap.before }];
    this.#save(node, { ...walk, gaps: walk.gaps.toSpliced(at, 1, ...left) });
  }

  /** Reads one page down to its end. Returns the last processed entry, the one above it, and whether the end was reached. */
  async #readPage(
    node: TreasuryNode,
    page: readonly SignatureEntry[],
    end: End,
    budget: Budget,
  ): Promise<{ last?: SignatureEntry; above?: SignatureEntry; reached: boolean }> {
    let read: { last?: SignatureEntry; above?: SignatureEntry } = {};
    for (const entry of page) {
      if (isBelow(entry, end)) return { ...read, reached: true };
      if (entry.err === null && !this.#p.booking.isKnown(entry.signature)) {
        if (budget.reads === 0) return { ...read, reached: false };
        budget.reads--;
        if ((await this.#p.booking.read(entry.signature, node.name)) === 'stop')
          return { ...read, reached: false };
      }
      read = { last: entry, ...(read.last ? { above: read.last } : {}) };
    }
    return { ...read, reached: 'since' in end && page.length > 0 && page.length < PAGE };
  }

  /**
   * Why a gap's page is short and does not reach the gap's end. `lost`: this node has pruned the missing part, and a
   * quorum of nodes keeps it, so their walks read it. `held`: too few nodes keep it. `late`: the node lags.
   */
  async #missing(node: TreasuryNode, end: End): Promise<'lost' | 'held' | 'late'> {
    if ('since' in end || !(await isPruned(node, end))) return 'late';
    this.#alarm(node, 'treasury_history_pruned', { slot: end.slot });
    const pruned = await succeeded(this.#p.nodes.map((each) => isPruned(each, end)));
    const keep = pruned.filter((isGone) => !isGone);
    return keep.length >= quorumOf(this.#p.nodes.length) ? 'lost' : 'held';
  }

  #load(node: TreasuryNode): Walk {
    const text = this.#p.journal.getMeta(`treasury_walk:${node.name}`);
    return text === undefined ? NEW_WALK : asOf(this.#p.now(), JSON.parse(text) as Walk);
  }

  #save(node: TreasuryNode, walk: Walk): void {
    const behindSince = walk.gaps.length === 0 ? null : (walk.behindSince ?? this.#p.now());
    this.#p.journal.setMeta(`treasury_walk:${node.name}`, JSON.stringify({ ...walk, behindSince }));
  }

  /** Raises an alarm, at most once an hour for each node and event. */
  #alarm(node: TreasuryNode, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (this.#p.journal.isDueAgain(`${event} ${node.name}`, HOUR_MS, this.#p.now()))
      this.#p.log({ level: 'alarm', event, node: node.name, ...facts });
  }
}
