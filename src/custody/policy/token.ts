/**
 * S10: a swap may not touch tokens, except our own temporary account of wrapped SOL. A delegate could drain
 * the treasury later, and Batch hides any other instruction inside itself.
 * @see solana-program/token and token-2022 interface/src/instruction.rs; the discriminator is the first byte
 * @module
 */
import { findAta } from '../../chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../chain/solana/token-program.ts';
import { allowed, denied, type Judgement, type ResolvedInstruction } from './instruction.ts';
import type { PolicyReason } from './refusal.ts';
import { SYSTEM_PROGRAM } from './system.ts';

export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

const TRANSFER = 3;
const CLOSE_ACCOUNT = 9;
const TRANSFER_CHECKED = 12;
const SYNC_NATIVE = 17;

const DENIED: readonly (readonly [PolicyReason, readonly number[]])[] = [
  ['token_initialize', [0, 1, 2, 16, 18, 19, 20, 22]],
  ['token_delegate', [4, 5, 13]],
  ['token_authority', [6]],
  ['token_mint', [7, 14]],
  ['token_burn', [8, 15]],
  ['token_freeze', [10, 11]],
  ['token_query', [21, 23, 24]],
  ['token_extension', [25, 26, 27, 28, 30, 31, 32, 33, 34, 35, 36, 37, 39, 40, 41, 42, 43, 44, 46]],
  ['token_reallocate', [29]],
  ['token_lamports', [38, 45]],
  ['token_batch', [255]],
];
const REASONS: ReadonlyMap<number, PolicyReason> = new Map(
  DENIED.flatMap(([reason, opcodes]) => opcodes.map((opcode) => [opcode, reason] as const)),
);

/** Number of accounts and bytes of the four allowed instructions. */
const SHAPES: ReadonlyMap<number, { accounts: number; bytes: number }> = new Map([
  [TRANSFER, { accounts: 3, bytes: 9 }],
  [CLOSE_ACCOUNT, { accounts: 3, bytes: 1 }],
  [TRANSFER_CHECKED, { accounts: 4, bytes: 10 }],
  [SYNC_NATIVE, { accounts: 1, bytes: 1 }],
]);

/** The only token account that a swap may open, use and close. */
export const ownWrappedSol = (reserveAddress: string): string =>
  findAta(reserveAddress, WRAPPED_SOL, TOKEN_PROGRAM);

export function judgeToken(
  { program, accounts, data }: ResolvedInstruction,
  reserveAddress: string,
): Judgement {
  const opcode = data[0] ?? -1;
  const shape = SHAPES.get(opcode);
  if (!shape) return denied(REASONS.get(opcode) ?? 'token_unknown');
  if (accounts.length !== shape.accounts || data.length !== shape.bytes) return denied('token_malformed');
  const [account, second] = accounts;
  if (program !== TOKEN_PROGRAM || account?.address !== ownWrappedSol(reserveAddress)) {
    return denied('token_not_own_wsol');
  }
  if (opcode === SYNC_NATIVE) return allowed({ kind: 'wrapped' });
  if (opcode === CLOSE_ACCOUNT && second?.address !== reserveAddress)
    return denied('token_close_destination');
  return allowed({ kind: 'wrapped' }, opcode === CLOSE_ACCOUNT ? [1, 2] : [accounts.length - 1]);
}

export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const CREATE_IDEMPOTENT = 1;
const RECOVER_NESTED = 2;

/**
 * S11: a transaction may open only the reserve's own account of wrapped SOL; the rent of any other account could be
 * withdrawn.
 * @see solana-program/associated-token-account interface/src/instruction.rs; empty data means Create
 */
export function judgeAssociatedToken(
  { accounts, data }: ResolvedInstruction,
  reserveAddress: string,
): Judgement {
  const opcode = data[0] ?? 0;
  if (opcode === RECOVER_NESTED) return denied('ata_recover');
  if (opcode > CREATE_IDEMPOTENT) return denied('ata_unknown');
  const [payer, account, owner, mint, system, token] = accounts.map(({ address }) => address);
  if (data.length > 1 || accounts.length !== 6) return denied('ata_malformed');
  if (payer !== reserveAddress || owner !== reserveAddress) return denied('ata_owner');
  const isOwn =
    mint === WRAPPED_SOL &&
    account === ownWrappedSol(reserveAddress) &&
    system === SYSTEM_PROGRAM &&
    token === TOKEN_PROGRAM;
  return isOwn ? allowed({ kind: 'wrapped' }, [0, 2]) : denied('ata_account');
}
