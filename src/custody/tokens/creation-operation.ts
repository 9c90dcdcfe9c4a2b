/**
 * The creation of a paid token: one transaction, signed by the reserve and by the mint's own key. The key is derived
 * from the invoice, so the chain refuses a second mint, however often the creation is retried.
 * @module
 */

import {
  creationCost,
  creationCosts,
  creationMessage,
  type TokenDesign,
  tokenProgramOf,
} from '../../chain/solana/token-creation.ts';
import { SYSTEM_PROGRAM } from '../../chain/solana/transaction.ts';
import {
  type KindRules,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import type { Blockhash } from '../nodes/solana-view.ts';
import type { Subject } from '../product.ts';

const TOKEN_RULES: KindRules = {
  maxAttempts: 20,
  retriesPreparation: true,
  settles: false,
  coveredAt: 'signature',
};

export type FoundMint = { readonly owner: string; readonly supply: bigint; readonly decimals: number };

export type TokenPorts = {
  readonly signMint: (invoiceId: string, message: Uint8Array) => Uint8Array;
  /** Minimum balance that makes an account without data rent-exempt, in lamports, according to a quorum of nodes. */
  leastBalance(): Promise<bigint>;
  latestBlockhash(): Promise<Blockhash>;
  /** The mint at an address, at `finalized` commitment; null if the account does not exist. */
  findMint(address: string): Promise<FoundMint | null>;
};

/** The design from an invoice's subject, which is plain JSON. */
export function designOf(subject: Subject): TokenDesign {
  return {
    program: subject.program === 'token' ? 'token' : 'token-2022',
    metaplex: subject.metaplex === true,
    name: String(subject.name),
    symbol: String(subject.symbol),
    uri: String(subject.uri),
    decimals: Number(subject.decimals),
    supply: BigInt(String(subject.supply)),
    creator: String(subject.creator),
    revokeMint: subject.revokeMint === true,
    revokeFreeze: subject.revokeFreeze === true,
    revokeUpdate: subject.revokeUpdate === true,
  };
}

/** Lamports that the creation of an invoice's token costs, according to a quorum. @throws AppError UPSTREAM_FAILED */
export const costOfCreation =
  (leastBalance: TokenPorts['leastBalance']) =>
  async (subject: Subject): Promise<bigint> =>
    creationCost(creationCosts(designOf(subject), await leastBalance()));

export function createTokenKind(ports: TokenPorts): OperationKind {
  return {
    rules: TOKEN_RULES,

    async prepare(operation): Promise<Prepared> {
      const design = designOf(operation.plan);
      const mint = String(operation.plan.mint);
      const invoiceId = String(operation.plan.invoiceId);
      const [found, least, lifetime] = await Promise.all([
        ports.findMint(mint),
        ports.leastBalance(),
        ports.latestBlockhash(),
      ]);
      // Anyone can send lamports to a known address; the chain then refuses to create an account there.
      if (found?.owner === SYSTEM_PROGRAM) return { ok: false, reason: 'mint_address_funded' };
      // Only the mint's own key can create the mint, and only our creation uses this key, so an earlier attempt
      // succeeded.
      if (found)
        return matches(found, design)
          ? { ok: false, found: { mint } }
          : { ok: false, reason: 'foreign_mint' };
      // If rents have risen since the sale, more lamports would leave the reserve than were reserved for the creation.
      const costs = creationCosts(design, least);
      if (creationCost(costs) > operation.reserved) return { ok: false, reason: 'rent_unexpected' };
      const { mintRent } = costs;
      const message = creationMessage({ design, mint, reserve: operation.signer, mintRent, lifetime });
      return {
        ...plainlyPrepared(message, lifetime),
        cosign: async () => [ports.signMint(invoiceId, message)],
      };
    },

    settle: settlesByLanding,
  };
}

/** Whether a mint has the design. Holders may have burned tokens, and a creator with the authority may have minted. */
const matches = (found: FoundMint, design: TokenDesign): boolean =>
  found.owner === tokenProgramOf(design) &&
  found.decimals === design.decimals &&
  (!design.revokeMint || found.supply <= design.supply);
