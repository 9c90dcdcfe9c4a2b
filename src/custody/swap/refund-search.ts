/**
 * The search for the refund of a swap: a finalized credit to its signer in the lists of the Solana nodes. Each check
 * reads a part of the lists, and the row stores the progress.
 * @module
 */
import type { BridgeReport, SwapRoute } from '../../bridges/route.ts';
import { lamportsChange } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { BitcoinTx } from '../../providers/esplora.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Facts, Operation, Settled } from '../kernel/operation.ts';
import { STUCK_AFTER_MS } from '../kernel/state-machine.ts';
import { type History, type HistoryNode, orUnreadable, pagesDown, readLists } from '../nodes/history.ts';

export type SettlementPorts = {
  readonly bitcoinAddress: string;
  readonly maxCostBps: number;
  readonly route: SwapRoute;
  /** One response per Bitcoin index: the transaction, null when it has none, or its failure. */
  bitcoinViews(txid: string): Promise<readonly (BitcoinTx | null | Error)[]>;
  historyOf(address: string): History;
  transaction(signature: string): Promise<ChainTransaction | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
};

export type IsUsed = (name: string) => boolean;

/**
 * Limits of the search for a refund: pages per check, transactions read per check, and those read at
 * the same time. Each check lists all that is left, so a few checks with many reads cost less than many small ones.
 */
const REFUND_PAGES = 100;
const REFUND_READS = 50;
const READS_AT_ONCE = 10;
/** Maximum quick checks: a node that invents transactions can return a list of any length. */
const MOST_QUICK_CHECKS = 300;
/** How many entries of each list that no quorum showed are stored, and how many of them a check reads again. */
const MOST_RETRIED = 20;
const RETRIES_PER_CHECK = 2;
/** Maximum number of transactions that are read from one report to find the refund. */
const MOST_NAMED = 5;

export const pending = (detail: string, awaitsBlock = false): Settled => ({
  settlement: { state: 'pending', detail, ...(awaitsBlock ? { awaitsBlock } : {}) },
  once: [],
});

/**
 * Whether a return is complete up to the cost that a swap may have. A bridge that returns less still owes the difference.
 * The swap then stays unsettled, so that a tiny return does not make room for the next swap.
 */
export const isWhole = (ports: SettlementPorts, returned: bigint, owed: bigint): boolean =>
  (owed - returned) * 10_000n <= owed * BigInt(ports.maxCostBps);

/** What the bridge keeps is a cost, so the daily cost limit also covers small shortfalls of refunds. */
const costOfReturn = ({ amount, cost }: Operation, credit: bigint): Lamports =>
  lamports(amount - credit > cost ? amount - credit : cost);

/**
 * Successful transactions of the swap's signer in a node's list that follow `until`, oldest first, including all dust.
 * A node that does not know `until` lists its whole history, so a slot bounds the list too.
 * @throws AppError UPSTREAM_FAILED; the next check lists them again
 */
async function listSince(node: HistoryNode, until: string, slot: bigint): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  for await (const { entries, next } of pagesDown(
    (page) => node.signatures({ ...page, until }),
    REFUND_PAGES,
  )) {
    listed.push(...entries);
    if (!next || (listed.at(-1)?.slot ?? slot) < slot)
      return listed.filter((entry) => entry.err === null && entry.slot >= slot).toReversed();
  }
  throw upstreamFailed('solana-rpc', 'history_too_long');
}

async function readTransactions(ports: SettlementPorts, signatures: readonly string[]) {
  const read: { signature: string; transaction: ChainTransaction | 'unreadable' | null }[] = [];
  for (let at = 0; at < signatures.length; at += READS_AT_ONCE) {
    const batch = signatures.slice(at, at + READS_AT_ONCE).map(async (signature) => ({
      signature,
      transaction: await orUnreadable(ports.transaction(signature)),
    }));
    read.push(...(await Promise.all(batch)));
  }
  return read;
}

type RefundReport = Extract<BridgeReport, { state: 'refunded' }>;

type Read = Awaited<ReturnType<typeof readTransactions>>[number];

/** Lamports that a transaction after the swap's landing adds to its signer; 0 if it adds none. */
function creditOf(transaction: Read['transaction'], { signer, landing }: Operation): bigint {
  if (!transaction || transaction === 'unreadable' || transaction.failed) return 0n;
  if (transaction.slot < (landing?.slot ?? 0n)) return 0n;
  return lamportsChange(transaction, signer) ?? 0n;
}

/**
 * The refund among the transactions that the bridge names. Any sum is accepted. The bridge cannot name a third party's
 * transfer, because it knows only transactions that it sent or that pay the deposit address.
 */
async function namedRefund(
  ports: SettlementPorts,
  report: RefundReport,
  operation: Operation,
  isUsed: IsUsed,
): Promise<Refund | undefined> {
  const { amount, signing, plan } = operation;
  const isOther = (signature: string) => signature !== signing?.signature && !isUsed(`payment:${signature}`);
  const named = (report.signatures ?? []).filter(isOther).slice(0, MOST_NAMED);
  const found = (await readTransactions(ports, named)).flatMap(({ signature, transaction }) => {
    const credit = creditOf(transaction, operation);
    if (credit <= 0n || credit > amount || !transaction || transaction === 'unreadable') return [];
    const deposited = lamportsChange(transaction, String(plan.depositAddress));
    return deposited === undefined || deposited < 0n ? [{ signature, credit }] : [];
  });
  return found.sort((a, b) => (a.credit > b.credit ? -1 : 1))[0];
}

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

