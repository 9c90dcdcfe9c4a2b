/**
 * Each upstream's view of the reserve, and the figures on which independent views agree. A single view is not proof. If
 * two views differ, one is wrong, so neither is used.
 * @module
 */

import { netEffect } from '../../chain/bitcoin/net-effect.ts';
import type { ProofMessage } from '../../chain/bitcoin/proof-message.ts';
import { decodeMint } from '../../chain/solana/token-program.ts';
import { type Sats, sats } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import type { Esplora } from '../../providers/esplora.ts';
import { inTime } from '../../providers/http.ts';
import type { SolanaNode } from '../../providers/solana-rpc.ts';
import type { Within } from '../kernel/ports.ts';
import { quorumOf, sameByKey, settled, valuesOf } from '../nodes/quorum.ts';

/** One node's finalized view of the mint. */
export type SupplyView = {
  readonly source: string;
  readonly slot: bigint;
  readonly program: string;
  readonly mintAuthority: string | null;
  readonly atoms: bigint;
  readonly decimals: number;
};

/** One Solana node's figures for the reserve, all read at commitment `finalized`. */
export type SolanaFigures = Pick<ProofMessage, 'solanaLamports' | 'solanaTip' | 'absr'>;

type Node = Pick<SolanaNode, 'name' | 'accounts' | 'balance' | 'latestBlockhash' | 'isBlockhashValid'>;

export type ReserveSources = {
  readonly indexes: readonly BitcoinIndex[];
  readonly nodes: readonly Node[];
  readonly bitcoinAddress: string;
  readonly solanaAddress: string;
  readonly absrMint: string | null;
};

/** Time limit of one view, for all its calls together. Each call also has its own limit. */
const VIEW_MS = 15_000;

/** The views of the sources that respond in time. */
export async function viewsInTime<N extends { readonly name: string }, T>(
  sources: readonly N[],
  viewOf: (source: N) => Promise<T>,
  within: Within,
): Promise<T[]> {
  const views = sources.map((source) => inTime(viewOf(source), VIEW_MS, source.name, within));
  return valuesOf(await Promise.allSettled(views));
}

/** One view per index; failing and slow indexes are excluded. */
export const reserveViews = (
  { indexes, bitcoinAddress }: Pick<ReserveSources, 'indexes' | 'bitcoinAddress'>,
  depth: number,
  within: Within,
): Promise<ReserveView[]> =>
  viewsInTime(indexes, (index) => readReserveView(index, bitcoinAddress, depth), within);

/** One view per node; failing and slow nodes are excluded. */
export async function supplyViews(
  { nodes, absrMint }: Pick<ReserveSources, 'nodes' | 'absrMint'>,
  within: Within,
): Promise<SupplyView[]> {
  return absrMint === null ? [] : viewsInTime(nodes, (node) => readSupply(node, absrMint), within);
}

/** The results of the nodes that respond. Once a quorum has responded, hanging nodes are excluded. */
type FromMost = <T>(call: (node: Node) => Promise<T>) => Promise<T[]>;

/**
 * The newest finalized tip that a quorum of nodes has reached and whose blockhash a quorum has seen. A single node
 * cannot raise it, or lower it below the other nodes' tips.
 */
async function commonTip(fromMost: FromMost, quorum: number) {
  const tips = await fromMost((node) => node.latestBlockhash('finalized'));
  const tip = tips.toSorted((a, b) => (a.slot > b.slot ? -1 : 1))[quorum - 1];
  if (!tip) throw upstreamFailed('solana-rpc', 'quorum_missing');
  const seen = await fromMost((node) => node.isBlockhashValid(tip.blockhash, 'finalized'));
  if (seen.filter(({ valid }) => valid).length < quorum) throw upstreamFailed('solana-rpc', 'quorum_missing');
  return tip;
}

/**
 * The figures on which a quorum of nodes agrees, all at least as new as the common tip. @throws AppError
 * UPSTREAM_FAILED
 */
