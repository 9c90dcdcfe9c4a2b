/**
 * The outcome of a swap whose SOL has reached the bridge. The bridge's report only says where to look. A delivery is
 * accepted when our own Bitcoin indexes show it, and a refund when our Solana nodes show it.
 * @module
 */
import type { BridgeReport } from '../../bridges/route.ts';
import { type Lamports, lamports, type Sats } from '../../core/amount.ts';
import { stringifyJson } from '../../core/json.ts';
import type { BitcoinTx } from '../../providers/esplora.ts';
import type { Facts, Operation, Settled } from '../kernel/operation.ts';
import { STUCK_AFTER_MS } from '../kernel/state-machine.ts';
import { quorumOf, sameByKey } from '../nodes/quorum.ts';
import { statusesOf } from './evidence.ts';
import { findRefund, type IsUsed, isWhole, pending, type SettlementPorts } from './refund-search.ts';

const TXID = /^[0-9a-f]{64}$/;
/** Maximum transactions of a report that are checked. One pays the swap; each costs a call to every index. */
const MAX_TXIDS = 5;
/** Maximum error of a block's time in seconds: consensus accepts blocks two hours ahead. */
const BLOCK_TIME_SKEW = 7_200;

/** The missing sats are valued at the quote's own rate, rounded up. */
const costOfPart = ({ amount, cost }: Operation, value: bigint, minimum: bigint): Lamports =>
  lamports(value < minimum ? cost + (amount * (minimum - value) + minimum - 1n) / minimum : cost);

async function findPayment(
  ports: SettlementPorts,
  txids: readonly string[],
  operation: Operation,
  isUsed: IsUsed,
): Promise<Settled> {
  const minimum = BigInt(String(operation.plan.minimumSats));
  const since = (operation.landing?.blockTime ?? Math.floor(operation.createdAt / 1_000)) - BLOCK_TIME_SKEW;
  const free: Output[] = [];
  let undecided = false;
  let awaitsBlock = false;
  for (const txid of txids.filter((text) => TXID.test(text)).slice(0, MAX_TXIDS)) {
    const views = await ports.bitcoinViews(txid);
    const outputs = confirmedOutputs(views, ports.bitcoinAddress, since);
    if (!outputs) undecided = true;
    if (views.some((view) => isInNoBlock(view, ports.bitcoinAddress))) awaitsBlock = true;
    free.push(...(outputs ?? []).map((paid) => ({ txid, ...paid })).filter((paid) => !isUsed(nameOf(paid))));
    free.sort((a, b) => Number(a.value - b.value));
    // A batch has outputs of several swaps. The smallest sufficient output is used, because a larger one belongs to a
    // larger swap.
    const enough = free.find(({ value }) => value >= minimum);
    if (enough)
      return {
        settlement: { state: 'complete', outcome: outcomeOf(enough) },
        once: [nameOf(enough)],
      };
  }
  // `partial` is a final state, so every transaction that may contain the whole payment is checked first.
  const part = undecided ? undefined : free.at(-1);
  if (!part) return pending('settling', awaitsBlock);
  const arrived = isWhole(ports, part.value, minimum);
  const cost = arrived ? { cost: costOfPart(operation, part.value, minimum) } : {};
  return {
    settlement: { state: 'incomplete', reason: 'partial', arrived, ...cost, outcome: outcomeOf(part) },
    once: [nameOf(part)],
  };
}

/** The state of a swap's settlement; undefined for a row of another route. @throws AppError UPSTREAM_FAILED */
export async function settleSwap(
  ports: SettlementPorts,
  operation: Operation,
  isUsed: IsUsed,
): Promise<Settled | undefined> {
  const { route, depositAddress } = operation.plan;
  if (route !== ports.route.name || typeof depositAddress !== 'string') return undefined;
  const [report, isAnnounced] = await Promise.all([
    ports.route.report(depositAddress),
    announce(ports.route, operation, depositAddress),
  ]);
  const settled = await settleReport(ports, operation, isUsed, report);
  const known = statusesOf(operation.outcome);
  // A bridge whose status differs at each read must not cause endless quick checks.
  const hasMoved =
    report.shown !== undefined && known.length < MOST_STATUSES && known.at(-1)?.shown !== report.shown;
  return withFacts(
    settled,
    {
      ...(isAnnounced ? { announced: true } : {}),
      ...(report.shown === undefined
        ? {}
        : { bridgeStatuses: statusesAfter(operation, report.shown, ports.now()) }),
    },
    hasMoved,
  );
}

