import { address, type KeyPairSigner } from '@solana/web3.js';
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { metaplexMetadata, namedMint } from '../chain/solana/token-bytes.ts';
import { mintData } from '../kit/token-accounts.ts';
import { createSolanaKey } from './keys.ts';
import type { SolanaLedger } from './solana-ledger.ts';
import type { TestToken } from './test-tokens.ts';

const RENT_LAMPORTS = 10_000_000n;

/**
 * Writes a mint into the chain that this service never made, with its name where the wallets of its program look: inside a
 * Token-2022 mint, or in an account of Metaplex, whose program is not part of the world.
 */
export async function plantNamedMint(
  ledger: SolanaLedger,
  kind: 'token' | 'token-2022',
  names: { readonly name: string; readonly symbol: string; readonly uri: string },
  {
    decimals,
    mintAuthority,
    supply = 0n,
  }: { readonly decimals: number; readonly mintAuthority: KeyPairSigner; readonly supply?: bigint },
) {
  const { address: mint } = await createSolanaKey();
  const data = mintData({ supply, decimals, authority: mintAuthority.address });
  const program = address(kind === 'token' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM);
  if (kind === 'token') {
    await ledger.plant(mint, RENT_LAMPORTS, data, program);
    await ledger.plant(metaplexAddress(mint), RENT_LAMPORTS, metaplexMetadata(mint, names), METAPLEX_PROGRAM);
  } else {
    await ledger.plant(mint, RENT_LAMPORTS, namedMint(mint, data, names), program);
  }
  const token: TestToken = { mint, decimals, mintAuthority };
  return { ...token, ...names, program };
}
