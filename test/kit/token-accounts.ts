/** Accounts of the token program as their own client writes them, and rows of tokens. */
import { address } from '@solana/web3.js';
import {
  getMintEncoder,
  getMultisigEncoder,
  getTokenEncoder,
  AccountState as TokenState,
} from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { TokenRow } from '../../src/features/tokens/token-store.ts';
import type { AccountState } from '../world/solana-shapes.ts';

export type MintState = {
  readonly authority?: string | null | undefined;
  readonly freezes?: string | null | undefined;
  readonly supply?: bigint;
  readonly decimals?: number;
};

const keyOf = (text: string | null | undefined) => (text ? address(text) : null);

export const mintData = ({ authority, freezes, supply = 1n, decimals = 0 }: MintState = {}): Uint8Array =>
  new Uint8Array(
    getMintEncoder().encode({
      ...{ mintAuthority: keyOf(authority), freezeAuthority: keyOf(freezes) },
      ...{ supply, decimals, isInitialized: true },
    }),
  );

export const mintAccount = (mint: MintState = {}): AccountState => ({
  ...{ lamports: 1_461_600, owner: TOKEN_PROGRAM, executable: false, data: mintData(mint) },
});

/** @param delegated atoms that the delegate may move */
export const tokenData = (
  [mint, owner]: readonly [mint: string, owner: string],
  amount: bigint,
  delegate: string | null = null,
  delegated = 0n,
): Uint8Array =>
  new Uint8Array(
    getTokenEncoder().encode({
      ...{ mint: address(mint), owner: address(owner), amount, state: TokenState.Initialized },
      ...{ delegate: keyOf(delegate), delegatedAmount: delegated, isNative: null, closeAuthority: null },
    }),
  );

/** A multisig that needs two of these signers. */
export function multisigData(...signers: readonly string[]): Uint8Array {
  const filled = Array.from({ length: 11 }, (_, at) => address(signers[at] ?? '1'.repeat(32)));
  const state = { m: 2, n: signers.length, isInitialized: true, signers: filled };
  return new Uint8Array(getMultisigEncoder().encode(state));
}

export const tokenRow = (over: Partial<TokenRow>): TokenRow => ({
  ...{
    tokenId: 1,
    mint: '',
    name: 'Moon',
    symbol: 'MOON',
    decimals: 6,
    supply: 1n,
    creator: null,
    uri: null,
  },
  ...{ description: '', image: null, program: 'token', requestId: null, createdAt: 0, listedAt: 0 },
  ...over,
});
