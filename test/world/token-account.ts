import { base58 } from '@scure/base';
import type { AccountState } from './solana-shapes.ts';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
/** Offset of the account type (1 mint, 2 account) in Token-2022 when extensions follow. */
const TYPE_AT = 165;

function isToken(state: AccountState, base: number, type: number): boolean {
  if (state.owner !== TOKEN_PROGRAM && state.owner !== TOKEN_2022_PROGRAM) return false;
  return state.data.length === base || (state.data.length > TYPE_AT && state.data[TYPE_AT] === type);
}

const u64 = (data: Uint8Array, at: number): bigint =>
  new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(at, true);

export function readMint(state: AccountState | null): { supply: bigint; decimals: number } | null {
  if (state === null || !isToken(state, MINT_BYTES, 1)) return null;
  return { supply: u64(state.data, 36), decimals: state.data[44] ?? 0 };
}

export function readTokenAccount(state: AccountState | null): { mint: string; amount: bigint } | null {
  if (state === null || !isToken(state, ACCOUNT_BYTES, 2)) return null;
  return {
    mint: base58.encode(state.data.subarray(0, 32)),
    amount: u64(state.data, 64),
  };
}
