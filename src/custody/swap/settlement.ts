/**
 * The outcome of a swap that has left Solana. The bridge only indicates where to check: a delivery counts
 * when our own view of the Bitcoin chain shows it, a refund when the Solana chain does.
 * @module
 */
import type { BridgeReport, SwapRoute } from '../../bridges/route.ts';
import { lamportsChange } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { BitcoinTx } from '../../providers/esplora.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Facts, Operation, Settled } from '../kernel/operation.ts';
import { type History, type HistoryNode, readLists } from '../kernel/quorum.ts';
import { orUnreadable } from '../kernel/solana-view.ts';

export type SettlementPorts = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** Most that a swap may cost, in basis points of its amount. */
  readonly maxCostBps: number;
  readonly route: SwapRoute;
  /** One answer per Bitcoin index: the transaction, null when it has none, or its failure. */
  bitcoinViews(txid: string): Promise<readonly (BitcoinTx | null | Error)[]>;
  readonly history: History;
  transaction(signature: string): Promise<ChainTransaction | null>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

type IsTaken = (name: string) => boolean;

const TXID = /^[0-9a-f]{64}$/;
/** Transactions of a report that are checked: one pays a swap, and each costs a call to every index. */
const MAX_TXIDS = 5;
/**
 * Seconds by which a block's time may differ from the true time: consensus accepts blocks two hours ahead.
 */
const BLOCK_TIME_SKEW = 7_200;

/**
 * Limits of the search for a refund: signatures per page, pages per check, and transactions read of all
 * lists.
 */
const REFUND_LIST = 1_000;
const REFUND_PAGES = 100;
const REFUND_READS = 10;
/** Checks in quick succession. A node that invents transactions can return a list of any length. */
const MOST_QUICK_CHECKS = 300;
/** Entries of each list that no quorum showed: how many are kept, and how many of them a check reads again. */
const MOST_RETRIED = 20;
const RETRIES_PER_CHECK = 2;

const pending = (detail: string): Settled => ({ settlement: { state: 'pending', detail }, claims: [] });

/**
 * Whether a return is complete up to the cost that a swap may have. A bridge that returns less still owes the rest.
 * The swap then stays unsettled, so that a tiny return does not make room for the next swap.
 */
const isWhole = (ports: SettlementPorts, returned: bigint, owed: bigint): boolean =>
  (owed - returned) * 10_000n <= owed * BigInt(ports.maxCostBps);

/**
 * What the bridge keeps counts as a cost of the swap, so that the daily limit on costs also bounds returns whose
 * shortfall is within the allowed cost of one swap.
 */
const costOfReturn = ({ amount, cost }: Operation, credit: bigint): Lamports =>
  lamports(amount - credit > cost ? amount - credit : cost);

/** The missing sats are valued at the quote's own rate, rounded up. */
const costOfPart = ({ amount, cost }: Operation, value: bigint, minimum: bigint): Lamports =>
  lamports(value < minimum ? cost + (amount * (minimum - value) + minimum - 1n) / minimum : cost);

async function findPayment(
  ports: SettlementPorts,
  txids: readonly string[],
  operation: Operation,
  isTaken: IsTaken,
): Promise<Settled> {
  const minimum = BigInt(String(operation.plan.minimumSats));
  const since = (operation.landing?.blockTime ?? Math.floor(operation.createdAt / 1_000)) - BLOCK_TIME_SKEW;
  const free: (Paid & { txid: string })[] = [];
  let undecided = false;
  for (const txid of txids.filter((text) => TXID.test(text)).slice(0, MAX_TXIDS)) {
    const outputs = confirmedOutputs(await ports.bitcoinViews(txid), ports.bitcoinAddress, since);
    if (!outputs) undecided = true;
    for (const output of outputs ?? []) {
      if (!isTaken(claimOf(txid, output))) free.push({ txid, ...output });
    }
    const enough = smallest(free.filter(({ value }) => value >= minimum));
    if (enough)
      return {
        settlement: { state: 'complete', outcome: outcomeOf(enough) },
        claims: [claimOf(enough.txid, enough)],
      };
  }
  // `partial` is a final state, so every transaction that may hold the whole payment is checked first.
  const part = undecided ? undefined : largest(free);
  if (!part) return pending('settling');
  const arrived = isWhole(ports, part.value, minimum);
  const cost = arrived ? { cost: costOfPart(operation, part.value, minimum) } : {};
  return {
    settlement: { state: 'incomplete', reason: 'partial', arrived, ...cost, outcome: outcomeOf(part) },
    claims: [claimOf(part.txid, part)],
  };
}

