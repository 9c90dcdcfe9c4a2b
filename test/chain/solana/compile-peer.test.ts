/** Messages that we compile beside those of the Solana library: the same accounts, roles, instructions and lifetime. */
import { base58 } from '@scure/base';
import {
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransactionMessage,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import { getTransferSolInstructionDataDecoder } from '@solana-program/system';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccountRole,
  type Instruction,
  instruction,
  u32,
  u64,
} from '../../../src/chain/solana/instruction.ts';
import { compileMessage, transferMessage } from '../../../src/chain/solana/transaction.ts';
import { lamports } from '../../../src/core/amount.ts';
import { decodeMessage } from './decode-message.ts';

const keyOf = (n: number): string => base58.encode(new Uint8Array(32).fill(n));
const PAYER = keyOf(1);
const BLOCKHASH = keyOf(200);
const LIFETIME = { blockhash: BLOCKHASH, lastValidBlockHeight: 9n };

/** The same instructions through the library. */
const library = (instructions: readonly Instruction[]): Uint8Array =>
  new Uint8Array(
    getCompiledTransactionMessageEncoder().encode(
      compileTransactionMessage(
        pipe(
          createTransactionMessage({ version: 0 }),
          (m) => setTransactionMessageFeePayer(address(PAYER), m),
          (m) =>
            setTransactionMessageLifetimeUsingBlockhash(
              { blockhash: BLOCKHASH as Blockhash, lastValidBlockHeight: 9n },
              m,
            ),
          (m) =>
            appendTransactionMessageInstructions(
              instructions.map(({ programAddress, accounts, data }) => ({
                programAddress: address(programAddress),
                accounts: accounts.map((account) => ({ ...account, address: address(account.address) })),
                data,
              })),
              m,
            ),
        ),
      ),
    ),
  );

/** What a message says, wherever its keys stand inside their group. */
function meaning(bytes: Uint8Array) {
  const { keys, requiredSignatures, readonlySigned, readonlyUnsigned, ...rest } = decodeMessage(bytes);
  const written = keys.length - readonlyUnsigned;
  return {
    ...rest,
    payer: keys[0],
    groups: [
      keys.slice(0, requiredSignatures - readonlySigned),
      keys.slice(requiredSignatures - readonlySigned, requiredSignatures),
      keys.slice(requiredSignatures, written),
      keys.slice(written),
    ].map((group) => group.toSorted()),
  };
}

/** Programs are apart from accounts: the library refuses one that is written or signs. */
const programs = fc.integer({ min: 100, max: 104 }).map(keyOf);
const metas = fc.record({
  address: fc.integer({ min: 1, max: 12 }).map(keyOf),
  role: fc.constantFrom<AccountRole[]>(0, 1, 2, 3),
});
const instructions = fc.array(
  fc
    .tuple(programs, fc.array(metas, { maxLength: 6 }), fc.uint8Array({ maxLength: 300 }))
    .map(([program, accounts, data]) => instruction(program, accounts, data)),
  { maxLength: 6 },
);

describe('a compiled message', () => {
  it('means what the library makes of the same instructions, and has the same length', () => {
    fc.assert(
      fc.property(instructions, (list) => {
        const [ours, theirs] = [compileMessage(PAYER, LIFETIME, list), library(list)];
        expect(meaning(ours)).toEqual(meaning(theirs));
        expect(ours.length).toBe(theirs.length);
        expect(meaning(ours)).toMatchObject({ payer: PAYER, version: 0, tableLookups: 0, rest: 0 });
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read by the library and written again to the same bytes', () => {
    fc.assert(
      fc.property(instructions, (list) => {
        const ours = compileMessage(PAYER, LIFETIME, list);
        const read = getCompiledTransactionMessageDecoder().decode(ours);
        expect(new Uint8Array(getCompiledTransactionMessageEncoder().encode(read))).toEqual(ours);
      }),
    );
  });

  it('names its keys in the order in which they are first named, group by group', () => {
    const list = [
      instruction(keyOf(100), [
        { address: keyOf(9), role: 0 },
        { address: keyOf(8), role: 1 },
        { address: keyOf(7), role: 2 },
        { address: keyOf(6), role: 3 },
        { address: keyOf(5), role: 3 },
        { address: keyOf(8), role: 0 },
      ]),
      instruction(keyOf(100), [{ address: keyOf(9), role: 1 }], Uint8Array.of(7)),
    ];
    const { keys } = decodeMessage(compileMessage(PAYER, LIFETIME, list));
    expect(keys).toEqual([PAYER, keyOf(6), keyOf(5), keyOf(7), keyOf(9), keyOf(8), keyOf(100)]);
  });

  it.each([
    ['a payer', () => compileMessage('no address', LIFETIME, [])],
    ['a blockhash', () => compileMessage(PAYER, { ...LIFETIME, blockhash: 'x' }, [])],
    [
      'a program',
      () => compileMessage(PAYER, LIFETIME, [instruction(base58.encode(new Uint8Array(33).fill(2)), [])]),
    ],
    [
      'an account',
      () => compileMessage(PAYER, LIFETIME, [instruction(keyOf(2), [{ address: '', role: 0 }])]),
    ],
  ])('with %s that is no address is never made', (_what, make) => {
    expect(make).toThrow(RangeError);
  });

  it('of more than 256 accounts is never made', () => {
    const key = (n: number) =>
      base58.encode(Uint8Array.from({ length: 32 }, (_, at) => (at < 2 ? (n >> (8 * at)) & 255 : 7)));
    const naming = (count: number) =>
      compileMessage(PAYER, LIFETIME, [
        instruction(
          key(0),
          Array.from({ length: count }, (_, n) => ({ address: key(n + 1), role: 0 as const })),
        ),
      ]);
    expect(decodeMessage(naming(254)).keys).toHaveLength(256);
    expect(() => naming(255)).toThrow(RangeError);
  });
});

describe('numbers in the data of an instruction', () => {
  it('of a transfer read as the System program’s own library reads them', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (amount) => {
        const message = transferMessage({
          from: PAYER,
          to: keyOf(2),
          amount: lamports(amount),
          lifetime: LIFETIME,
        });
        const data = decodeMessage(message).instructions[2]?.data ?? new Uint8Array();
        expect(getTransferSolInstructionDataDecoder().decode(data)).toEqual({ discriminator: 2, amount });
      }),
    );
  });

  it.each([-1, 2 ** 32, 1.5, Number.NaN])('%s is no u32', (value) => {
    expect(() => u32(value)).toThrow(RangeError);
  });

  it.each([-1n, 2n ** 64n])('%s is no u64', (value) => {
    expect(() => u64(value)).toThrow(RangeError);
  });

  it('at their edges are little-endian', () => {
    expect([...u32(2 ** 32 - 2)]).toEqual([254, 255, 255, 255]);
    expect([...u64(1n)]).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
    expect([...u64(2n ** 64n - 2n)]).toEqual([254, 255, 255, 255, 255, 255, 255, 255]);
    expect([...u32(0), ...u64(0n)]).toEqual(new Array(12).fill(0));
  });
});
