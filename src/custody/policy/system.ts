/**
 * S6 and S9: of the System program, only a plain transfer out of the reserve. A balance check does not show a
 * change of owner, and a transaction with a nonce never expires.
 * @see solana-program/system interface/src/instruction.rs; the discriminator is a u32, little-endian
 * @module
 */
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import { allowed, denied, type Judgement, type ResolvedInstruction } from './instruction.ts';
import type { PolicyReason } from './refusal.ts';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';

export const TRANSFER = 2;
const TRANSFER_BYTES = 12;

/** By discriminator; a missing number is unknown. */
const DENIED: Readonly<Record<number, PolicyReason>> = {
  0: 'system_create_account',
  1: 'system_owner_change',
  3: 'system_create_account',
  4: 'nonce_instruction',
  5: 'nonce_instruction',
  6: 'nonce_instruction',
  7: 'nonce_instruction',
  8: 'system_allocate',
  9: 'system_allocate',
  10: 'system_owner_change',
  11: 'system_seed_transfer',
  12: 'nonce_instruction',
  13: 'system_create_account',
};

export function judgeSystem({ accounts, data }: ResolvedInstruction, reserveAddress: string): Judgement {
  if (data.length < 4) return denied('system_malformed');
  const read = createByteReader(data);
  const discriminator = read.u32();
  if (discriminator !== TRANSFER) return denied(DENIED[discriminator] ?? 'system_unknown');
  const [from, to] = accounts;
  if (data.length !== TRANSFER_BYTES || accounts.length !== 2 || !from || !to)
    return denied('system_malformed');
  if (from.address !== reserveAddress) return denied('system_source');
  const lamports = read.u64();
  if (lamports === 0n || !to.isWritable) return denied('system_malformed');
  return allowed({ kind: 'transfer', to: to.address, lamports }, [0]);
}
