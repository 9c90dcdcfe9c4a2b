/**
 * How much of ABSR the treasury holds: each mint goes to its token account.
 * @module
 */
import { findAta } from '../../chain/solana/token-instructions.ts';
import {
  decodeMint,
  decodeTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../chain/solana/token-program.ts';

/** Both figures are of one slot; atoms as decimal text. */
export type HeldAbsr = {
  readonly treasuryAtoms: string;
  readonly supplyAtoms: string;
  readonly decimals: number;
};

type Shown = { readonly owner: string; readonly data: Uint8Array };

/** The token account of the treasury under each token program: which one the mint uses is known only from the chain. */
export const heldAccounts = (treasury: string, mint: string): readonly string[] =>
  [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => findAta(treasury, mint, program));

/**
 * @param mint owner and data of the mint's account
 * @param accountAt undefined for an address that was not asked for, null for one without an account
 * @returns null unless both accounts can be read; the treasury holds nothing if it has no account
 */
export function heldAbsrOf(
  { address, treasury }: { readonly address: string; readonly treasury: string },
  mint: Shown,
  accountAt: (address: string) => Shown | null | undefined,
): HeldAbsr | null {
  const decoded = decodeMint(mint.owner, mint.data);
  const account = decoded && accountAt(findAta(treasury, address, decoded.program));
  if (decoded === undefined || account === undefined) return null;
  const held = account === null ? { atoms: 0n } : decodeTokenAccount(account.owner, account.data);
  if (held === undefined) return null;
  return {
    treasuryAtoms: held.atoms.toString(),
    supplyAtoms: decoded.supply.toString(),
    decimals: decoded.decimals,
  };
}
