/**
 * Finds every transaction of the treasury. Each node's list is read from its top down to the newest entry that a quorum
 * of nodes has shown. New entries are queued to be read, so payments are never skipped, however many other transactions
 * there are. The walk never ends at an entry that a node invents, so invented entries cannot hide payments.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { SignatureEntry } from '../../providers/solana-rpc.ts';
import { type Cursor, isProven, type Listed, pagesDown } from '../nodes/history.ts';
import { isAtOrBelow, type Mark } from '../nodes/list-places.ts';
import type { PaymentContext, TreasuryNode } from './context.ts';
import { MOST_UNREAD } from './treasury-store.ts';
import { PART_MS, type RunBudget, type UnreadTransactions } from './unread.ts';

/** Maximum pages of one list that one run reads. The next run continues a longer list. */
const PAGES_PER_RUN = 10;
/** A list is read this much further back, because the clock may have been a day ahead when a request was opened. */
const CLOCK_SKEW_MS = DAY_MS + 120_000;
/** If a transaction is unread for this long, the operator is alerted, and then again every hour. */
const BEHIND_ALARM_MS = 10 * 60_000;

/**
 * A list that is too long for one run: where the next run continues, and the next head so far. A head is a transaction that
 * a quorum has shown. Everything below it in the node's list has been queued.
 */
type Listing = { readonly cursor: Cursor | undefined; readonly head: Listed | undefined };

/** True if the node's oldest slot is later than `head`: its list then misses transactions. */
const isPruned = async (node: TreasuryNode, head: Mark): Promise<boolean> =>
  (await node.firstAvailableBlock()) > BigInt(head.slot);

type WalkContext = Pick<
  PaymentContext,
  'treasury' | 'treasuryAddress' | 'nodes' | 'agenda' | 'journal' | 'now' | 'log'
>;

export class TreasuryWalk {
  readonly #context: WalkContext;
  readonly #unread: UnreadTransactions;
  /** Unfinished lists by node. A new instance starts again at the top and skips entries that are queued or read. */
  readonly #listings = new Map<string, Listing>();

  constructor(context: WalkContext, unread: UnreadTransactions) {
    this.#context = context;
    this.#unread = unread;
  }

  /**
   * Queues every node's new entries, and reads a part of the queue.
   * @param since Unix milliseconds; open requests cannot have been paid earlier
   * @returns ids of the nodes that returned a complete list
   */
  async run(since: number, budget: RunBudget): Promise<readonly string[]> {
    const { nodes, treasury, now, log } = this.#context;
    const complete: string[] = [];
    for (const node of nodes) {
      try {
        if (await this.#list(node, since)) complete.push(node.id);
      } catch (error) {
        this.#listings.delete(node.name);
        const reason = failureReason(error);
        log({ level: 'warn', event: 'treasury_walk_failed', node: node.name, reason });
      }
    }
    await this.#unread.readQueue(budget);
    for (const { name } of nodes)
      for (const state of ['absent', 'waiting', 'undecided'] as const) {
        const limit = MOST_UNREAD[state];
        if (treasury.trimUnread(name, state, limit)) this.#alarm(name, 'payments_unread_limit', { limit });
      }
    const { source = '', since: queuedAt = now() } = treasury.queued(now()) ?? {};
    if (now() - queuedAt > BEHIND_ALARM_MS)
      this.#alarm(source, 'treasury_walk_behind', { since: new Date(queuedAt).toISOString() });
    return complete;
  }

  /** Queues the entries that a node lists above its head. Returns whether everything above it is queued. */
  async #list(node: TreasuryNode, since: number): Promise<boolean> {
    const { now, treasury, treasuryAddress } = this.#context;
    const until = now() + PART_MS;
    const known = this.#headOf(node);
    const isBelow = (entry: SignatureEntry): boolean =>
      known
        ? isAtOrBelow(entry, known)
        : entry.blockTime !== null && entry.blockTime * 1_000 < since - CLOCK_SKEW_MS;
    let { cursor, head } = this.#listings.get(node.name) ?? {};
    this.#listings.delete(node.name);
    const read = (page: { limit: number; before?: string }) =>
      node.signaturesFor(treasuryAddress, { ...page, commitment: 'finalized' });
    for await (const { entries, next } of pagesDown(read, PAGES_PER_RUN, cursor)) {
      const [top] = entries;
      // The node lags behind the entry that a quorum has shown.
      if (known && !cursor && top && top.slot < BigInt(known.slot)) return false;
      const at = entries.findIndex(isBelow);
      const above = at < 0 ? entries : entries.slice(0, at);
      if (!this.#unread.queue(above, node.name, since)) break;
      head ??= above.find(({ signature, slot }) => treasury.isShown(signature, slot));
      const isLost = at < 0 && !next && known && (await this.#isLost(node, known, top));
      if (at >= 0 || (!next && !known) || isLost) return this.#reached(node, head);
      if (!next) return false;
      cursor = next;
      // A slow node may return a list of any length. The timer's other work must not wait for more than one late page.
      if (now() > until) break;
    }
    this.#listings.set(node.name, { cursor, head });
    return false;
  }

  #reached(node: TreasuryNode, head: Listed | undefined): true {
    if (head) {
      const { signature, slot } = head;
      this.#context.journal.setMeta(this.#keyOf(node), JSON.stringify({ signature, slot: slot.toString() }));
    }
    return true;
  }

  /** Whether a list ends above its head only because this node has pruned older entries, which a quorum of nodes keeps. */
  async #isLost(node: TreasuryNode, head: Mark, top: SignatureEntry | undefined): Promise<boolean> {
    const { name } = node;
    if (!(await isPruned(node, head))) {
      if (top) this.#alarm(name, 'treasury_walk_stuck');
      return false;
    }
    this.#alarm(name, 'treasury_history_pruned', { slot: head.slot });
    return isProven(this.#context.nodes.map(async (each) => !(await isPruned(each, head))));
  }

  #headOf(node: TreasuryNode): Mark | undefined {
    const text = this.#context.journal.getMeta(this.#keyOf(node));
    return text === undefined ? undefined : (JSON.parse(text) as Mark);
  }

  /**
   * Each treasury has its own heads, because its list is not read while another treasury is configured. Each node also
   * has its own heads, so a node that replaces another one lists again what the other one hid.
   */
  #keyOf = ({ id }: TreasuryNode): string => `treasury_head:${this.#context.treasuryAddress}:${id}`;

  /** Alerts the operator, at most once an hour for each node and event. */
  #alarm(node: string, event: string, facts: Readonly<Record<string, unknown>> = {}): void {
    const { agenda, log } = this.#context;
    if (agenda.isDueAgain(`${event} ${node}`, HOUR_MS)) log({ level: 'alarm', event, node, ...facts });
  }
}
