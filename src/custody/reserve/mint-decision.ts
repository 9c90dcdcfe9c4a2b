/**
 * Computes the amount of the daily mint from the views of the Bitcoin indexes, the Solana nodes and the journal. Pure
 * functions.
 * @module
 */
import { quorumOf, sameByKey } from '../nodes/quorum.ts';
import {
  type AgreementRefusal,
  agreeAtDepth,
  MINT_CONFIRMATIONS,
  type ReserveView,
  type SupplyView,
} from './reserve-views.ts';

const U64_MAX = 2n ** 64n - 1n;

export type PreviousMints = {
  /** True while another mint is signed but its outcome is not final. */
  readonly open: boolean;
  /** The newest landed mint; every view must include its supply. */
  readonly last: { readonly slot: bigint; readonly day: string } | null;
};

export type MintFacts = {
  readonly reserves: readonly ReserveView[];
  readonly supplies: readonly SupplyView[];
  readonly nodes: number;
  readonly indexes: number;
  readonly authority: string;
  readonly earlier: PreviousMints;
};

type MintFigures = {
  readonly reserveSats: string;
  readonly supplyAtoms: string;
  readonly decimals: number;
  readonly supplySlot: string;
  readonly bitcoinHeight: number;
  readonly bitcoinHash: string;
};

type SupplyRefusal = 'one_node' | 'supply_outdated' | 'supplies_disagree';

type MintDecision =
  | {
      readonly verdict: 'mint';
      readonly atoms: bigint;
      readonly program: string;
      readonly figures: MintFigures;
    }
  /** No mint today. */
  | {
      readonly verdict: 'none';
      readonly reason: 'nothing_to_mint' | 'supply_above_reserve' | 'not_mint_authority' | 'supply_overflow';
      readonly figures: MintFigures;
    }
  /** Cannot be decided now. A later attempt on the same day may succeed. */
  | {
      readonly verdict: 'wait';
      readonly reason: AgreementRefusal | SupplyRefusal | 'earlier_mint_open';
    };

export function decideMint(facts: MintFacts): MintDecision {
  if (facts.earlier.open) return { verdict: 'wait', reason: 'earlier_mint_open' };
  const reserve = agreeAtDepth(facts.reserves, MINT_CONFIRMATIONS, facts.indexes);
  if (!reserve.ok) return { verdict: 'wait', reason: reserve.reason };
  const supply = agreeSupply(facts);
  if (typeof supply === 'string') return { verdict: 'wait', reason: supply };
  const figures = {
    reserveSats: reserve.sats.toString(),
    supplyAtoms: supply.atoms.toString(),
    decimals: supply.decimals,
    supplySlot: supply.slot.toString(),
    bitcoinHeight: reserve.tip.height,
    bitcoinHash: reserve.tip.hash,
  };
  const covered = reserve.sats * 10n ** BigInt(supply.decimals);
  const atoms = covered - supply.atoms;
  if (atoms < 0n) return { verdict: 'none', reason: 'supply_above_reserve', figures };
  if (atoms === 0n) return { verdict: 'none', reason: 'nothing_to_mint', figures };
  if (supply.mintAuthority !== facts.authority)
    return { verdict: 'none', reason: 'not_mint_authority', figures };
  if (covered > U64_MAX) return { verdict: 'none', reason: 'supply_overflow', figures };
  return { verdict: 'mint', atoms, program: supply.program, figures };
}

/** The supply on which a quorum of nodes agrees. Views from before the last mint are excluded. */
function agreeSupply(facts: MintFacts): SupplyView | SupplyRefusal {
  const quorum = quorumOf(facts.nodes);
  const lastSlot = facts.earlier.last?.slot ?? 0n;
  const current = facts.supplies.filter((view) => view.slot >= lastSlot);
  if (current.length < quorum) return facts.supplies.length > current.length ? 'supply_outdated' : 'one_node';
  const views = current.map((value) => ({ node: value.source, value }));
  const [first] =
    sameByKey(views, quorum, ({ atoms, decimals, program, mintAuthority }) =>
      [atoms, decimals, program, mintAuthority].join(' '),
    ) ?? [];
  return first ?? 'supplies_disagree';
}
