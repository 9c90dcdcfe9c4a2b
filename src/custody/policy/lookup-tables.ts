/**
 * S7: keys from lookup tables, as two nodes show them at finalized. All later checks use resolved keys.
 * @module
 */
import { decodeLookupTable } from '../../chain/solana/lookup-table.ts';
import type { DecodedTransaction } from '../../chain/solana/message.ts';
import type { ResolvedInstruction, ResolvedKey } from './instruction.ts';
import { type PolicyReason, type PolicyRefusal, refuse } from './refusal.ts';

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