/**
 * A node's list of the reserve's transactions after a given one, newest first, including all dust.
 * @throws AppError UPSTREAM_FAILED; the next check lists them again
 */
async function signaturesSince(node: HistoryNode, until: string): Promise<SignatureEntry[]> {
  const listed: SignatureEntry[] = [];
  for (let pages = 0; pages < REFUND_PAGES; pages++) {
    const before = listed.at(-1)?.signature;
    const next = before === undefined ? {} : { before };
    const page = await node.signatures({ limit: REFUND_LIST, until, ...next });
    listed.push(...page);
    if (page.length < REFUND_LIST) return listed;
  }
  throw upstreamFailed('solana-rpc', 'history_too_long');
}

/** The finalized credit to the reserve that the bridge reports. Without an announced sum only an old one counts. */
async function findRefund(
  ports: SettlementPorts,
  report: Extract<BridgeReport, { state: 'refunded' }>,
  operation: Operation,
  isTaken: IsTaken,
): Promise<Settled> {
  const until = operation.signing?.signature;
  if (!until) return pending('refunding');
  const before = decodeSearch(operation.outcome.refundSearch);
  // One list is enough: a refund that is not found is searched again.
  const named = await readLists(ports.history, 1, async (node) => ({
    node: node.name,
    list: await signaturesSince(node, until),
  }));
  // Each list has its own share, so a node that invents transactions does not hide those of another list.
  const share = Math.ceil(REFUND_READS / named.length);
  const steps = named.map(({ node, list }) => ({
    node,
    ...nextEntries(list, before[node], { share, looks: operation.looks, isTaken }),
  }));
  const undecided = new Set<string>();
  let nearly: Refund | undefined;
  for (const signature of new Set(steps.flatMap(({ entries }) => entries))) {
    const transaction = await orUnreadable(ports.transaction(signature));
    if (transaction === 'unreadable') continue;
    if (!transaction) undecided.add(signature);
    const credit = transaction && !transaction.failed && lamportsChange(transaction, ports.reserveAddress);
    if (!credit || !isRefundOf(credit, report.amount, operation.amount)) continue;
    const found = { signature, credit, arrived: isWhole(ports, credit, operation.amount) };
    if (credit === report.amount) return refundedBy(operation, found);
    if (report.amount !== null || isOld(transaction, ports.now())) nearly ??= found;
    else undecided.add(signature);
  }
  if (nearly) return refundedBy(operation, nearly);
  const search = Object.fromEntries(
    steps.map(({ node, last, entries, retry }) => [
      node,
      {
        last,
        retry: [...new Set([...retry, ...entries])]
          .filter((signature) => undecided.has(signature) || !entries.includes(signature))
          .slice(-MOST_RETRIED),
      },
    ]),
  );
  const isBehind = steps.some((step) => step.isBehind);
  const quickChecks = isBehind ? Number(operation.outcome.refundChecks ?? 0) + 1 : 0;
  return {
    settlement: {
      state: 'pending',
      detail: 'refunding',
      progress: { refundSearch: JSON.stringify(search), refundChecks: quickChecks },
      continues: isBehind && quickChecks <= MOST_QUICK_CHECKS,
    },
    claims: [],
  };
}

/** The state of a swap's settlement; undefined for a row of another route. @throws AppError UPSTREAM_FAILED */
export async function settleSwap(
  ports: SettlementPorts,
  operation: Operation,
  isTaken: IsTaken,
): Promise<Settled | undefined> {
  const { route, depositAddress } = operation.plan;
  if (route !== ports.route.name || typeof depositAddress !== 'string') return undefined;
  const report = await ports.route.report(depositAddress);
  switch (report.state) {
    case 'pending':
      return pending(report.detail);
    case 'delivered':
      return findPayment(ports, report.txids, operation, isTaken);
    case 'refunded':
      return findRefund(ports, report, operation, isTaken);
    case 'failed':
      return {
        settlement: { state: 'incomplete', reason: report.reason, arrived: false, outcome: {} },
        claims: [],
      };
  }
}

/** Progress of the search for a refund in one node's list. */
type Search = {
  /** The newest entry that was read; null before the first. */
  readonly last: string | null;
  /** Entries read so far that no quorum showed. */
  readonly retry: readonly string[];
};

const decodeSearch = (text: Facts[string] | undefined): Readonly<Record<string, Search>> =>
  typeof text === 'string' ? (JSON.parse(text) as Record<string, Search>) : {};

/**
 * The entries of one list that the next check reads: some that no quorum showed before, then new ones, oldest
 * first. When nothing is new, the check reads old entries again in turn.
 */
