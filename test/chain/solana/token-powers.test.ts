import { address, none, some } from '@solana/web3.js';
import {
  AccountState,
  type ExtensionArgs,
  extension,
  getMintDecoder,
  getMintEncoder,
} from '@solana-program/token-2022';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type TokenPower, tokenPowers } from '../../../src/chain/solana/token-powers.ts';
import { decodeMint, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { wallet } from '../../kit/addresses.ts';
import { extended, keyBytes } from './token-bytes.ts';

const KEY = address(wallet(9));
const NONE = address('11111111111111111111111111111111');

/** Length of a multisig account. The program appends two bytes to a mint that would have it; its library does not. */
const MULTISIG = 355;

/** A mint as the program and its own library write it. */
const written = (
  extensions: readonly ExtensionArgs[],
  authorities: { readonly mint?: string; readonly freeze?: string } = {},
): Uint8Array => {
  const data = getMintEncoder().encode({
    mintAuthority: authorities.mint === undefined ? none() : some(address(authorities.mint)),
    freezeAuthority: authorities.freeze === undefined ? none() : some(address(authorities.freeze)),
    supply: 100n,
    decimals: 6,
    isInitialized: true,
    extensions: extensions.length === 0 ? none() : some([...extensions]),
  });
  return Uint8Array.from(data.length === MULTISIG ? [...data, 0, 0] : data);
};

const powersOf = (data: Uint8Array): readonly TokenPower[] | undefined => {
  const mint = decodeMint(TOKEN_2022_PROGRAM, data);
  return mint && tokenPowers(mint);
};

const fee = (basisPoints: number) => ({ epoch: 0n, maximumFee: 1n, transferFeeBasisPoints: basisPoints });
const fees = (key: typeof KEY, older: number, newer: number): ExtensionArgs =>
  extension('TransferFeeConfig', {
    ...{ transferFeeConfigAuthority: key, withdrawWithheldAuthority: KEY, withheldAmount: 0n },
    ...{ olderTransferFee: fee(older), newerTransferFee: fee(newer) },
  });
const interest = (key: typeof KEY, rate: number): ExtensionArgs =>
  extension('InterestBearingConfig', {
    ...{ rateAuthority: key, initializationTimestamp: 0n, preUpdateAverageRate: 0, lastUpdateTimestamp: 0n },
    currentRate: rate,
  });
const scaled = (key: typeof KEY, multiplier: number, later: number): ExtensionArgs =>
  extension('ScaledUiAmountConfig', {
    authority: key,
    multiplier,
    newMultiplierEffectiveTimestamp: 0n,
    newMultiplier: later,
  });
const paused = (key: typeof KEY | null, isPaused: boolean): ExtensionArgs =>
  extension('PausableConfig', { authority: key === null ? none() : some(key), paused: isPaused });
const starts = (state: AccountState): ExtensionArgs => extension('DefaultAccountState', { state });
const hook = (key: typeof KEY, program: typeof KEY): ExtensionArgs =>
  extension('TransferHook', { authority: key, programId: program });

const POINTS = { authority: some(KEY) };
const HIDDEN = extension('ConfidentialTransferMint', {
  authority: none(),
  autoApproveNewAccounts: true,
  auditorElgamalPubkey: none(),
});

/** What an extension says, and the power that it has. */
const SCENES: readonly (readonly [string, TokenPower | null, ExtensionArgs])[] = [
  ['a permanent delegate', 'permanent_delegate', extension('PermanentDelegate', { delegate: KEY })],
  ['a revoked permanent delegate', null, extension('PermanentDelegate', { delegate: NONE })],
  ['accounts frozen by default', 'default_frozen', starts(AccountState.Frozen)],
  ['accounts open by default', null, starts(AccountState.Initialized)],
  ['an undefined default state', 'unknown', starts(AccountState.Uninitialized)],
  ['a key that can pause', 'pausable', paused(KEY, false)],
  ['a pause without a key', 'pausable', paused(null, true)],
  ['no pause and no key', null, paused(null, false)],
  ['a hook with program and key', 'transfer_hook', hook(KEY, KEY)],
  ['a hook without a key', 'transfer_hook', hook(NONE, KEY)],
  ['a hook whose program a key may set', 'transfer_hook', hook(KEY, NONE)],
  ['a hook without program and key', null, hook(NONE, NONE)],
  ['a fee of 0 that a key may raise', 'transfer_fee', fees(KEY, 0, 0)],
  ['a fee without a key', 'transfer_fee', fees(NONE, 5_000, 0)],
  ['a fee of everything', 'transfer_fee', fees(NONE, 10_000, 10_000)],
  ['a later fee without a key', 'transfer_fee', fees(NONE, 0, 1)],
  ['no fee and no key', null, fees(NONE, 0, 0)],
  ['a key that can close the mint', 'close_mint', extension('MintCloseAuthority', { closeAuthority: KEY })],
  ['no key that can close the mint', null, extension('MintCloseAuthority', { closeAuthority: NONE })],
  ['interest of a key', 'interest_amount', interest(KEY, 0)],
  ['interest without a key', 'interest_amount', interest(NONE, -1)],
  ['no interest', null, interest(NONE, 0)],
  ['a scale of a key', 'scaled_amount', scaled(KEY, 1, 1)],
  ['a scale of 2', 'scaled_amount', scaled(NONE, 2, 1)],
  ['a later scale of 2', 'scaled_amount', scaled(NONE, 1, 2)],
  ['a scale of 1', null, scaled(NONE, 1, 1)],
  ['tokens that stay', 'non_transferable', { __kind: 'NonTransferable' }],
  ['hidden transfers', 'confidential_transfer', HIDDEN],
  ['a pointer to metadata', null, extension('MetadataPointer', { ...POINTS, metadataAddress: none() })],
  ['a pointer to a group', null, extension('GroupPointer', { ...POINTS, groupAddress: none() })],
];

it.each(SCENES)('a mint with %s has the power %s', (_name, power, scene) => {
  expect(powersOf(written([scene]))).toEqual(power === null ? [] : [power]);
});

it('the authorities of the classic token program are powers', () => {
  expect(powersOf(written([], { mint: KEY, freeze: KEY }))).toEqual(['freeze', 'mint']);
  expect(powersOf(written([]))).toEqual([]);
});

it('a mint has exactly the powers of its extensions, in any order, however many they are', () => {
  const scenes = fc.uniqueArray(fc.constantFrom(...SCENES), { selector: ([, , { __kind }]) => __kind });
  fc.assert(
    fc.property(scenes, (chosen) => {
      const powers = powersOf(written(chosen.map(([, , scene]) => scene)));
      const expected = chosen.flatMap(([, power]) => power ?? []);
      expect([...(powers ?? [])].sort()).toEqual([...new Set(expected)].sort());
    }),
  );
});

it('the library and this parser see the same extensions of a mint', () => {
  fc.assert(
    fc.property(fc.subarray([...SCENES]), (chosen) => {
      const data = written([...new Map(chosen.map(([, , scene]) => [scene.__kind, scene])).values()]);
      const read = getMintDecoder().decode(data).extensions;
      const theirs =
        read.__option === 'Some' ? read.value.filter(({ __kind }) => __kind !== 'Uninitialized').length : 0;
      expect(decodeMint(TOKEN_2022_PROGRAM, data)?.extensions.size ?? -1).toBe(theirs);
    }),
  );
});

const base = written([]).slice(0, 82);
const delegate: [number, Uint8Array] = [12, keyBytes(wallet(9))];

it.each([
  ['a type that nobody knows', extended(base, 1, [[4_000, new Uint8Array(3)]])],
  ['an extension of accounts', extended(base, 1, [[7, new Uint8Array(0)]])],
  ['a permanent delegate of 31 bytes', extended(base, 1, [[12, new Uint8Array(31)]])],
  ['an empty permanent delegate', extended(base, 1, [[12, new Uint8Array(0)]])],
  ['a value longer than the account', extended(base, 1, [delegate]).slice(0, -1)],
  [
    'bytes after the end of the list',
    Uint8Array.from([...extended(base, 1, [[0, new Uint8Array(0)]]), 12, 0]),
  ],
  ['half a header', Uint8Array.from([...extended(base, 1, []), 12, 0, 32])],
  ['a type that occurs twice', extended(base, 1, [[12, new Uint8Array(32)], delegate])],
])('a mint with %s has an unknown power', (_name, data) => {
  expect(powersOf(data)).toEqual(['unknown']);
});

it('reads the smallest and the largest supply and decimals of a mint', () => {
  for (const [supply, decimals] of [
    [0n, 0],
    [2n ** 64n - 1n, 255],
  ] as const) {
    const data = base.with(44, decimals);
    new DataView(data.buffer).setBigUint64(36, supply, true);
    expect(decodeMint(TOKEN_PROGRAM, data)).toMatchObject({ supply, decimals });
  }
});

it('bytes after a mint never make the mint look safer, and no read goes past the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      const list = extended(base, 1, [delegate]);
      const powers = powersOf(Uint8Array.from([...list, ...bytes]));
      if (powers === undefined) expect(list.length + bytes.length).toBe(MULTISIG);
      else expect(powers).toContain('permanent_delegate');
    }),
  );
});
