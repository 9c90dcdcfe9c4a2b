/**
 * The reserve as shown by each upstream separately. The mint and the proof compare the views.
 * @module
 */
import { netEffect } from '../../chain/bitcoin/net-effect.ts';
import { decodeMint } from '../../chain/solana/token-program.ts';
import type { Sats } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { Esplora } from '../../providers/esplora.ts';
import type { SolanaNode } from '../../providers/solana-rpc.ts';
import { MAX_TIP_DISTANCE, type ReserveView, type YoungTx } from './agreement.ts';
import type { SupplyView } from './mint-operation.ts';
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
    const tips = await answered(
      p.nodes.map(async (node) => ({ node, tip: await node.latestBlockhash('finalized') })),
    );
    const [first] = tips;
    if (!first) throw upstreamFailed('solana-rpc', 'no_node');
    return tips.reduce((most, one) => (one.tip.slot > most.tip.slot ? one : most), first);
  }

  return {
    /** One view per index; failing indexes are left out. */
    reserveViews: (depth: number): Promise<ReserveView[]> =>
      answered(p.indexes.map((index) => readReserveView(index, p.bitcoinAddress, depth))),

    /** One view per node; failing nodes are left out. */
    supplyViews: async (): Promise<SupplyView[]> => {
      const { absrMint } = p;
      return absrMint === null ? [] : answered(p.nodes.map((node) => readSupply(node, absrMint)));
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

async function answered<T>(reads: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(reads);
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

export type BitcoinIndex = Pick<Esplora, 'name' | 'tipHash' | 'tipHeight' | 'balance' | 'chainTxs'>;

/** Three tries: a new block may interrupt one of them. */
const TRIES = 3;
/** Of about 25 rows each. More young transactions than this mean an attack. */
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
