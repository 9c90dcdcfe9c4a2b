import {
  AccountRole,
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getU32Encoder,
  getUtf8Encoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/web3.js';
import { getCreateAccountInstruction } from '@solana-program/system';
import type { SolanaLedger } from './solana-ledger.ts';
import { landTransaction } from './solana-wallet.ts';
import type { TestToken } from './test-tokens.ts';

export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

/** Mint padded to 165 bytes, account type, and the pointer's header and 64 bytes. */
const POINTER_MINT_BYTES = 165 + 1 + 4 + 64;
/** Enough for the additional size of the metadata. */
const RENT_LAMPORTS = 6_000_000n;
/** sha256('spl_token_metadata_interface:initialize_account'), first 8 bytes. */
const INITIALIZE_METADATA = [210, 225, 30, 162, 88, 184, 77, 141];

const key = (of: Address) => getAddressEncoder().encode(of);

function text(value: string): number[] {
  const bytes = getUtf8Encoder().encode(value);
  return [...getU32Encoder().encode(bytes.length), ...bytes];
}

const instruction = (
  data: readonly number[],
  accounts: NonNullable<Instruction['accounts']>,
): Instruction => ({
  programAddress: TOKEN_2022_PROGRAM,
  accounts,
  data: Uint8Array.from(data),
});

/** Creates a real Token-2022 mint that contains its name: a metadata pointer to itself and the metadata. */
export async function createExtensionMint(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  decimals: number,
  names: { readonly name: string; readonly symbol: string; readonly uri: string },
): Promise<TestToken> {
  const mint = await generateKeyPairSigner();
  const authority = key(payer.address);
  const writable = { address: mint.address, role: AccountRole.WRITABLE };
  const readonly = (of: Address) => ({ address: of, role: AccountRole.READONLY });
  await landTransaction(ledger, payer, [
    getCreateAccountInstruction({
      payer,
      newAccount: mint,
      lamports: RENT_LAMPORTS,
      space: POINTER_MINT_BYTES,
      programAddress: TOKEN_2022_PROGRAM,
    }),
    // MetadataPointerExtension, Initialize
    instruction([39, 0, ...authority, ...key(mint.address)], [writable]),
    // InitializeMint2 without a freeze authority
    instruction([20, decimals, ...authority, 0], [writable]),
    instruction(
      [...INITIALIZE_METADATA, ...text(names.name), ...text(names.symbol), ...text(names.uri)],
      [
        writable,
        readonly(payer.address),
        readonly(mint.address),
        { address: payer.address, role: AccountRole.READONLY_SIGNER },
      ],
    ),
  ]);
  return { mint: mint.address, decimals, mintAuthority: payer };
}
