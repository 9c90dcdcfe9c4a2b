import { base58 } from '@scure/base';
import { keyBytes } from '../chain/solana/token-bytes.ts';
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

/** Sets an optional key of the token program: a flag of four bytes, then the key. */
function setKey(data: Uint8Array, at: number, key: string | null): void {
  if (key === null) return;
  data[at] = 1;
  data.set(keyBytes(key), at + 4);
}

interface MintData {
  readonly supply?: bigint;
  readonly decimals?: number;
  readonly authority?: string | null;
  readonly freezes?: string | null;
}

export function mintData({ supply = 1n, decimals = 0, authority = null, freezes = null }: MintData) {
  const data = new Uint8Array(MINT_BYTES);
  setKey(data, 0, authority);
  new DataView(data.buffer).setBigUint64(36, supply, true);
  data.set([decimals, 1], 44);
  setKey(data, 46, freezes);
  return data;
}

/** @param delegated atoms that the delegate may move */
export function tokenData(
  [mint, owner]: readonly [mint: string, owner: string],
  atoms: bigint,
  delegate: string | null = null,
  delegated = 0n,
) {
  const data = new Uint8Array(ACCOUNT_BYTES);
  data.set(keyBytes(mint));
  data.set(keyBytes(owner), 32);
  const view = new DataView(data.buffer);
  view.setBigUint64(64, atoms, true);
  setKey(data, 72, delegate);
  data[108] = 1;
  view.setBigUint64(121, delegated, true);
  return data;
}
