import { type Address, getAddressDecoder } from '@solana/web3.js';
import { getMintEncoder, getMultisigEncoder } from '@solana-program/token';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { mintAuthorityOf, mintKeysOf } from '../../../src/chain/solana/mint-keys.ts';

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
      expect(mintKeysOf(authority, new Uint8Array(account))).toEqual({ authority, required: m, signers });
    }),
  );
});

it('an authority that is no multisig signs alone', () => {
  const authority = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
  for (const account of [null, new Uint8Array(), new Uint8Array(165), new Uint8Array(355)])
    expect(mintKeysOf(authority, account)).toEqual({ authority, required: 1, signers: [authority] });
  expect(mintKeysOf(null, null)).toEqual({ authority: null });
  expect(mintAuthorityOf(new Uint8Array(35))).toBeUndefined();
});
