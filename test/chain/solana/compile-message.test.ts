/** Our messages, read back byte by byte by a reader of our own and by the Solana library. */
import { base58 } from '@scure/base';
import { type AccountRole, type Address, address, type Instruction } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileMessage, type MessageVersion } from '../../../src/chain/solana/transaction.ts';
import { decodeMessage } from './decode-message.ts';
import { checkOwnMessages } from './own-messages-checks.ts';

const keyOf = (n: number): Address => address(base58.encode(new Uint8Array(32).fill(n)));
const PAYER = keyOf(1);
const BLOCKHASH = keyOf(200);
const BUDGET = { units: 5, unitPrice: 3n };
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';

checkOwnMessages();

/** Programs are distinct from accounts: the library refuses a program that is written or signs. */
const programs = fc.integer({ min: 100, max: 104 }).map(keyOf);
const metas = fc.record({
  address: fc.integer({ min: 1, max: 12 }).map(keyOf),
  role: fc.constantFrom<AccountRole[]>(0, 1, 2, 3),
});
const instructions = fc.array(
  fc
    .tuple(programs, fc.array(metas, { maxLength: 6 }), fc.uint8Array({ maxLength: 300 }))
    .map(([programAddress, accounts, data]): Instruction => ({ programAddress, accounts, data })),
  { maxLength: 6 },
);

/** Keys in the four groups of a header, each sorted. */
function groupsOf(bytes: Uint8Array): string[][] {
  const { keys, requiredSignatures, readonlySigned, readonlyUnsigned } = decodeMessage(bytes);
  const written = keys.length - readonlyUnsigned;
  return [
    keys.slice(0, requiredSignatures - readonlySigned),
    keys.slice(requiredSignatures - readonlySigned, requiredSignatures),
    keys.slice(requiredSignatures, written),
    keys.slice(written),
  ].map((group) => group.toSorted());
}

/** A key that occurs twice has the rights of both occurrences; programs are read-only. */
function expectedGroups(list: readonly Instruction[], version: MessageVersion): string[][] {
  const roles = new Map<string, number>([[PAYER, 3]]);
  if (version === 0) roles.set(COMPUTE_BUDGET, 0);
  for (const { programAddress, accounts = [] } of list) {
    roles.set(programAddress, roles.get(programAddress) ?? 0);
    for (const { address: key, role } of accounts) roles.set(key, (roles.get(key) ?? 0) | role);
  }
  return [3, 2, 1, 0]
    .map((role) => [...roles].filter(([, each]) => each === role).map(([key]) => key))
    .map((group) => group.toSorted());
}

describe.each([0, 1] as const)('a compiled message of version %i', (version) => {
  const lifetime = { blockhash: BLOCKHASH, version };

  it('a compiled message has the payer first, each key in the group of its strongest role, and the instructions in order', () => {
    fc.assert(
      fc.property(instructions, (list) => {
        const bytes = compileMessage(PAYER, lifetime, BUDGET, list);
        const read = decodeMessage(bytes);
        expect(read).toMatchObject({ version, blockhash: BLOCKHASH, tableLookups: 0, rest: 0 });
        expect(read.keys[0]).toBe(PAYER);
        expect(groupsOf(bytes)).toEqual(expectedGroups(list, version));
        expect(read.instructions.slice(version === 0 ? 2 : 0)).toEqual(
          list.map(({ programAddress, accounts = [], data }) => ({
            program: programAddress,
            accounts: accounts.map(({ address: key }) => key),
            data,
          })),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('a compiled message contains its compute budget, with the fee rounded up', () => {
    const { config, instructions: budget } = decodeMessage(compileMessage(PAYER, lifetime, BUDGET, []));
    if (version === 1) {
      expect(config).toEqual({ priorityFee: 1n, units: 5, loadedBytes: 67_108_864, heapBytes: null });
      expect(budget).toEqual([]);
    } else {
      expect(budget.map(({ program, data }) => [program, [...data]])).toEqual([
        [COMPUTE_BUDGET, [2, 5, 0, 0, 0]],
        [COMPUTE_BUDGET, [3, 3, 0, 0, 0, 0, 0, 0, 0]],
      ]);
    }
  });

  it.each([
    ['a payer', () => compileMessage('no address', lifetime, BUDGET, [])],
    ['a blockhash', () => compileMessage(PAYER, { ...lifetime, blockhash: 'x' }, BUDGET, [])],
    [
      'a program',
      () =>
        compileMessage(PAYER, lifetime, BUDGET, [
          { programAddress: base58.encode(new Uint8Array(33).fill(2)) as Address },
        ]),
    ],
    [
      'an account',
      () =>
        compileMessage(PAYER, lifetime, BUDGET, [
          { programAddress: keyOf(2), accounts: [{ address: '' as Address, role: 0 }] },
        ]),
    ],
  ])('throws when %s is not an address', (_what, make) => {
    expect(make).toThrow();
  });

  it.each([
    ['units above u32', { units: 2 ** 32, unitPrice: 1n }],
    ['negative units', { units: -1, unitPrice: 1n }],
    ['a price above u64', { units: 1_000_000, unitPrice: 2n ** 64n }],
    ['a negative price', { units: 1_000_000, unitPrice: -10n }],
  ])('throws for %s', (_what, budget) => {
    expect(() => compileMessage(PAYER, lifetime, budget, [])).toThrow();
  });
});
