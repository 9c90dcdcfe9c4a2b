/**
 * A token account: its owner, mint and balance.
 * @see solana-program/token interface/src/state.rs (`Account`)
 * @module
 */
import { createByteReader } from './byte-reader.ts';
import { tokenExtensions } from './token-program.ts';

export type TokenAccount = { readonly mint: string; readonly owner: string; readonly atoms: bigint };

/** State byte after the 36 bytes of the delegate; 0 means that the account was never initialized. */
const STATE_OFFSET = 108;

/**
 * @param owner program that owns the account
 * @returns undefined for anything except a live token account
 */
export function decodeTokenAccount(owner: string, data: Uint8Array): TokenAccount | undefined {
  if (!tokenExtensions(owner, data, 'account') || data[STATE_OFFSET] === 0) return undefined;
  const read = createByteReader(data);
  return { mint: read.address(), owner: read.address(), atoms: read.u64() };
}