/** The finalized credit that the bridge names or announces; without either, only an old credit. */
export async function findRefund(
  ports: SettlementPorts,
  report: RefundReport,
  operation: Operation,
  isUsed: IsUsed,
): Promise<Settled> {
  const until = operation.signing?.signature;
  if (!until) return pending('refunding');
  const named = await namedRefund(ports, report, operation, isUsed);
  if (named) return refundedBy(ports, operation, named);
  const before = decodeSearch(operation.outcome.refundSearch);
  const isFree = ({ signature }: SignatureEntry) => !isUsed(`payment:${signature}`);
  const landedAt = operation.landing?.slot ?? 0n;
  // One list is enough: a refund that is missing from it is searched for again.
  const lists = await readLists(ports.historyOf(operation.signer), 1, async (node): Promise<RefundList> => {
    const { retry = [], ...search } = before[node.name] ?? {};
    const { last = until, slot = landedAt } = search;
    const fresh = (await listSince(node, last, BigInt(slot))).filter(isFree);
    const old = fresh.length > 0 ? [] : (await listSince(node, until, landedAt)).filter(isFree);
    return { node: node.name, search, retry, fresh, old: old.map(({ signature }) => signature), passed: 0 };
  });
  const chosen = chooseReads(lists, operation.looks);
  const read = await readTransactions(ports, [...chosen]);
  const { best, undecided } = chooseRefund(read, report, operation, ports.now());
  if (best) return refundedBy(ports, operation, best);
  const search = Object.fromEntries(lists.map((list) => [list.node, searchAfter(list, chosen, undecided)]));
  const isBehind = lists.some(({ fresh, passed }) => passed < fresh.length);
  const quickChecks = isBehind ? Number(operation.outcome.refundChecks ?? 0) + 1 : 0;
  return {
    settlement: {
      state: 'pending',
      detail: 'refunding',
      progress: { refundSearch: JSON.stringify(search), refundChecks: quickChecks },
      continues: isBehind && quickChecks <= MOST_QUICK_CHECKS,
    },
    once: [],
  };
}

/** Progress of the search for a refund in one node's list. */
type Search = {
  /** The newest entry that was read, and its slot; absent before the first. */
  readonly last?: string;
  readonly slot?: string;
  /** Entries that a check has read but no quorum has shown. */
  readonly retry?: readonly string[];
};

const decodeSearch = (text: Facts[string] | undefined): Readonly<Record<string, Search>> =>
  typeof text === 'string' ? (JSON.parse(text) as Record<string, Search>) : {};

type RefundList = {
  readonly node: string;
  readonly search: Pick<Search, 'last' | 'slot'>;
  readonly retry: readonly string[];
  /** Entries that no check has read, oldest first. */
  readonly fresh: readonly SignatureEntry[];
  /** Every entry since the swap, to be read again, if none is fresh; otherwise empty. */
  readonly old: readonly string[];
  /** Number of fresh entries, from the oldest, that this check reads. */
  passed: number;
};

/**
 * The transactions that a check reads: first some that earlier checks read without a quorum, then new ones, one from
 * each node's list in turn. If an entry was already added for another list, the turn takes the list's next entry.
 * Honest lists are equal, so a list of invented transactions uses only its own turns.
 */
function chooseReads(lists: readonly RefundList[], looks: number): ReadonlySet<string> {
  const chosen = new Set(lists.flatMap(({ retry }) => turn(retry, RETRIES_PER_CHECK, looks)));
  for (let size = -1; size < chosen.size; ) {
    size = chosen.size;
    for (const list of lists) addFresh(list, chosen);
  }
  const share = Math.ceil(Math.max(REFUND_READS - chosen.size, 0) / lists.length);
  for (const { old } of lists) for (const signature of turn(old, share, looks)) chosen.add(signature);
  return chosen;
}

function addFresh(list: RefundList, chosen: Set<string>): void {
  for (const { signature } of list.fresh.slice(list.passed)) {
    const isNew = !chosen.has(signature);
    if (isNew && chosen.size >= REFUND_READS) return;
    chosen.add(signature);
    list.passed += 1;
    if (isNew) return;
  }
}

function searchAfter(
  { search, retry, fresh, old, passed }: RefundList,
  chosen: ReadonlySet<string>,
  undecided: ReadonlySet<string>,
): Search {
  const read = [...fresh.slice(0, passed).map(({ signature }) => signature), ...old];
  const last = fresh[passed - 1];
  return {
    ...(last ? { last: last.signature, slot: last.slot.toString() } : search),
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

/** The sum that the bridge announces, or null: it writes 0 until it knows the sum. */
const announcedBy = ({ amount }: RefundReport): bigint | null => amount || null;

/**
 * Milliseconds for which a swap that knows no announced sum leaves a credit to other swaps. The bridge may have announced
 * exactly this credit to one of them, which could never end without it. A credit that is short by more than the refund fee
 * fits other swaps better. The swap then waits until the operator gets an alarm.
 */
const REFUND_WAIT = { likely: HOUR_MS, partial: STUCK_AFTER_MS };

const isOlder = ({ blockTime }: ChainTransaction, age: number, now: number): boolean =>
  blockTime !== null && now - blockTime * 1_000 >= age;

/**
 * Percentage by which a credit may be below the announced sum: some bridges announce it before they deduct their refund
 * fee. Without an announced sum, the percentage applies to the amount. A larger fee that the bridge states replaces it.
 */
const REFUND_FEE_PERCENT = { announced: 1n, unannounced: 10n };

/**
 * How old a credit must be to be accepted as the refund; undefined if it cannot be the refund. At least half must
 * return, so nobody can cheaply make a swap look refunded. A credit that lacks more than the cost of a swap never makes
 * it settled.
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
