/**
 * Searches the Solana nodes' lists for a swap's refund: a finalized credit to its signer. Each check reads a part of
 * the lists, and the row stores the places.
 * @module
 */
import type { BridgeReport, SwapRoute } from '../../bridges/route.ts';
import { lamportsGained } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import type { BitcoinTx } from '../../providers/esplora.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Facts, Operation, Settled } from '../kernel/operation.ts';
import { STUCK_AFTER_MS } from '../kernel/state-machine.ts';
import { type History, type Listed, orUnreadable, readLists } from '../nodes/history.ts';
import { isPassed, type Part, type Place, partBelow, placeAfter, takeInTurn } from '../nodes/list-places.ts';
import { quorumOf } from '../nodes/quorum.ts';

export type SettlementPorts = {
  readonly bitcoinAddress: string;
  readonly maxCostBps: number;
  readonly route: SwapRoute;
  /** One response per Bitcoin index: the transaction, null if the index lacks it, or the index's failure. */
  bitcoinViews(txid: string): Promise<readonly (BitcoinTx | null | Error)[]>;
  historyOf(address: string): History;
  transaction(signature: string): Promise<ChainTransaction | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
};

export type IsUsed = (name: string) => boolean;

/** Maximum transactions that one check reads, in total and at one time. */
const REFUND_READS = 50;
const READS_AT_ONCE = 10;
/** For each list: maximum stored entries that no quorum has shown, and how many of them one check reads again. */
const MOST_RETRIED = 20;
const RETRIES_PER_CHECK = 2;
/** Maximum number of transactions of one report that each check reads first. */
const MOST_NAMED = 5;

export const pending = (detail: string, awaitsBlock = false): Settled => ({
  settlement: { state: 'pending', detail, ...(awaitsBlock ? { awaitsBlock } : {}) },
  once: [],
});

/**
 * True if a return is short by at most the cost that a swap may have. A bridge that returns less still owes the
 * difference. The swap then stays unsettled, so that a tiny return does not make room for the next swap.
 */
export const isWhole = (ports: SettlementPorts, returned: bigint, owed: bigint): boolean =>
  (owed - returned) * 10_000n <= owed * BigInt(ports.maxCostBps);

/** The amount that the bridge keeps is a cost, so the daily cost limit also covers small shortfalls of refunds. */
const costOfReturn = ({ amount, cost }: Operation, credit: bigint): Lamports =>
  lamports(amount - credit > cost ? amount - credit : cost);

/**
 * A failed read leaves its transaction undecided, because an entry of one node must not end the check of the others.
 * @throws the failure if every read fails
 */
async function readTransactions(ports: SettlementPorts, signatures: readonly string[]) {
  const read: { signature: string; transaction: ChainTransaction | 'unreadable' | null }[] = [];
  const failures: unknown[] = [];
  const readOne = async (signature: string): Promise<(typeof read)[number]> => {
    try {
      return { signature, transaction: await orUnreadable(ports.transaction(signature)) };
    } catch (error) {
      failures.push(error);
      return { signature, transaction: null };
    }
  };
  for (let at = 0; at < signatures.length; at += READS_AT_ONCE)
    read.push(...(await Promise.all(signatures.slice(at, at + READS_AT_ONCE).map(readOne))));
  if (failures.length > 0 && failures.length === signatures.length) throw failures[0];
  return read;
}

type RefundReport = Extract<BridgeReport, { state: 'refunded' }>;

type Read = Awaited<ReturnType<typeof readTransactions>>[number];

/** Lamports that a transaction after the swap's landing adds to the swap's signer; 0 if it adds none. */
function creditOf(transaction: Read['transaction'], { signer, landing }: Operation): bigint {
  if (!transaction || transaction === 'unreadable' || transaction.failed) return 0n;
  if (transaction.slot < (landing?.slot ?? 0n)) return 0n;
  return lamportsGained(transaction, signer);
}

/**
 * Transactions that the bridge names as a refund. A bridge can name anyone's transactions, so they must meet the same
 * rules as all other credits.
 */
const namedBy = ({ signatures = [] }: RefundReport): readonly string[] => signatures.slice(0, MOST_NAMED);