export async function solanaFigures(
  { nodes, solanaAddress, absrMint }: ReserveSources,
  within: Within,
): Promise<SolanaFigures> {
  const quorum = quorumOf(nodes.length);
  const fromMost: FromMost = async (call) => valuesOf(await settled(nodes.map(call), quorum, within));
  const { slot, blockhash } = await commonTip(fromMost, quorum);
  const read = async (node: Node): Promise<Omit<SolanaFigures, 'solanaTip'>> => {
    const [balance, supply] = await Promise.all([
      node.balance(solanaAddress, 'finalized', slot),
      absrMint === null ? null : readSupply(node, absrMint),
    ]);
    if (balance.slot < slot || (supply && supply.slot < slot)) throw upstreamFailed(node.name, 'behind');
    const absr =
      supply && absrMint !== null ? { mint: absrMint, atoms: supply.atoms, decimals: supply.decimals } : null;
    return { solanaLamports: balance.lamports, absr };
  };
  const views = await fromMost(async (node) => ({ node: node.name, value: await read(node) }));
  const [figures] = sameByKey(views, quorum, (value) => stringifyJson(value) ?? '') ?? [];
  if (!figures)
    throw upstreamFailed('solana-rpc', views.length < quorum ? 'quorum_missing' : 'nodes_disagree');
  return { ...figures, solanaTip: { slot, blockhash } };
}

async function readSupply(node: Node, address: string): Promise<SupplyView> {
  const { slot, accounts } = await node.accounts([address], 'finalized');
  const [account] = accounts;
  const mint = account && decodeMint(account.owner, account.data);
  if (!mint) throw upstreamFailed(node.name, 'no_such_mint');
  const { program, mintAuthority, supply: atoms, decimals } = mint;
  return { source: node.name, slot, program, mintAuthority, atoms, decimals };
}

export type BitcoinIndex = Pick<Esplora, 'name' | 'tipHash' | 'tipHeight' | 'balance' | 'chainTxs'>;

/** Maximum tries, because a new block can interrupt a try. */
const TRIES = 3;
/**
 * Maximum pages of 1 to 25 rows. The blocks that are read have at most 40 transactions large enough to fill a page
 * each.
 */
const MAX_PAGES = 50;

/**
 * One Bitcoin index's view of the reserve at one tip. An index may advance between two requests, so the tip is read
 * before and after. A view is valid only if both tips are the same.
 * @param depth confirmations that income needs; with 0, transactions are not read
 * @throws AppError UPSTREAM_FAILED
 */
export async function readReserveView(
  index: BitcoinIndex,
  address: string,
  depth: number,
): Promise<ReserveView> {
  for (let tries = 0; tries < TRIES; tries++) {
    const hash = await index.tipHash();
    const height = await index.tipHeight();
    // The balance is read before the list, because a newer list can only reduce the result.
    const balance = await index.balance(address);
    const fromHeight = height - depth - MAX_TIP_DISTANCE + 2;
    const young = depth === 0 ? [] : await readYoung(index, address, fromHeight, balance.confirmedTxs);
    if ((await index.tipHash()) !== hash) continue;
    const { confirmed, pendingSpent } = balance;
    return { source: index.name, tip: { height, hash }, confirmed, pendingSpent, young };
  }
  throw upstreamFailed(index.name, 'tip_moves');
}

/**
 * Transactions in blocks from this height on. The list must be sorted and complete, because the income of a missing row
 * would be treated as settled.
 */
