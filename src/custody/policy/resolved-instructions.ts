/**
 * S7: instructions with resolved keys. Keys from lookup tables count as two nodes show them at finalized.
 * @see solana-program/address-lookup-table program/src/state.rs
 * @module
 */

import type { VaultSwap } from '../../bridges/lifi-chainflip.ts';
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import type { DecodedTransaction } from '../../chain/solana/message.ts';
import { type PolicyReason, type PolicyRefusal, refuse } from './refusal.ts';

export type ResolvedKey = {
  readonly address: string;
  readonly isSigner: boolean;
  readonly isWritable: boolean;
};

export type ResolvedInstruction = {
  readonly program: string;
  readonly accounts: readonly ResolvedKey[];
  readonly data: Uint8Array;
};

/** The effect of an instruction, as needed by the sums over the whole transaction. */
export type Effect =
  | { readonly kind: 'transfer'; readonly to: string; readonly lamports: bigint }
  | { readonly kind: 'budget'; readonly field: 'heap' | 'units' | 'price' | 'size'; readonly value: bigint }
  | { readonly kind: 'tracker' }
  | { readonly kind: 'vault_swap'; readonly swap: VaultSwap; readonly accounts: readonly string[] }
  /** Affects only our own temporary wrapped-SOL account. */
  | { readonly kind: 'wrapped' };

export type Judgement =
  | { readonly ok: false; readonly reason: PolicyReason }
  | {
      readonly ok: true;
      readonly effect: Effect;
      /** Indexes among its accounts where the reserve may occur. */
      readonly reserveAt: readonly number[];
      /** How often the reserve's key may occur in its data. */
      readonly reserveInData: number;
    };

export const denied = (reason: PolicyReason): Judgement => ({ ok: false, reason });

export const allowed = (effect: Effect, reserveAt: readonly number[] = [], reserveInData = 0): Judgement => ({
  ok: true,
  effect,
  reserveAt,
  reserveInData,
});

export type AccountView = { readonly owner: string; readonly data: Uint8Array };

/** By table address: the account as shown by each node, null if absent. At least two nodes. */
export type TableViews = ReadonlyMap<string, readonly (AccountView | null)[]>;

const MIN_VIEWS = 2;

export function resolveInstructions(
  transaction: DecodedTransaction,
  views: TableViews,
):
  | PolicyRefusal
  | {
      readonly ok: true;
      readonly keys: readonly ResolvedKey[];
      readonly instructions: readonly ResolvedInstruction[];
    } {
  const { keys, requiredSignatures, readonlySigned, readonlyUnsigned } = transaction;
  const resolved: ResolvedKey[] = keys.map((address, index) => ({
    address,
    isSigner: index < requiredSignatures,
    isWritable:
      index < requiredSignatures
        ? index < requiredSignatures - readonlySigned
        : index < keys.length - readonlyUnsigned,
  }));
  // The chain appends the writable keys of all tables before the read-only ones.
  for (const isWritable of [true, false]) {
    for (const reference of transaction.tables) {
      const places = isWritable ? reference.writable : reference.readonly;
      const found = lookUp(views.get(reference.table) ?? [], places);
      if (typeof found === 'string') return refuse(found);
      resolved.push(...found.map((address) => ({ address, isSigner: false, isWritable })));
    }
  }
  if (new Set(resolved.map(({ address }) => address)).size !== resolved.length)
    return refuse('key_loaded_twice');
  const at = (index: number): ResolvedKey => {
    const key = resolved[index];
    if (!key) throw new RangeError(`no key ${index}`);
    return key;
  };
  return {
    ok: true,
    keys: resolved,
    instructions: transaction.instructions.map(({ program, accounts, data }) => ({
      program: at(program).address,
      accounts: accounts.map(at),
      data,
    })),
  };
}

/** The keys at the given indexes if all views agree, else the reason. */
function lookUp(views: readonly (AccountView | null)[], places: readonly number[]): string[] | PolicyReason {
  if (views.length < MIN_VIEWS) return 'table_unread';
  const lists: string[][] = [];
  for (const view of views) {
    if (!view) return 'table_unread';
    const table = decodeLookupTable(view.owner, view.data);
    if (!table) return 'table_not_a_table';
    if (!table.isActive) return 'table_deactivating';
    const list = places.map(table.at).filter((key) => key !== undefined);
    if (list.length !== places.length) return 'table_index';
    lists.push(list);
  }
  const [first = [], ...others] = lists;
  const agree = others.every((other) => other.every((key, index) => key === first[index]));
  return agree ? first : 'table_disagreement';
}

export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';

/** Type, deactivation slot, last extended slot and index, authority, padding. */
const HEADER_BYTES = 56;
const ENTRY_BYTES = 32;
const TYPE_TABLE = 1;
/** Deactivation slot of a table that is not being closed. */
const ACTIVE = 0xffff_ffff_ffff_ffffn;

export type LookupTable = {
  /** False once its authority has begun to close it: it may be gone before the transaction lands. */
  readonly isActive: boolean;
  readonly length: number;
  /** The key at an index; undefined beyond the end. */
  at(place: number): string | undefined;
};

/**
 * @param owner program that owns the account
 * @returns undefined for anything except a lookup table
 */
export function decodeLookupTable(owner: string, data: Uint8Array): LookupTable | undefined {
  if (owner !== LOOKUP_TABLE_PROGRAM || data.length < HEADER_BYTES) return undefined;
  if ((data.length - HEADER_BYTES) % ENTRY_BYTES !== 0) return undefined;
  const header = createByteReader(data);
  if (header.u32() !== TYPE_TABLE) return undefined;
  const isActive = header.u64() === ACTIVE;
  const length = (data.length - HEADER_BYTES) / ENTRY_BYTES;
  return {
    isActive,
    length,
    at: (place) =>
      place >= 0 && place < length
        ? createByteReader(data, HEADER_BYTES + place * ENTRY_BYTES).address()
        : undefined,
  };
}
