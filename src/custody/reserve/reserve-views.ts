/**
 * The reserve as shown by each upstream separately, and what independent views agree on. One view proves
 * nothing. Two views that differ prove that one is wrong, so neither is used.
 * @module
 */
import { netEffect } from '../../chain/bitcoin/net-effect.ts';
import { decodeMint } from '../../chain/solana/token-program.ts';
import { type Sats, sats } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { Esplora } from '../../providers/esplora.ts';
import type { SolanaNode } from '../../providers/solana-rpc.ts';
import { succeeded } from '../kernel/quorum.ts';
import type { SupplyView } from './daily-mint.ts';
import type { SolanaFigures } from './proof.ts';

type Node = Pick<SolanaNode, 'name' | 'accounts' | 'balance' | 'latestBlockhash'>;

export function createReservePorts(p: {
  readonly indexes: readonly BitcoinIndex[];
  readonly nodes: readonly Node[];
  readonly bitcoinAddress: string;
  readonly solanaAddress: string;
  readonly absrMint: string | null;
}) {
  /** The finalized blockhash of the node at the highest slot. */
  async function newest() {
    const tips = await succeeded(
      p.nodes.map(async (node) => ({ node, tip: await node.latestBlockhash('finalized') })),
    );
    const [first] = tips;
    if (!first) throw upstreamFailed('solana-rpc', 'no_node');
    return tips.reduce((most, one) => (one.tip.slot > most.tip.slot ? one : most), first);
  }

  return {
    /** One view per index; failing indexes are left out. */
    reserveViews: (depth: number): Promise<ReserveView[]> =>
      succeeded(p.indexes.map((index) => readReserveView(index, p.bitcoinAddress, depth))),

    /** One view per node; failing nodes are left out. */
    supplyViews: async (): Promise<SupplyView[]> => {
      const { absrMint } = p;
      return absrMint === null ? [] : succeeded(p.nodes.map((node) => readSupply(node, absrMint)));
    },

    /**
     * All figures are from the node at the highest slot and at least as new as the blockhash. @throws
     * AppError UPSTREAM_FAILED
     */
    solanaFigures: async (): Promise<SolanaFigures> => {
      const { node, tip } = await newest();
      const [balance, supply] = await Promise.all([
        node.balance(p.solanaAddress, 'finalized', tip.slot),
        p.absrMint === null ? null : readSupply(node, p.absrMint),
      ]);
      if (supply && supply.slot < tip.slot) throw upstreamFailed(node.name, 'supply_outdated');
      return {
        solanaLamports: balance.lamports,
        solanaTip: { slot: tip.slot, blockhash: tip.blockhash },
        absr:
          supply && p.absrMint !== null
            ? { mint: p.absrMint, atoms: supply.atoms, decimals: supply.decimals }
            : null,
      };
    },
  };
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

/** Three tries: a new block may interrupt one of them. */
const TRIES = 3;
/** Pages of about 25 rows each. More recent transactions than this mean an attack. */
const MAX_PAGES = 10;

/**
 * One Bitcoin index's view of the reserve at one tip. An index answers each request separately and may advance in
 * between, so the tip is read before and after, and a view is valid only if both are the same.
 * @param depth confirmations that count; 0 omits the transactions
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
    // The balance is read before the list: a newer list can only reduce the result.
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
 * Confirmed transactions from this height on. The list must be sorted and complete: a missed row would count
 * as settled.
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

/** A confirmed transaction too young to count, and its net effect on the reserve. */
export type YoungTx = { readonly height: number; readonly net: Sats };

export type ReserveView = {
  readonly source: string;
  readonly tip: { readonly height: number; readonly hash: string };
  /** The total confirmed balance at the tip. */
  readonly confirmed: Sats;
  /** Sats spent by unconfirmed transactions, with change not deducted. */
  readonly pendingSpent: Sats;
  readonly young: readonly YoungTx[];
};

export type Agreement =
  | { readonly ok: true; readonly sats: Sats; readonly tip: ReserveView['tip'] }
  | { readonly ok: false; readonly reason: AgreementRefusal };
export type AgreementRefusal = 'one_source' | 'tips_apart' | 'sources_disagree' | 'spend_pending';

/** Blocks by which honest indexes may differ temporarily. */
export const MAX_TIP_DISTANCE = 2;

/** Number of views needed to decide about money. */
const QUORUM = 2;

/**
 * The balance of the reserve at `depth` confirmations, counted from the lowest tip. Income counts once it is
 * that deep. A spend counts at once, and an unconfirmed spend prevents any agreement, so the figure never
 * exceeds the real balance.
 *
 * @param depth confirmations that income needs, at least 1
 */
export function agreeAtDepth(views: readonly ReserveView[], depth: number): Agreement {
  if (views.length < QUORUM) return { ok: false, reason: 'one_source' };
  const lowest = views.reduce((low, view) => (view.tip.height < low.tip.height ? view : low));
  const highest = Math.max(...views.map((view) => view.tip.height));
  if (highest - lowest.tip.height > MAX_TIP_DISTANCE) return { ok: false, reason: 'tips_apart' };
  const [figure, ...others] = views.map((view) => settledSats(view, lowest.tip.height, depth));
  if (figure === undefined || others.some((other) => other !== figure)) {
    return { ok: false, reason: 'sources_disagree' };
  }
  if (views.some((view) => view.pendingSpent > 0n)) return { ok: false, reason: 'spend_pending' };
  return { ok: true, sats: figure, tip: lowest.tip };
}

/** A block at the tip has one confirmation. */
function settledSats(view: ReserveView, tip: number, depth: number): Sats {
  const income = view.young
    .filter(({ height, net }) => tip - height + 1 < depth && net > 0n)
    .reduce((sum, { net }) => sum + net, 0n);
  return sats(view.confirmed - income);
}

/**
 * The confirmed balance that all views show at the same tip, for a proof that names it. With a single
 * configured index, its answer is used alone.
 */
export function agreeAtTip(views: readonly ReserveView[], configured: number): Agreement {
  const [first, ...others] = views;
  if (!first || views.length < Math.min(configured, QUORUM)) return { ok: false, reason: 'one_source' };
  if (others.some((view) => view.tip.hash !== first.tip.hash)) return { ok: false, reason: 'tips_apart' };
  if (others.some((view) => view.confirmed !== first.confirmed))
    return { ok: false, reason: 'sources_disagree' };
  return { ok: true, sats: first.confirmed, tip: first.tip };
}