/** The best refund among the transactions of a check, and those that a later check must read again. */
function chooseRefund(read: readonly Read[], report: RefundReport, operation: Operation, now: number) {
  const { amount } = operation;
  const announced = announcedBy(report);
  const undecided = new Set<string>();
  let best: Refund | undefined;
  for (const { signature, transaction } of read) {
    if (!transaction) undecided.add(signature);
    const credit = creditOf(transaction, operation);
    if (!transaction || transaction === 'unreadable' || credit > (announced ?? amount) || credit > amount)
      continue;
    const wait = waitFor(credit, report, amount);
    if (wait === undefined) continue;
    if (wait > 0 && !isOlder(transaction, wait, now)) undecided.add(signature);
    else if (!best || credit > best.credit) best = { signature, credit };
  }
  return { best, undecided };
}

/**
 * Finds the finalized credit of the sum that the bridge announces. Without a sum, only a credit of a certain age is
 * accepted.
 */
export async function findRefund(
  ports: SettlementPorts,
  report: RefundReport,
  operation: Operation,
  isUsed: IsUsed,
): Promise<Settled> {
  const until = operation.signing?.signature;
  if (!until) return pending('refunding');
  const before = decodeSearch(operation.outcome.refundSearch);
  const needsRead = ({ err, signature }: SignatureEntry) => err === null && !isUsed(`payment:${signature}`);
  const landedAt = operation.landing?.slot ?? 0n;
  const isBelow = ({ signature, slot }: Listed) => signature === until || slot < landedAt;
  const history = ports.historyOf(operation.signer);
  // One list is enough: a refund that is missing from it is searched for again.
  const lists = await readLists(history, 1, async (node): Promise<RefundList> => {
    const { retry = [], again = {}, ...place } = before[node.id] ?? {};
    const fresh = await partBelow(node, place, isBelow);
    const isQuiet = fresh.isLast && !fresh.entries.some(needsRead);
    const old = isQuiet ? await partBelow(node, again, isBelow) : undefined;
    return { node: node.id, retry, again, fresh, old };
  });
  const named = namedBy(report).filter((signature) => signature !== until && !isUsed(`payment:${signature}`));
  const chosen = chooseReads(named, lists, operation.looks, needsRead);
  const read = await readTransactions(ports, [...chosen]);
  const { best, undecided } = chooseRefund(read, report, operation, ports.now());
  if (best) return refundedBy(ports, operation, best);
  const shown = shownBy(read);
  // If a node failed in this check, its list continues from the same place later.
  const earlier = history.nodes.flatMap(({ id }) => (before[id] ? [[id, before[id]] as const] : []));
  const later = lists.map((list) => [list.node, searchAfter(list, { chosen, undecided, shown })] as const);
  const search = Object.fromEntries([...earlier, ...later]);
  // One node can invent a list of any length, but a quorum's lists are as long as the chain makes them. So the next
  // check follows at once only while a quorum of lists still has unread entries.
  const behind = lists.filter(({ fresh }) => !isPassed(fresh)).length;
  return {
    settlement: {
      state: 'pending',
      detail: 'refunding',
      progress: { refundSearch: JSON.stringify(search) },
      continues: behind >= quorumOf(history.nodes.length),
    },
    once: [],
  };
}

/** Progress of the search for a refund in one node's list. */
type Search = Place & {
  /** Entries that were read but not decided. */
  readonly retry?: readonly string[];
  /** The place of the pass that reads all entries since the swap again, while the list has no new entry. */
  readonly again?: Place;
};

const decodeSearch = (text: Facts[string] | undefined): Readonly<Record<string, Search>> =>
  typeof text === 'string' ? (JSON.parse(text) as Record<string, Search>) : {};

type RefundList = {
  readonly node: string;
  readonly retry: readonly string[];
  readonly again: Place;
  readonly fresh: Part;
  readonly old: Part | undefined;
};

type Outcomes = {
  readonly chosen: ReadonlySet<string>;
  readonly undecided: ReadonlySet<string>;
  /** Signature and slot. */
  readonly shown: ReadonlyMap<string, bigint>;
};

const shownBy = (read: readonly Read[]): ReadonlyMap<string, bigint> =>
  new Map(
    read.flatMap(({ signature, transaction }) =>
      transaction && transaction !== 'unreadable' ? [[signature, transaction.slot]] : [],
    ),
  );

