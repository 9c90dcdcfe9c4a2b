/**
 * Tokens from the reserve to an owner's associated account, with a memo that says what for: the chain itself then
 * remembers which payouts were made.
 * @see solana-program/token interface/src/instruction.rs, solana-program/memo
 * @module
 */
import { type Instruction, instruction, readonly, signer, u64, writable } from './instruction.ts';
import { memoInstruction } from './memo.ts';
import { createAtaIdempotent, findAta } from './token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './token-program.ts';
import { compileMessage, computeBudget, type Lifetime, SIGNATURE_FEE } from './transaction.ts';

/**
 * Compute units, with room to spare: the memo's UTF-8 check and log, the transfer, and the account's creation, whose
 * search for its address costs up to 255 hashes.
 */
const TRANSFER_UNITS = 90_000;
const CREATION_UNITS = 110_000;
/** Micro-lamports a unit: up to 2,000 lamports in all. */
const UNIT_PRICE = 10_000n;

/**
 * Lamports that an account of 165 bytes keeps so that it stays: 6,960 a byte and 128 bytes of overhead. Token-2022
 * adds up to five to an associated account (its type, and ImmutableOwner) unless the mint asks for more.
 */
export const ACCOUNT_RENT: Readonly<Record<string, bigint>> = {
  [TOKEN_PROGRAM]: (165n + 128n) * 6_960n,
  [TOKEN_2022_PROGRAM]: (170n + 128n) * 6_960n,
};

export type TokenTransfer = {
  readonly from: string;
  readonly to: string;
  readonly mint: string;
  /** The token program that owns the mint. */
  readonly program: string;
  readonly atoms: bigint;
  /** The chain refuses the transfer when the mint has others. */
  readonly decimals: number;
  readonly memo: string;
  /** Makes the receiver's account should it be missing, at the sender's cost. */
  readonly createAccount: boolean;
};

/** Lamports for signature and priority, rent apart. */
export const tokenTransferFee = (transfer: Pick<TokenTransfer, 'createAccount'>): bigint =>
  SIGNATURE_FEE + (BigInt(unitsOf(transfer)) * UNIT_PRICE) / 1_000_000n;

const unitsOf = ({ createAccount }: Pick<TokenTransfer, 'createAccount'>): number =>
  TRANSFER_UNITS + (createAccount ? CREATION_UNITS : 0);

/** The message to sign; `from` pays and signs alone. */
export function tokenTransferMessage(transfer: TokenTransfer, lifetime: Lifetime): Uint8Array {
  const { from, to, mint, program, memo } = transfer;
  return compileMessage(from, lifetime, [
    ...computeBudget(unitsOf(transfer), UNIT_PRICE),
    ...(transfer.createAccount ? [createAtaIdempotent({ payer: from, owner: to, mint, program })] : []),
    transferChecked(transfer),
    memoInstruction(memo),
  ]);
}

/** TransferChecked (12) between the associated accounts of two owners. */
const transferChecked = ({ from, to, mint, program, atoms, decimals }: TokenTransfer): Instruction =>
  instruction(
    program,
    [
      writable(findAta(from, mint, program)),
      readonly(mint),
      writable(findAta(to, mint, program)),
      signer(from),
    ],
    Uint8Array.of(12),
    u64(atoms),
    Uint8Array.of(decimals),
  );
