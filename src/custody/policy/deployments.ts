/**
 * S8: a program whose code was replaced since it was first trusted is refused.
 * @see solana-program loader-v3-interface src/state.rs: type u32, then the address of the data, or the slot
 * @module
 */
import { SWAP_ENDPOINT_PROGRAM } from '../../bridges/lifi-chainflip.ts';
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import { addressSeed, programAddress } from '../../chain/solana/program-address.ts';
import type { Journal } from '../kernel/journal.ts';
import type { CustodyModule } from '../kernel/module.ts';
import { TRACKER_PROGRAM } from './programs.ts';

/** Programs with an upgrade authority; the others are built into the chain. */
export const UPGRADEABLE = [TRACKER_PROGRAM, SWAP_ENDPOINT_PROGRAM];

/** Slot of a program's last deployment: the stored slot (null before the first swap) and the chain's slot. */
export type Deployments = ReadonlyMap<
  string,
  { readonly recorded: bigint | null; readonly current: bigint | null }
>;

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

/** Slots in which programs were last deployed when they were first trusted. */
export type ProgramMemory = {
  recorded(program: string): bigint | null;
  record(program: string, slot: bigint): void;
};

/** Key of the slot in which a program was last deployed when it was first trusted; a later deployment is refused. */
const keyOf = (program: string): string => `deployed:${program}`;

export function programMemory(journal: Pick<Journal, 'getMeta' | 'setMeta'>): ProgramMemory {
  const recorded = (program: string): bigint | null => {
    const text = journal.getMeta(keyOf(program));
    return text ? BigInt(text) : null;
  };
  return {
    recorded,
    record(program, slot) {
      if (recorded(program) !== slot) journal.setMeta(keyOf(program), slot.toString());
    },
  };
}

/** The operator's command: the next swap that passes stores each program's current deployment. */
export const trustPrograms =
  (journal: Pick<Journal, 'setMeta'>): NonNullable<CustodyModule['commands']>[string] =>
  async () => {
    for (const program of UPGRADEABLE) journal.setMeta(keyOf(program), '');
    return { ok: true, message: 'The programs of the LI.FI route are trusted as currently deployed.' };
  };
