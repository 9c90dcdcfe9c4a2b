/**
 * Decides whether the witness adds its signature to a mint. Its only rule: the supply never exceeds the sats that its
 * own indexes confirm. Pure.
 * @module
 */
import type { MintRequest } from '../chain/solana/mint-request.ts';
import { EXPIRY_BLOCKS } from '../chain/solana/transaction.ts';
import { closeTogether } from '../core/close-together.ts';
import { quorumOf, sameByKey } from '../custody/nodes/quorum.ts';
import type { Agreement, AgreementRefusal } from '../custody/reserve/reserve-views.ts';

/** One node's figures for one request, in read order. */
export type MintView = {
  /** The node's `id`. */
  readonly node: string;
  /** Finalized block height. The supply is read afterwards, at the same slot or later. */
  readonly finalizedHeight: bigint;
  readonly program: string;
  /** Finalized mint authority; null if minting is disabled for good. */
  readonly authority: string | null;
  /** Finalized supply in atoms. */
  readonly supply: bigint;
  readonly decimals: number;
  /** The node's block height after it has seen the request's blockhash; null if it does not accept the blockhash. */
  readonly heightAtBlockhash: bigint | null;
};

export type LastSigned = {
  /** The transaction's id. */
  readonly signature: string;
  readonly atoms: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Decimal block heights by the `id` of each node that had seen the blockhash. */
  readonly heights: Readonly<Record<string, string>>;
};

export type MintFacts = {
  readonly request: Pick<MintRequest, 'program' | 'atoms' | 'decimals'>;
  readonly authority: string;
  readonly last: LastSigned | undefined;
  /** One view for each node that responds. */
  readonly views: readonly MintView[];
  readonly nodes: number;
  /** The sats at a mint's depth, according to a quorum of the witness's indexes. */
  readonly reserve: Agreement;
};

export type Refusal =
  /** The last transaction may still land. */
  | 'earlier_mint_open'
  | 'blockhash_unknown'
  /** Fewer nodes than a quorum respond. */
  | 'nodes_unreachable'
  | 'supplies_disagree'
  | 'other_mint'
  /** Mints without the witness's key may be pending, or the authority was transferred again. */
  | 'not_mint_authority'
  | AgreementRefusal
  /** The amount is more than the reserve has above the supply. */
  | 'amount_above_reserve'
  | 'supply_above_reserve';

export type Decision =
  | { readonly type: 'sign'; readonly heights: LastSigned['heights'] }
  | { readonly type: 'refuse'; readonly refusal: Refusal };

export function decideCosignature({ request, authority, last, views, nodes, reserve }: MintFacts): Decision {
  const quorum = quorumOf(nodes);
  // Once the last transaction has expired, the finalized supply includes its mint, or the mint never lands.
  const current = views.filter((view) => !last || hasExpired(last, view));
  if (views.length < quorum) return refuse('nodes_unreachable');
  if (current.length < quorum) return refuse('earlier_mint_open');
  const given = current.map((value) => ({ node: value.node, value }));
  const [mint] =
    sameByKey(given, quorum, (view) =>
      [view.program, view.authority, view.supply, view.decimals].join(' '),
    ) ?? [];
  if (!mint) return refuse('supplies_disagree');
  if (mint.program !== request.program || mint.decimals !== request.decimals) return refuse('other_mint');
  if (mint.authority !== authority) return refuse('not_mint_authority');
  const seen = agreedHeights(views);
  if (seen.length < quorum) return refuse('blockhash_unknown');
  if (!reserve.ok) return refuse(reserve.reason);
  const covered = reserve.sats * 10n ** BigInt(mint.decimals);
  if (mint.supply > covered) return refuse('supply_above_reserve');
  if (mint.supply + request.atoms > covered) return refuse('amount_above_reserve');
  const heights = Object.fromEntries(seen.map(({ node, height }) => [node, height.toString()]));
  return { type: 'sign', heights };
}

/**
 * The largest group of nodes whose heights fit one blockhash. Honest heights differ by less than the lifetime of a
 * blockhash, so a lying node cannot make the witness wait for an absurd height.
 */
function agreedHeights(views: readonly MintView[]) {
  const seen = views.flatMap(({ node, heightAtBlockhash: height }) =>
    height === null ? [] : [{ node, height }],
  );
  return closeTogether(seen, ({ height }) => height, EXPIRY_BLOCKS);
}

const refuse = (refusal: Refusal): Decision => ({ type: 'refuse', refusal });

/**
 * Whether the last transaction can no longer land, by the node's own heights. A node that had not seen its blockhash
 * uses the highest stored height, so it proves the expiry late, but never early.
 */
function hasExpired({ heights }: LastSigned, { node, finalizedHeight }: MintView): boolean {
  const own = heights[node];
  const known = own === undefined ? Object.values(heights).map(BigInt) : [BigInt(own)];
  return known.every((height) => finalizedHeight > height + EXPIRY_BLOCKS);
}
