/**
 * When a program's code was last replaced.
 * @see solana-program loader-v3-interface src/state.rs: type u32, then the address of the data, or the slot
 * @module
 */
import { createByteReader } from './byte-reader.ts';
import { addressSeed, programAddress } from './program-address.ts';

export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
/** Programs of these loaders can never change. */
const FINAL_LOADERS = [
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
];
const TYPE_PROGRAM = 2;
const TYPE_PROGRAM_DATA = 3;
const HEAD_BYTES = { program: 36, data: 12 };

/** The account in which the upgradeable loader stores a program's code. */
export const programDataAddress = (program: string): string =>
  programAddress(UPGRADEABLE_LOADER, [addressSeed(program)]);

type Account = { readonly owner: string; readonly data: Uint8Array };

/**
 * The slot of the last deployment; 0 for a program that cannot be replaced; null when it is unknown.
 *
 * @param account the program's own account, or its first bytes
 * @param code    the account at `programDataAddress`, or its first bytes
 */
export function deployedSlot(program: string, account: Account | null, code: Account | null): bigint | null {
  if (!account) return null;
  if (FINAL_LOADERS.includes(account.owner)) return 0n;
  if (account.owner !== UPGRADEABLE_LOADER || code?.owner !== UPGRADEABLE_LOADER) return null;
  if (account.data.length < HEAD_BYTES.program || code.data.length < HEAD_BYTES.data) return null;
  const head = createByteReader(account.data);
  if (head.u32() !== TYPE_PROGRAM || head.address() !== programDataAddress(program)) return null;
  const data = createByteReader(code.data);
  return data.u32() === TYPE_PROGRAM_DATA ? data.u64() : null;
}
