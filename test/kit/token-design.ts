import type { TokenDesign } from '../../src/chain/solana/token-creation.ts';
import { wallet } from './addresses.ts';

/** A Token-2022 mint whose authorities its creator keeps. */
export const tokenDesign = (change: Partial<TokenDesign> = {}): TokenDesign => ({
  program: 'token-2022',
  metaplex: false,
  name: 'Moon Cat',
  symbol: 'MCAT',
  uri: 'https://sluice.test/m.json',
  decimals: 6,
  supply: 1n,
  creator: wallet(33),
  revokeMint: false,
  revokeFreeze: false,
  revokeUpdate: false,
  ...change,
});
