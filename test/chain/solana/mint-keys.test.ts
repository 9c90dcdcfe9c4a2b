import { type Address, getAddressDecoder } from '@solana/web3.js';
import { getMintEncoder, getMultisigEncoder } from '@solana-program/token';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { mintAuthorityOf, mintKeysOf } from '../../../src/chain/solana/mint-keys.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';

const key = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes): Address => getAddressDecoder().decode(bytes));

it('reads the authority that the client of the token program writes', () => {
  fc.assert(
    fc.property(fc.option(key), (mintAuthority) => {
      const mint = { mintAuthority, supply: 1n, decimals: 2, isInitialized: true, freezeAuthority: null };
      expect(mintAuthorityOf(new Uint8Array(getMintEncoder().encode(mint)))).toBe(mintAuthority);
    }),
  );
});

it('reads the keys of a multisig that the client of the token program writes', () => {
  fc.assert(
    fc.property(key, fc.array(key, { minLength: 1, maxLength: 11 }), fc.nat(11), (authority, signers, m) => {
      const filled = [...signers, ...Array(11 - signers.length).fill(authority)];
      const account = getMultisigEncoder().encode({
        m,
        n: signers.length,
        isInitialized: true,
        signers: filled,
      });
      const data = new Uint8Array(account);
      expect(mintKeysOf(TOKEN_PROGRAM, authority, { owner: TOKEN_PROGRAM, data })).toEqual({
        authority,
        required: m,
        signers,
      });
      // Another program can write these bytes, and its account signs alone.
      for (const owner of [authority, TOKEN_2022_PROGRAM])
        expect(mintKeysOf(TOKEN_PROGRAM, authority, { owner, data })).toEqual({
          authority,
          required: 1,
          signers: [authority],
        });
    }),
  );
});

it('an authority that is not a multisig signs alone', () => {
  const authority = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
  for (const length of [0, 165, 355]) {
    const account = { owner: TOKEN_PROGRAM, data: new Uint8Array(length) };
    expect(mintKeysOf(TOKEN_PROGRAM, authority, account)).toEqual({
      authority,
      required: 1,
      signers: [authority],
    });
  }
  expect(mintKeysOf(TOKEN_PROGRAM, authority, null)).toEqual({
    authority,
    required: 1,
    signers: [authority],
  });
  expect(mintKeysOf(TOKEN_PROGRAM, null, null)).toEqual({ authority: null });
  expect(mintAuthorityOf(new Uint8Array(35))).toBeUndefined();
});
