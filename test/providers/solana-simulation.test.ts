import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { addressSeed } from '../../src/chain/solana/program-address.ts';
import { innerCalls } from '../../src/providers/solana-answers.ts';
import { u32, u64 } from '../world/lifi-transaction.ts';

const SYSTEM = '1'.repeat(32);
const key = (byte: number): string => base58.encode(new Uint8Array(32).fill(byte));
const [FROM, TO, OWNER] = [key(3), key(4), key(5)] as const;
const TRANSFER = Uint8Array.from([...u32(2), ...u64(9_007_199_254_740_993n)]);
type Instructions = NonNullable<Parameters<typeof innerCalls>[0]>[number]['instructions'];
const read = (...instructions: Instructions) =>
  innerCalls([{ index: 4, instructions }], [FROM, TO, SYSTEM], 'rpc');

it.each([
  ['by place', { programIdIndex: 2, accounts: [0, 1], data: base58.encode(TRANSFER) }],
  ['in plain', { programId: SYSTEM, accounts: [FROM, TO], data: base58.encode(TRANSFER) }],
  [
    'parsed',
    {
      programId: SYSTEM,
      parsed: { type: 'transfer', info: { source: FROM, destination: TO, lamports: '9007199254740993' } },
    },
  ],
])('a transfer written %s is the same call', (_name, instruction) => {
  expect(read(instruction)).toEqual([
    { instruction: 4, program: SYSTEM, accounts: [FROM, TO], data: TRANSFER },
  ]);
});

it('an account that is opened keeps its rent, size and owner', () => {
  const info = { source: FROM, newAccount: TO, lamports: 2_978_880, space: 300, owner: OWNER };
  const [call] = read({ programId: SYSTEM, parsed: { type: 'createAccount', info } });
  expect(call).toEqual({
    instruction: 4,
    program: SYSTEM,
    accounts: [FROM, TO],
    data: Uint8Array.from([...u32(0), ...u64(2_978_880n), ...u64(300n), ...addressSeed(OWNER)]),
  });
});

it.each([
  [
    'another System call',
    { programId: SYSTEM, parsed: { type: 'assign', info: { account: FROM, owner: OWNER } } },
  ],
  [
    'a transfer without an amount',
    { programId: SYSTEM, parsed: { type: 'transfer', info: { source: FROM } } },
  ],
  [
    'a transfer of more than a u64',
    {
      programId: SYSTEM,
      parsed: { type: 'transfer', info: { source: FROM, destination: TO, lamports: '18446744073709551616' } },
    },
  ],
  [
    'a token call',
    { programId: OWNER, parsed: { type: 'transfer', info: { source: FROM, destination: TO, lamports: 1 } } },
  ],
  ['data without end', { programId: SYSTEM, accounts: [FROM, TO], data: '1'.repeat(201) }],
])('%s has no data, which every rule refuses', (_name, instruction) => {
  expect(read(instruction)[0]?.data).toEqual(new Uint8Array());
});

it.each([
  ['a place that is not there', { programIdIndex: 3, accounts: [], data: '' }],
  ['an account that is not there', { programIdIndex: 2, accounts: [7], data: '' }],
  ['data that is not base58', { programIdIndex: 2, accounts: [], data: '0OIl' }],
  [
    'an owner that is not an address',
    {
      programId: SYSTEM,
      parsed: {
        type: 'createAccount',
        info: { source: FROM, newAccount: TO, lamports: 1, space: 1, owner: 'x' },
      },
    },
  ],
])('%s cannot be read, so no decision is based on it', (_name, instruction) => {
  expect(() => read(instruction)).toThrow(expect.objectContaining({ code: 'UPSTREAM_FAILED' }));
});
