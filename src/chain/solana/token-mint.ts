/**
 * More atoms of a token to its owner's associated account, which is made where it is missing.
 * @module
 */
import { createAtaIdempotent, findAta, mintToChecked } from './token-instructions.ts';
import { compileMessage, computeBudget, type Lifetime, SIGNATURE_FEE } from './transaction.ts';

/** Compute units with room to spare; the search for the account's address costs up to 255 hashes. */
const UNITS = 120_000;
/** Micro-lamports a unit: 1,200 lamports in all. */
const UNIT_PRICE = 10_000n;

/** Network fee in lamports, rent of a missing account apart. */
export const MINT_FEE = SIGNATURE_FEE + (BigInt(UNITS) * UNIT_PRICE) / 1_000_000n;

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
  compileMessage(p.authority, lifetime, [
    ...computeBudget(UNITS, UNIT_PRICE),
    createAtaIdempotent({ payer: p.authority, owner: p.owner, mint: p.mint, program: p.program }),
    mintToChecked({ ...p, account: findAta(p.owner, p.mint, p.program) }),
  ]);
