import { expect, it } from 'vitest';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import {
  deployedSlot,
  programDataAddress,
  programMemory,
  trustPrograms,
  UPGRADEABLE,
  UPGRADEABLE_LOADER,
} from '../../../src/custody/policy/deployments.ts';
import { u32, u64 } from '../../world/lifi-transaction.ts';

const PROGRAM = 'J88B7gmadHzTNGiy54c9Ms8BsEXNdB2fntFyhKpk3qoT';
const program = (data = programDataAddress(PROGRAM), owner = UPGRADEABLE_LOADER) => ({
  owner,
  data: Uint8Array.from([...u32(2), ...addressSeed(data)]),
});
const code = (type = 3, owner = UPGRADEABLE_LOADER) => ({
  owner,
  data: Uint8Array.from([...u32(type), ...u64(387_654_321n), ...new Uint8Array(33)]),
});

it('reads the slot from the data account that the loader derives from the program', () => {
  expect(deployedSlot(PROGRAM, program(), code())).toBe(387_654_321n);
  const head = { ...code(), data: code().data.slice(0, 12) };
  expect(deployedSlot(PROGRAM, program(), head)).toBe(387_654_321n);
});

it('a program of a loader that replaces nothing never changes', () => {
  const loader = 'BPFLoader2111111111111111111111111111111111';
  expect(deployedSlot(PROGRAM, { owner: loader, data: new Uint8Array(9) }, null)).toBe(0n);
});

it.each([
  ['is not there', null, code()],
  ['has no data account', program(), null],
  ['has a different owner', program(undefined, PROGRAM), code()],
  ['points at another data account', program(PROGRAM), code()],
  ['has a data account of another owner', program(), code(3, PROGRAM)],
  ['has a data account of another type', program(), code(1)],
  ['is cut short', { ...program(), data: program().data.slice(0, 35) }, code()],
  ['has a data account that is cut short', program(), { ...code(), data: code().data.slice(0, 11) }],
])('the slot of a program that %s is unknown', (_name, account, data) => {
  expect(deployedSlot(PROGRAM, account, data)).toBeNull();
});

it('the first slot of a program is remembered until the operator trusts its current deployment', async () => {
  const meta = new Map<string, string>();
  let writes = 0;
  const journal = {
    getMeta: (key: string) => meta.get(key),
    setMeta: (key: string, value: string) => {
      writes += 1;
      meta.set(key, value);
    },
  };
  const memory = programMemory(journal);
  const [first = '', second = ''] = UPGRADEABLE;
  expect(memory.recorded(first)).toBeNull();
  memory.record(first, 7n);
  memory.record(first, 7n);
  expect([memory.recorded(first), memory.recorded(second), writes]).toEqual([7n, null, 1]);
  expect(await trustPrograms(journal)('')).toMatchObject({ ok: true });
  expect(memory.recorded(first)).toBeNull();
});