/** Maximum checks that announce the deposit to the bridge; they stop after the first successful call. */
const ANNOUNCEMENTS = 10;

/** Announces the deposit to the bridge. A failure has no effect. @returns whether this call succeeded */
async function announce(
  route: SettlementPorts['route'],
  { outcome, looks, signing }: Operation,
  depositAddress: string,
): Promise<boolean> {
  if (!route.announce || !signing || outcome.announced === true || looks >= ANNOUNCEMENTS) return false;
  return route.announce(depositAddress, signing.signature).then(
    () => true,
    () => false,
  );
}

const MOST_STATUSES = 20;

/** The bridge's statuses, each with the time when it was first seen, as JSON. The oldest are dropped first. */
function statusesAfter({ outcome }: Operation, shown: string, now: number): string {
  const known = statusesOf(outcome);
  if (known.at(-1)?.shown === shown) return JSON.stringify(known);
  return JSON.stringify([...known, { at: new Date(now).toISOString(), shown }].slice(-MOST_STATUSES));
}

/** Adds facts to the row of a settlement. @param hasMoved whether the bridge's status has changed */
function withFacts(settled: Settled, facts: Facts, hasMoved: boolean): Settled {
  if (Object.keys(facts).length === 0) return settled;
  const { settlement, once } = settled;
  return settlement.state === 'pending'
    ? { settlement: { ...settlement, hasMoved, progress: { ...settlement.progress, ...facts } }, once }
    : { settlement: { ...settlement, outcome: { ...settlement.outcome, ...facts } }, once };
}

/**
 * For a refund that the bridge does not report: its status is FAILED, or SUCCESS without a transaction (seen in
 * September 2026).
 */
const UNREPORTED = { state: 'refunded', amount: null } as const;

function settleReport(
  ports: SettlementPorts,
  operation: Operation,
  isUsed: IsUsed,
  report: BridgeReport,
): Settled | Promise<Settled> {
  const isStuck = ports.now() - operation.createdAt > STUCK_AFTER_MS;
  switch (report.state) {
    case 'pending':
      return pending(report.detail);
    case 'delivered':
      return isStuck && !report.txids.some((txid) => TXID.test(txid))
        ? findRefund(ports, UNREPORTED, operation, isUsed)
        : findPayment(ports, report.txids, operation, isUsed);
    case 'refunded':
      return findRefund(ports, report, operation, isUsed);
    case 'failed':
      if (operation.state === 'failed') return findRefund(ports, UNREPORTED, operation, isUsed);
      return {
        settlement: { state: 'incomplete', reason: report.reason, arrived: false, outcome: {} },
        once: [],
      };
  }
}

type Paid = { readonly vout: number; readonly value: Sats };

type Output = Paid & { readonly txid: string };

const nameOf = ({ txid, vout }: Output): string => `output:${txid}:${vout}`;

const outcomeOf = ({ txid, vout, value }: Output) => ({
  btcTxid: txid,
  btcVout: vout,
  btcSats: value.toString(),
});

/**
 * Outputs to `address` of a transaction that a quorum of the configured indexes shows in a block. Undefined while too
 * few indexes respond, have the transaction, or show the same outputs. A block from before `since`, in Unix seconds,
 * belongs to a different payment.
 * @param views one for each configured index
 */
export function confirmedOutputs(
  views: readonly (BitcoinTx | null | Error)[],
  address: string,
  since: number,
): Paid[] | undefined {
  const shown = views.flatMap((view, index) => {
    const value = view instanceof Error ? undefined : paidTo(view, address, since);
    return value ? [{ node: String(index), value }] : [];
  });
  return sameByKey(shown, quorumOf(views.length), (paid) => stringifyJson(paid))?.[0];
}

/** True if an index shows a payment to the address that is not in a block yet. */
const isInNoBlock = (view: BitcoinTx | null | Error, address: string): boolean =>
  view !== null &&
  !(view instanceof Error) &&
  !view.block &&
  view.outputs.some((output) => output.address === address);

function paidTo(tx: BitcoinTx | null, address: string, since: number): Paid[] | undefined {
  if (!tx?.block) return undefined;
  if (tx.block.time < since) return [];
  return tx.outputs.flatMap((output, vout) =>
    output.address === address ? [{ vout, value: output.value }] : [],
  );
}
