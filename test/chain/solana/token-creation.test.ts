/** Creations read back with Solana's own client of the token program, and Token-2022's own bytes by their layout. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { AccountRole, address, getCompiledTransactionMessageDecoder } from '@solana/web3.js';
import { parseCreateAccountInstruction } from '@solana-program/system';
import {
  AuthorityType,
  parseCreateAssociatedTokenIdempotentInstruction,
  parseInitializeMint2Instruction,
  parseMintToCheckedInstruction,
  parseSetAuthorityInstruction,
} from '@solana-program/token';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  creationMessage,
  creationSpaces,
  type TokenDesign,
} from '../../../src/chain/solana/token-creation.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { METAPLEX_PROGRAM } from '../../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { cases } from '../../cases.ts';
import { wallet } from '../../kit/addresses.ts';
import { tokenDesign } from '../../kit/token-design.ts';

const [MINT, RESERVE, CREATOR] = [wallet(31), wallet(32), wallet(33)];
const BUDGET = 'ComputeBudget111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

const designs = fc
  .record({
    program: fc.constantFrom('token' as const, 'token-2022' as const),
    metaplex: fc.boolean(),
    name: fc.constantFrom('Moon Cat', 'é'.repeat(16), 'a'.repeat(32)),
    symbol: fc.constantFrom('MCAT', '日本円'),
    uri: fc.constant(`https://sluice.test/api/tokens/${'1'.repeat(44)}/metadata.json`),
    decimals: fc.integer({ min: 0, max: 9 }),
    supply: fc.constantFrom(0n, 1n, 5_000_000n, 2n ** 64n - 1n),
    creator: fc.constant(CREATOR),
    revokeMint: fc.boolean(),
    revokeFreeze: fc.boolean(),
    revokeUpdate: fc.boolean(),
  })
  .map((design): TokenDesign => ({ ...design, metaplex: design.metaplex && design.program === 'token' }));

/** The instructions of a creation, each with its program and named accounts. */
function read(design: TokenDesign) {
  const lifetime = { blockhash: wallet(34) };
  const bytes = creationMessage({ design, mint: MINT, reserve: RESERVE, mintRent: 4_000_000n, lifetime });
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  if (message.version !== 0) throw new Error('not version 0');
  const keys = message.staticAccounts;
  return {
    bytes,
    header: message.header,
    keys: keys.map(String),
    instructions: message.instructions.map(
      ({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
        programAddress: keys[programAddressIndex] ?? address(SYSTEM),
        accounts: accountIndices.map((index) => ({
          address: keys[index] ?? address(SYSTEM),
          role: AccountRole.READONLY,
        })),
        data: Uint8Array.from(data),
      }),
    ),
  };
}

const some = (key: string) => ({ __option: 'Some', value: key });
const NONE = { __option: 'None' };