async function readYoung(
  index: BitcoinIndex,
  address: string,
  fromHeight: number,
  known: number,
): Promise<YoungTx[]> {
  const young = new Map<string, { height: number; net: Sats }>();
  let last: string | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (let page = 0; page < MAX_PAGES; page++) {
    const txs = await index.chainTxs(address, last);
    const before = young.size;
    for (const tx of txs) {
      const height = tx.block?.height;
      if (height === undefined || height > lowest) throw upstreamFailed(index.name, 'unsorted_list');
      if (height < fromHeight) return [...young.values()];
      lowest = height;
      young.set(tx.txid, { height, net: netEffect(tx, address) });
    }
    if (young.size === before) {
      if (young.size < known) throw upstreamFailed(index.name, 'incomplete_list');
      return [...young.values()];
    }
    last = txs.at(-1)?.txid;
  }
  throw upstreamFailed(index.name, 'too_many_young');
}

/** A confirmed transaction with too few confirmations, and its net effect on the reserve. */
export type YoungTx = { readonly height: number; readonly net: Sats };

export type ReserveView = {
  readonly source: string;
  readonly tip: { readonly height: number; readonly hash: string };
  readonly confirmed: Sats;
  /** Sats spent by unconfirmed transactions, without deducting change. */
  readonly pendingSpent: Sats;
  readonly young: readonly YoungTx[];
};

export type Agreement =
  | { readonly ok: true; readonly sats: Sats; readonly tip: ReserveView['tip'] }
  | { readonly ok: false; readonly reason: AgreementRefusal };
export type AgreementRefusal = 'one_source' | 'tips_apart' | 'sources_disagree' | 'spend_pending';

export const MINT_CONFIRMATIONS = 3;

/** Honest indexes may temporarily differ by this many blocks. */
export const MAX_TIP_DISTANCE = 2;

/**
 * The reserve's balance at `depth` confirmations on which a quorum of the indexes agrees, counted from the newest tip
 * that a quorum has reached. Income is included once it has `depth` confirmations. A spend is deducted at once, and an
 * unconfirmed spend prevents agreement, so the figure never exceeds the real balance. At least two indexes must agree.
 */
export function agreeAtDepth(views: readonly ReserveView[], depth: number, configured: number): Agreement {
  const quorum = Math.max(quorumOf(configured), 2);
  const { tip } = views.toSorted((a, b) => b.tip.height - a.tip.height)[quorum - 1] ?? {};
  if (!tip) return { ok: false, reason: 'one_source' };
  const near = views.filter((view) => Math.abs(view.tip.height - tip.height) <= MAX_TIP_DISTANCE);
  if (near.length < quorum) return { ok: false, reason: 'tips_apart' };
  const group = sameByKey(given(near), quorum, (view) => String(settledSats(view, tip.height, depth)));
  const [first] = group ?? [];
  if (!group || !first) return { ok: false, reason: 'sources_disagree' };
  if (group.filter(({ pendingSpent }) => pendingSpent === 0n).length < quorum)
    return { ok: false, reason: 'spend_pending' };
  return { ok: true, sats: settledSats(first, tip.height, depth), tip };
}

const given = (views: readonly ReserveView[]) => views.map((value) => ({ node: value.source, value }));

/** A block at the tip has one confirmation. */
function settledSats(view: ReserveView, tip: number, depth: number): Sats {
  const income = view.young
    .filter(({ height, net }) => tip - height + 1 < depth && net > 0n)
    .reduce((sum, { net }) => sum + net, 0n);
  return sats(view.confirmed - income);
}

/**
 * The confirmed balance at one tip on which a quorum of indexes agrees. If only one index is configured, its view is
 * enough.
 */
export function agreeAtTip(views: readonly ReserveView[], configured: number): Agreement {
  const quorum = quorumOf(configured);
  if (views.length < quorum) return { ok: false, reason: 'one_source' };
  const group = sameByKey(given(views), quorum, ({ tip, confirmed }) => `${tip.hash} ${confirmed}`);
  const [first] = group ?? [];
  if (first) return { ok: true, sats: first.confirmed, tip: first.tip };
  const atOneTip = sameByKey(given(views), quorum, ({ tip }) => tip.hash);
  return { ok: false, reason: atOneTip ? 'sources_disagree' : 'tips_apart' };
}
