/**
 * The cost and the price of a creation. Pure. Lamports throughout.
 * @module
 */
import {
  CREATION_FEE,
  creationSpaces,
  METAPLEX_FEE,
  type TokenDesign,
} from '../../chain/solana/token-creation.ts';

export type FeeBreakdown = {
  readonly mintRent: bigint;
  readonly metadataRent: bigint;
  readonly metadataFee: bigint;
  readonly accountRent: bigint;
  readonly networkFee: bigint;
  readonly margin: bigint;
};

/** @param rentOf lamports that exempt an account of this size in bytes from rent, from the chain */
export async function creationFee(
  design: TokenDesign,
  margin: bigint,
  rentOf: (bytes: number) => Promise<bigint>,
): Promise<FeeBreakdown> {
  const spaces = creationSpaces(design);
  const rent = async (bytes: number): Promise<bigint> => (bytes === 0 ? 0n : rentOf(bytes));
  const [mintRent, metadataRent, accountRent] = await Promise.all([
    rent(spaces.mint),
    rent(spaces.metadata),
    rent(spaces.account),
  ]);
  const metadataFee = design.metaplex ? METAPLEX_FEE : 0n;
  return { mintRent, metadataRent, metadataFee, accountRent, networkFee: CREATION_FEE, margin };
}

/** Lamports that leave the reserve for it. */
export const creationCost = (fee: FeeBreakdown): bigint =>
  fee.mintRent + fee.metadataRent + fee.metadataFee + fee.accountRent + fee.networkFee;

export const chargedFee = (fee: FeeBreakdown): bigint => creationCost(fee) + fee.margin;
