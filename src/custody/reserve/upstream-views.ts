/**
 * The reserve as shown by each upstream separately. The mint and the proof compare the views.
 * @module
 */
import { decodeMint } from '../../chain/solana/token-program.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { SolanaNode } from '../../providers/solana-rpc.ts';
import type { ReserveView } from './agreement.ts';
import { type BitcoinIndex, readReserveView } from './bitcoin-view.ts';
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
