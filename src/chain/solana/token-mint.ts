/**
 * Mints more atoms of a token to an owner's associated account, which is created if missing.
 * @module
 */
import { createAtaIdempotent, findAta, mintTo } from './token-instructions.ts';
import { type ComputeBudget, compileMessage, type Lifetime, networkFee } from './transaction.ts';

/** Includes a reserve: the search for the account's address costs up to 255 hashes. Bids 1,200 lamports. */
const BUDGET: ComputeBudget = { units: 120_000, unitPrice: 10_000n };

/** Network fee in lamports, excluding the rent of a missing account. */
export const MINT_FEE = networkFee(BUDGET);

export type TokenMint = {
  /** Mint authority and fee payer: the only signer. */
  readonly authority: string;
  readonly mint: string;
  /** The token program that owns the mint. */
  readonly program: string;
  /** Owner of the receiving associated account. */
  readonly owner: string;
  readonly atoms: bigint;
  /** The chain rejects a value that differs from the mint's. */
  readonly decimals: number;
};

/** The message to sign. */
export const mintMessage = (p: TokenMint, lifetime: Lifetime): Uint8Array =>
  compileMessage(p.authority, lifetime, BUDGET, [
    createAtaIdempotent({ payer: p.authority, owner: p.owner, mint: p.mint, program: p.program }),
    mintTo({ ...p, account: findAta(p.owner, p.mint, p.program) }),
  ]);
