/**
 * More atoms of a token to its owner's associated account, which is made where it is missing.
 * @module
 */
import { createAtaIdempotent, findAta, mintTo } from './token-instructions.ts';
import { type ComputeBudget, compileMessage, type Lifetime, networkFee } from './transaction.ts';

/** With room to spare: the search for the account's address costs up to 255 hashes. Bids 1,200 lamports. */
const BUDGET: ComputeBudget = { units: 120_000, unitPrice: 10_000n };

/** Network fee in lamports, excluding the rent of a missing account. */
export const MINT_FEE = networkFee(BUDGET);

export type TokenMint = {
  /** Mint authority and fee payer: signs alone. */
  readonly authority: string;
  readonly mint: string;
  /** The token program that owns the mint. */
  readonly program: string;
  /** Whose associated account receives. */
  readonly owner: string;
  readonly atoms: bigint;
  /** The chain refuses when the mint has others. */
  readonly decimals: number;
};

/** The message to sign. */
export const mintMessage = (p: TokenMint, lifetime: Lifetime): Uint8Array =>
  compileMessage(p.authority, lifetime, BUDGET, [
    createAtaIdempotent({ payer: p.authority, owner: p.owner, mint: p.mint, program: p.program }),
    mintTo({ ...p, account: findAta(p.owner, p.mint, p.program) }),
  ]);