it('a creation of any design is one transaction of two signers within the size limit, with exactly the requested effects', {
  tags: ['scaled'],
}, () => {
  fc.assert(
    fc.property(designs, (design) => {
      const { bytes, header, keys, instructions } = read(design);
      // Two signatures of 64 bytes and their count go in front of the message.
      expect(bytes.length + 1 + 2 * 64).toBeLessThanOrEqual(1_232);
      expect([header.numSignerAccounts, keys[0], keys[1]]).toEqual([2, RESERVE, MINT]);
      const program = design.program === 'token' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
      const programs = instructions.map(({ programAddress }) => String(programAddress));
      const optional = [...(design.supply > 0n ? [ATA] : []), ...(design.metaplex ? [METAPLEX_PROGRAM] : [])];
      expect(new Set(programs)).toEqual(new Set([BUDGET, SYSTEM, program, ...optional]));

      const of = (name: string) =>
        instructions.filter(({ programAddress }) => String(programAddress) === name);
      const made = of(SYSTEM).map((each) => parseCreateAccountInstruction(each));
      expect(made.map(({ data }) => [data.lamports, data.space, String(data.programAddress)])).toEqual([
        [4_000_000n, design.program === 'token' ? 82n : 234n, program],
      ]);

      const own = of(program);
      const withCode = (code: number) => own.filter(({ data }) => data[0] === code);
      const freezeAuthority = design.revokeFreeze ? NONE : some(CREATOR);
      expect(withCode(20).map((each) => parseInitializeMint2Instruction(each).data)).toMatchObject([
        { decimals: design.decimals, mintAuthority: RESERVE, freezeAuthority },
      ]);
      const supply = withCode(14).map((each) => parseMintToCheckedInstruction(each));
      const account = findAta(CREATOR, MINT, program);
      expect(
        supply.map(({ data, accounts }) => [data.amount, data.decimals, String(accounts.token.address)]),
      ).toEqual(design.supply === 0n ? [] : [[design.supply, design.decimals, account]]);
      // The final instruction: no mint follows once the authority is transferred.
      const last = instructions[instructions.length - 1];
      const handed = last && parseSetAuthorityInstruction(last).data;
      expect(handed).toMatchObject({
        authorityType: AuthorityType.MintTokens,
        newAuthority: design.revokeMint ? NONE : some(CREATOR),
      });
      for (const each of of(ATA)) {
        const { accounts } = parseCreateAssociatedTokenIdempotentInstruction(each);
        const named = [accounts.payer, accounts.owner, accounts.mint, accounts.tokenProgram];
        expect(named.map((each) => String(each.address))).toEqual([RESERVE, CREATOR, MINT, program]);
      }
      expect(of(METAPLEX_PROGRAM)).toHaveLength(design.metaplex ? 1 : 0);
    }),
    { numRuns: cases(300, 60) },
  );
});

describe('metadata inside a Token-2022 mint', () => {
  const design = tokenDesign();
  /** First eight bytes of the SHA-256 of `spl_token_metadata_interface:initialize_account`, and of `update_the_authority`. */
  const INITIALIZE = [210, 225, 30, 162, 88, 184, 77, 141];
  const UPDATE_AUTHORITY = [215, 228, 166, 228, 84, 100, 86, 123];
  const startingWith = (over: Partial<TokenDesign>, bytes: readonly number[]) =>
    read({ ...design, ...over }).instructions.filter(({ data }) =>
      bytes.every((byte, index) => data[index] === byte),
    );

  it('metadata inside a Token-2022 mint is written with its texts, and the mint points at itself', () => {
    const [metadata] = startingWith({}, INITIALIZE);
    const text = (value: string) => [value.length, 0, 0, 0, ...utf8ToBytes(value)];
    const texts = ['Moon Cat', 'MCAT', design.uri].flatMap(text);
    expect([...(metadata?.data.slice(8) ?? [])]).toEqual(texts);
    const accounts = metadata?.accounts.map((account) => String(account.address));
    expect(accounts).toEqual([MINT, CREATOR, MINT, RESERVE]);
    const [pointer] = startingWith({}, [39, 0]);
    expect(pointer?.data).toHaveLength(66);
  });

  it('metadata inside a Token-2022 mint and its pointer have no authority if the update authority is revoked', () => {
    const [given] = startingWith({ revokeUpdate: true }, UPDATE_AUTHORITY);
    expect([...(given?.data.slice(8) ?? [1])]).toEqual(new Array<number>(32).fill(0));
    const [pointer] = startingWith({ revokeUpdate: true }, [39, 0]);
    expect([...(pointer?.data.slice(2, 34) ?? [1])]).toEqual(new Array<number>(32).fill(0));
    expect(startingWith({}, UPDATE_AUTHORITY)).toEqual([]);
  });

  it('a creation pays rent for every byte of the final account', () => {
    const texts = 'Moon Cat'.length + 'MCAT'.length + design.uri.length;
    const mint = 234 + 4 + 64 + 12 + 4 + texts;
    expect(creationSpaces(design)).toEqual({ mint, metadata: 0, account: 170 });
    expect(creationSpaces({ ...design, supply: 0n }).account).toBe(0);
    const classic = { ...design, program: 'token', metaplex: true } as const;
    expect(creationSpaces(classic)).toEqual({ mint: 82, metadata: 607, account: 165 });
  });
});