/**
 * Chooses a check's reads in this order: transactions that the bridge named; two undecided entries of each list; new
 * entries, from each list in turn; old entries of lists that have no new entry.
 */
function chooseReads(
  named: readonly string[],
  lists: readonly RefundList[],
  looks: number,
  needsRead: (entry: SignatureEntry) => boolean,
): ReadonlySet<string> {
  const retried = lists.flatMap(({ retry }) => turn(retry, RETRIES_PER_CHECK, looks));
  const chosen = new Set([...named, ...retried]);
  const fresh = lists.map((list) => list.fresh);
  takeInTurn(fresh, chosen, REFUND_READS, needsRead);
  const old = lists.flatMap((list) => list.old ?? []);
  takeInTurn(old, chosen, REFUND_READS, needsRead);
  return chosen;
}

function searchAfter(
  { retry, again, fresh, old }: RefundList,
  { chosen, undecided, shown }: Outcomes,
): Search {
  const read = [fresh, ...(old ? [old] : [])].flatMap(({ entries, taken }) =>
    entries.slice(0, taken).map(({ signature }) => signature),
  );
  // Without a head, the next pass over the old entries reads all of them.
  const { cursor } = old ? placeAfter(old, shown) : again;
  return {
    ...placeAfter(fresh, shown),
    again: cursor ? { cursor } : {},
    retry: [...new Set([...retry, ...read.filter((signature) => undecided.has(signature))])]
      .filter((signature) => undecided.has(signature) || !chosen.has(signature))
      .slice(-MOST_RETRIED),
  };
}

/** Up to `count` items, which differ from one check to the next. */
function turn(items: readonly string[], count: number, looks: number): readonly string[] {
  const start = items.length > count ? (looks * count) % items.length : 0;
  return items.slice(start, start + count);
}

type Refund = { readonly signature: string; readonly credit: bigint };

function refundedBy(ports: SettlementPorts, operation: Operation, { signature, credit }: Refund): Settled {
  const arrived = isWhole(ports, credit, operation.amount);
  return {
    settlement: {
      state: 'incomplete',
      reason: 'refunded',
      arrived,
      ...(arrived ? { cost: costOfReturn(operation, credit) } : {}),
      outcome: { refundSignature: signature, refundLamports: credit.toString() },
    },
    once: [`payment:${signature}`],
  };
}

/** The sum that the bridge announces, or null: the bridge writes 0 until the sum is known. */
const announcedBy = ({ amount }: RefundReport): bigint | null => amount || null;

/**
 * Milliseconds for which a swap without an announced sum leaves a credit to other swaps. The bridge may have announced
 * exactly this credit for one of them, which could not end without it. A credit that is short by more than the refund
 * fee fits other swaps better, so this swap leaves it until the operator is alerted.
 */
const REFUND_WAIT = { likely: HOUR_MS, partial: STUCK_AFTER_MS };

const isOlder = ({ blockTime }: ChainTransaction, age: number, now: number): boolean =>
  blockTime !== null && now - blockTime * 1_000 >= age;

/**
 * Percentage by which a credit may be below the announced sum: some bridges announce it before they deduct their refund
 * fee. Without an announced sum, the percentage applies to the amount. If the bridge states a larger fee, that fee is
 * used instead.
 */
const REFUND_FEE_PERCENT = { announced: 1n, unannounced: 10n };

/**
 * How old a credit must be to be accepted as the refund; undefined if it cannot be the refund. At least half must be
 * returned, so making a swap look refunded is expensive. A credit that is short by more than the allowed cost of a swap
 * never settles it.
 */
function waitFor(credit: bigint, report: RefundReport, amount: bigint): number | undefined {
  const announced = announcedBy(report);
  const whole = announced ?? amount;
  if (credit * 2n < whole) return undefined;
  const percent = announced === null ? REFUND_FEE_PERCENT.unannounced : REFUND_FEE_PERCENT.announced;
  const isLikely = credit > whole - (whole * percent) / 100n || credit >= whole - (report.fee ?? 0n);
  if (announced !== null) return isLikely ? 0 : undefined;
  return isLikely ? REFUND_WAIT.likely : REFUND_WAIT.partial;
}
