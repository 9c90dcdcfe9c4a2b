/**
 * The programs of LI.FI's transactions on this world's chain: a tracker that does nothing, and Chainflip's
 * swap endpoint, which really opens its event account and takes the amount.
 */
import {
  ENDPOINT_DATA,
  NATIVE_VAULT,
  SWAP_ENDPOINT_PROGRAM,
  VAULT_DATA,
} from '../../src/bridges/lifi-chainflip.ts';
import { programDataAddress } from '../../src/custody/policy/deployments.ts';
import { LIFI_COLLECTOR } from '../../src/custody/policy/instructions.ts';
import { CLOCK_SYSVAR, TRACKER_PROGRAM } from '../../src/custody/policy/programs.ts';
import { LOOKUP_TABLE_PROGRAM } from '../../src/custody/policy/resolved-instructions.ts';
import { createSolanaKey } from './keys.ts';
import { tableData } from './lifi-transaction.ts';
import {
  ACCOUNT,
  addRegister,
  address,
  type Code,
  EXIT,
  elf,
  findData,
  load,
  moveNumber,
  moveRegister,
  passed,
  spanOf,
  store,
  storeByte,
  storeNumber,
  storeWord,
} from './sbpf.ts';
import type { SolanaLedger } from './solana-ledger.ts';

/** Lamports and bytes of the account in which the endpoint stores an order. */
export const EVENT = { rent: 2_978_880, bytes: 300 } as const;

/** The loader rejects an object without a symbol, so this call exists but is never reached. */
const trackerElf = (): Uint8Array => elf([moveNumber(0, 0), EXIT, 'sol_invoke_signed_c', EXIT]);

/** Accounts of `x_swap_native`; none but the last holds data. */
const at = (index: number): number => 8 + index * spanOf(0);
const VAULT = at(1);
const FROM = at(2);
const EVENT_ACCOUNT = at(3);
const SYSTEM = at(5);

/** Places below the frame's top. */
const METAS = -32;
const INFOS = METAS - 2 * 56;
const INSTRUCTION = INFOS - 40;
const DATA = INSTRUCTION - 56;
const SEEDS = DATA - 4 * 16;
const SIGNER = SEEDS - 16;
const NAME = SIGNER - 16;
const BUMP = NAME - 8;
const FOUND = BUMP - 32;

const pair = (place: number, pointer: readonly number[], length: number): number[] => [
  ...pointer,
  ...store(10, place, 1),
  ...storeNumber(10, place + 8, length),
];
const parties = (second: number, signs: boolean): number[] => [
  ...passed({ at: FROM, info: INFOS, meta: METAS, signs: true, hasSigned: true, isWritable: true }),
  ...passed({ at: second, info: INFOS + 56, meta: METAS + 16, signs, hasSigned: false, isWritable: true }),
];
/** A call of the System program with data of this length; registers 4 and 5 hold the signers. */
const callSystem = (bytes: number): Code => [
  address(1, 6, SYSTEM + ACCOUNT.key),
  store(10, INSTRUCTION, 1),
  address(1, 10, METAS),
  store(10, INSTRUCTION + 8, 1),
  storeNumber(10, INSTRUCTION + 16, 2),
  address(1, 10, DATA),
  store(10, INSTRUCTION + 24, 1),
  storeNumber(10, INSTRUCTION + 32, bytes),
  address(1, 10, INSTRUCTION),
  address(2, 10, INFOS),
  moveNumber(3, 2),
  'sol_invoke_signed_c',
];
const SEED_TEXT = 'swap_event';

const swapEndpointElf = (): Uint8Array =>
  elf([
    moveRegister(6, 1),
    findData(SYSTEM),
    // 8: the data. 9: its end, followed by the program's own id; the last 32 bytes of the data are the
    // order's seed.
    address(8, 7, 8),
    load(9, 7, 0),
    addRegister(9, 8),
    [...new TextEncoder().encode(SEED_TEXT)].flatMap((byte, index) => storeByte(10, NAME + index, byte)),
    pair(SEEDS, address(1, 10, NAME), SEED_TEXT.length),
    pair(SEEDS + 16, address(1, 6, FROM + ACCOUNT.key), 32),
    pair(SEEDS + 32, address(1, 9, -32), 32),
    pair(SEEDS + 48, address(1, 10, BUMP), 1),
    address(1, 10, SEEDS),
    moveNumber(2, 3),
    moveRegister(3, 9),
    address(4, 10, FOUND),
    address(5, 10, BUMP),
    'sol_try_find_program_address',
    // CreateAccount: 0 as u32, lamports, space, owner. The fields are not aligned, and need not be.
    storeWord(10, DATA, 0),
    storeNumber(10, DATA + 4, EVENT.rent),
    storeNumber(10, DATA + 12, EVENT.bytes),
    [0, 8, 16, 24].flatMap((offset) => [...load(1, 9, offset), ...store(10, DATA + 20 + offset, 1)]),
    parties(EVENT_ACCOUNT, true),
    pair(SIGNER, address(1, 10, SEEDS), 4),
    address(4, 10, SIGNER),
    moveNumber(5, 1),
    ...callSystem(52),
    // Transfer: 2 as u32, and the order's amount.
    storeWord(10, DATA, 2),
    load(1, 8, 8),
    store(10, DATA + 4, 1),
    parties(VAULT, false),
    moveNumber(4, 0),
    moveNumber(5, 0),
    ...callSystem(12),
    moveNumber(0, 0),
    EXIT,
  ]);

const deploy = (ledger: SolanaLedger, program: string, code: Uint8Array): Promise<unknown> =>
  ledger.surfpool.get('surfnet_writeProgram', [program, Buffer.from(code).toString('hex'), 0]);

/** Replaces the code at a program's address, as after a new deployment. */
export async function redeploy(ledger: SolanaLedger, program: string, slot: bigint): Promise<void> {
  const account = await ledger.account(programDataAddress(program), ledger.clock.slot('processed'));
  if (!account) throw new Error(`${program} is not deployed`);
  const data = account.data.slice();
  new DataView(data.buffer).setBigUint64(4, slot, true);
  await ledger.plant(programDataAddress(program), BigInt(account.lamports), data, account.owner);
  ledger.clock.root();
}

/** Programs and accounts of LI.FI's two tools, and a lookup table with keys that its transactions share. */
export async function plantLifi(
  ledger: SolanaLedger,
): Promise<{ readonly table: string; readonly entries: readonly string[] }> {
  await deploy(ledger, TRACKER_PROGRAM, trackerElf());
  await deploy(ledger, SWAP_ENDPOINT_PROGRAM, swapEndpointElf());
  for (const [account, owner] of [
    [VAULT_DATA, SWAP_ENDPOINT_PROGRAM],
    [ENDPOINT_DATA, SWAP_ENDPOINT_PROGRAM],
    [NATIVE_VAULT, '1'.repeat(32)],
    [LIFI_COLLECTOR, '1'.repeat(32)],
  ] as const) {
    await ledger.plant(account, 1_000_000_000n, new Uint8Array(), owner);
  }
  const table = (await createSolanaKey()).address;
  const entries = [CLOCK_SYSVAR, LIFI_COLLECTOR];
  await plantTable(ledger, table, entries);
  ledger.clock.root();
  return { table, entries };
}

/** An active lookup table, extended long ago. */
export async function plantTable(
  ledger: SolanaLedger,
  table: string,
  entries: readonly string[],
): Promise<void> {
  await ledger.plant(table, 10_000_000n, tableData(entries), LOOKUP_TABLE_PROGRAM);
}
