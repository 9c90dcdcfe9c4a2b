import { expect, it } from 'vitest';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import {
  deployedSlot,
  programDataAddress,
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
