import { AccountState } from '@solana-program/token';
import { expect, it } from 'vitest';
import {
  decodeMint,
  decodeTokenAccount,
  movableAtoms,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/chain/solana/token-program.ts';
import { mintData, tokenData } from '../../kit/token-accounts.ts';
import { extended } from './token-bytes.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const OWNER = 'Czfq3xZZDmsdGdUyrNLtRhGc47cXcZtLG4crryfu44zE';
const SYSTEM = '11111111111111111111111111111111';
const U64_MAX = 2n ** 64n - 1n;

const KEY = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';

const accountBytes = (state: AccountState, amount = U64_MAX, delegate: string | null = OWNER) =>
  tokenData([USDC, OWNER], amount, delegate, 5n).with(108, state);
const mintBytes = (isInitialized: boolean, authority: string | null = OWNER) =>
  mintData({ authority, supply: U64_MAX, decimals: 6 }).with(45, Number(isInitialized));

const account = accountBytes(AccountState.Initialized);
const mint = mintBytes(true);

it('accounts and mints are read as the token library wrote them, under both token programs', () => {
  for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
    expect(decodeTokenAccount(program, account)).toEqual({ mint: USDC, owner: OWNER, atoms: U64_MAX });
    expect(decodeMint(program, mint)).toEqual({
      program,
      ...{ mintAuthority: OWNER, freezeAuthority: null, supply: U64_MAX, decimals: 6 },
      ...{ extensions: new Map(), hasUnreadBytes: false },
    });
    expect(decodeMint(program, mintBytes(true, null))?.mintAuthority).toBeNull();
  }
  expect(decodeTokenAccount(TOKEN_PROGRAM, accountBytes(AccountState.Frozen))?.atoms).toBe(U64_MAX);
});

it('an account with Token-2022 extensions has the same base fields and a different length', () => {
  const value = Uint8Array.of(1, 2, 3);
  const held = extended(account, 2, [[7, new Uint8Array()]]);
  expect(decodeTokenAccount(TOKEN_2022_PROGRAM, held)?.atoms).toBe(U64_MAX);
  const extensions: [number, Uint8Array][] = [
    [1, new Uint8Array(108)],
    [10, value],
  ];
  const minted = decodeMint(TOKEN_2022_PROGRAM, extended(mint, 1, extensions));
  expect(minted?.decimals).toBe(6);
  expect([...(minted?.extensions.keys() ?? [])]).toEqual([1, 10]);
  expect(minted?.extensions.get(10)).toEqual(value);
});

it('reads a truncated list of extensions up to the last complete one', () => {
  const bytes = extended(mint, 1, [
    [10, Uint8Array.of(9)],
    [11, new Uint8Array(40)],
  ]).slice(0, -1);
  expect([...(decodeMint(TOKEN_2022_PROGRAM, bytes)?.extensions.keys() ?? [])]).toEqual([10]);
});

it('refuses to read any other kind of account', () => {
  expect(decodeTokenAccount(SYSTEM, account)).toBeUndefined();
  expect(decodeMint(SYSTEM, mint)).toBeUndefined();
  expect(decodeTokenAccount(TOKEN_PROGRAM, mint)).toBeUndefined();
  expect(decodeMint(TOKEN_PROGRAM, account)).toBeUndefined();
  expect(decodeTokenAccount(TOKEN_2022_PROGRAM, extended(mint, 1, []))).toBeUndefined();
  expect(decodeMint(TOKEN_2022_PROGRAM, extended(account, 2, []))).toBeUndefined();
  expect(decodeMint(TOKEN_2022_PROGRAM, extended(mint, 2, []))).toBeUndefined();
  expect(decodeMint(TOKEN_PROGRAM, extended(mint, 1, []))).toBeUndefined();
  expect(decodeTokenAccount(TOKEN_PROGRAM, extended(account, 2, []))).toBeUndefined();
  expect(
    decodeTokenAccount(TOKEN_2022_PROGRAM, extended(account, 2, [[7, new Uint8Array(185)]])),
  ).toBeUndefined();
  expect(decodeTokenAccount(TOKEN_PROGRAM, accountBytes(AccountState.Uninitialized))).toBeUndefined();
  expect(decodeMint(TOKEN_PROGRAM, mintBytes(false))).toBeUndefined();
  expect(decodeMint(TOKEN_PROGRAM, new Uint8Array())).toBeUndefined();
});

it.each([
  ['all as the owner', OWNER, 9n, null, 9n],
  ['the allowance as the delegate', KEY, 9n, KEY, 5n],
  ['the balance as the delegate, if it is below the allowance', KEY, 4n, KEY, 4n],
  ['nothing without a delegate', KEY, 9n, null, 0n],
  ['nothing beside another delegate', KEY, 9n, OWNER, 0n],
])('a key may transfer %s', (_what, key, amount, delegate, atoms) => {
  const data = accountBytes(AccountState.Initialized, amount, delegate);
  expect(movableAtoms(TOKEN_PROGRAM, data, USDC, key)).toBe(atoms);
  expect(movableAtoms(TOKEN_PROGRAM, data, KEY, key)).toBe(0n);
  expect(movableAtoms(SYSTEM, data, USDC, key)).toBe(0n);
});
