/**
 * S11: a transaction may open only the reserve's own account of wrapped SOL; the rent of any other account
 * could be withdrawn.
 * @see solana-program/associated-token-account interface/src/instruction.rs; empty data means Create
 * @module
 */
import { TOKEN_PROGRAM } from '../../chain/solana/token-program.ts';
import { allowed, denied, type Judgement, type ResolvedInstruction } from './instruction.ts';
import { SYSTEM_PROGRAM } from './system.ts';
import { ownWrappedSol, WRAPPED_SOL } from './token.ts';

export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const CREATE_IDEMPOTENT = 1;
const RECOVER_NESTED = 2;

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