function nextEntries(
  list: readonly SignatureEntry[],
  { last, retry }: Search = { last: null, retry: [] },
  p: { readonly share: number; readonly looks: number; readonly isTaken: IsTaken },
): Search & { readonly entries: readonly string[]; readonly isBehind: boolean } {
  const all = list.flatMap(({ signature, err }) => (err === null ? [signature] : [])).toReversed();
  const isFree = (signature: string) => !p.isTaken(`payment:${signature}`);
  const fresh = all.slice(all.indexOf(last ?? '') + 1).filter(isFree);
  const again = turn(retry, RETRIES_PER_CHECK, p.looks);
  const left = p.share - again.length;
  const read = fresh.slice(0, left);
  const old = fresh.length === 0 ? turn(all.filter(isFree), left, p.looks) : [];
  return {
    last: read.at(-1) ?? last,
    retry,
    entries: [...again, ...read, ...old],
    isBehind: fresh.length > left,
  };
}

/** Up to `count` items, which differ from one check to the next. */
function turn(items: readonly string[], count: number, looks: number): readonly string[] {
  const start = items.length > count ? (looks * count) % items.length : 0;
  return items.slice(start, start + count);
}

/** A credit in lamports, and whether it is the whole amount of the swap. */
type Refund = { readonly signature: string; readonly credit: bigint; readonly arrived: boolean };

const refundedBy = (operation: Operation, { signature, credit, arrived }: Refund): Settled => ({
  settlement: {
    state: 'incomplete',
    reason: 'refunded',
    arrived,
    ...(arrived ? { cost: costOfReturn(operation, credit) } : {}),
    outcome: { refundSignature: signature, refundLamports: credit.toString() },
  },
  claims: [`payment:${signature}`],
});

type Paid = { readonly vout: number; readonly value: Sats };

const claimOf = (txid: string, { vout }: Paid): string => `output:${txid}:${vout}`;

const outcomeOf = ({ txid, vout, value }: Paid & { readonly txid: string }) => ({
  btcTxid: txid,
  btcVout: vout,
  btcSats: value.toString(),
});

/** The smallest sufficient output of a batch: a larger one belongs to a larger swap. */
const smallest = <T extends Paid>(outputs: readonly T[]): T | undefined =>
  outputs.reduce<T | undefined>((best, one) => (best && best.value <= one.value ? best : one), undefined);

const largest = <T extends Paid>(outputs: readonly T[]): T | undefined =>
  outputs.reduce<T | undefined>((best, one) => (best && best.value >= one.value ? best : one), undefined);

/**
 * Milliseconds for which a credit is left to other swaps when the bridge announced no sum. It may be what it announced
 * to one of them, which could never end without it.
 */
const REFUND_WAIT = HOUR_MS;

const isOld = ({ blockTime }: ChainTransaction, now: number): boolean =>
  blockTime !== null && now - blockTime * 1_000 >= REFUND_WAIT;

/**
 * Percentage by which a payment may be below the announced sum: some bridges announce it before they deduct
 * their refund fee. Without an announced sum, the percentage applies to the amount.
 */
const REFUND_FEE_PERCENT = { announced: 1n, unannounced: 10n };

function isRefundOf(credit: bigint, announced: bigint | null, amount: bigint): boolean {
  const whole = announced ?? amount;
  const fee = whole * (announced === null ? REFUND_FEE_PERCENT.unannounced : REFUND_FEE_PERCENT.announced);
  return credit > whole - fee / 100n && credit <= whole && credit <= amount;
}

/**
 * Outputs to `address` of a transaction that every answering index shows in a block. Undefined while one of
 * them lacks it or shows other outputs; failing indexes are left out. A block from before `since`, in Unix
 * seconds, belongs to another payment.
 */
export function confirmedOutputs(
  views: readonly (BitcoinTx | null | Error)[],
  address: string,
  since: number,
): Paid[] | undefined {
  const answers = views.filter((view) => !(view instanceof Error)) as (BitcoinTx | null)[];
  const [first, ...others] = answers.map((tx) => paidTo(tx, address, since));
  const agreed = others.every((other) => other && JSON.stringify(other) === JSON.stringify(first));
  return agreed ? first?.map(({ vout, value }) => ({ vout, value: sats(BigInt(value)) })) : undefined;
}

function paidTo(
  tx: BitcoinTx | null,
  address: string,
  since: number,
): { vout: number; value: string }[] | undefined {
  if (!tx?.block) return undefined;
  if (tx.block.time < since) return [];
  return tx.outputs.flatMap((output, vout) =>
    output.address === address ? [{ vout, value: output.value.toString() }] : [],
  );
}
