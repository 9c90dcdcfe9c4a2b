/**
 * A program for the test chain that moves tokens by a call of its own (CPI), as routers and vaults do: it
 * passes its instruction data to the token program over its first three accounts, which are a source, a
 * destination and the
 * authority.
 */
import {
  ACCOUNT,
  add,
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
} from '../../world/sbpf.ts';

/** Where the loader puts the accounts; the token accounts hold 165 bytes. */
const SOURCE = 8;
const DESTINATION = SOURCE + spanOf(165);
const AUTHORITY = DESTINATION + spanOf(165);
const TOKEN_PROGRAM = AUTHORITY + spanOf(0);

/** Where the structures of `sol_invoke_signed_c` lie below the frame's top. */
const METAS = -48;
const INFOS = METAS - 3 * 56;
const INSTRUCTION = INFOS - 40;
const SEED_BYTE = INSTRUCTION - 8;
const SEED = SEED_BYTE - 16;
const SIGNER = SEED - 16;

const account = (index: number, at: number, signs: boolean, isWritable: boolean): number[] =>
  passed({ at, info: INFOS + index * 56, meta: METAS + index * 16, signs, hasSigned: signs, isWritable });

/** The vault's authority signs by its one seed, a bump byte. */
const signed = (bump: number): number[] => [
  ...storeByte(10, SEED_BYTE, bump),
  ...address(1, 10, SEED_BYTE),
  ...store(10, SEED, 1),
  ...storeNumber(10, SEED + 8, 1),
  ...address(1, 10, SEED),
  ...store(10, SIGNER, 1),
  ...storeNumber(10, SIGNER + 8, 1),
  ...address(4, 10, SIGNER),
  ...moveNumber(5, 1),
];

/** Register 6 holds the input's address, 10 the frame's top. */
const codeFor = (bump: number | null): Code => [
  moveRegister(6, 1),
  account(0, SOURCE, false, true),
  account(1, DESTINATION, false, true),
  account(2, AUTHORITY, true, false),
  findData(TOKEN_PROGRAM),
  address(1, 6, TOKEN_PROGRAM + ACCOUNT.key),
  store(10, INSTRUCTION, 1),
  address(1, 10, METAS),
  store(10, INSTRUCTION + 8, 1),
  storeNumber(10, INSTRUCTION + 16, 3),
  load(1, 7, 0),
  store(10, INSTRUCTION + 32, 1),
  add(7, 8),
  store(10, INSTRUCTION + 24, 7),
  address(2, 10, INFOS),
  moveNumber(3, 3),
  moveNumber(4, 0),
  moveNumber(5, 0),
  bump === null ? [] : signed(bump),
  address(1, 10, INSTRUCTION),
  'sol_invoke_signed_c',
  EXIT,
];

/** The user signs for the source. */
export const forwarderElf = (): Uint8Array => elf(codeFor(null));

/** The program signs for the source: its authority is the address derived from the one-byte seed `bump`. */
export const vaultElf = (bump: number): Uint8Array => elf(codeFor(bump));
