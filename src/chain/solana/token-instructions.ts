/**
 * Token instructions. The token program's client builds its own instructions. Metadata instructions are encoded byte by
 * byte, because this library version has no client for them.
 * @see solana-program/token-2022 interface, solana-program/token-metadata interface
 * @see metaplex-foundation/mpl-token-metadata programs/token-metadata (CreateMetadataAccountV3)
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  AccountRole,
  type Address,
  addEncoderSizePrefix,
  address,
  getU32Encoder,
  getUtf8Encoder,
  type Instruction,
} from '@solana/web3.js';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToCheckedInstruction,
} from '@solana-program/token';
import { addressSeed, programAddress } from './program-address.ts';
import { METAPLEX_PROGRAM, metaplexAddress } from './token-metadata.ts';
import { TOKEN_2022_PROGRAM } from './token-program.ts';
import { signerAt } from './transaction.ts';

/** The associated token account of an owner. The token program is part of its seeds. */
export const findAta = (owner: string, mint: string, tokenProgram: string): Address =>
  programAddress(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, [
    addressSeed(owner),
    addressSeed(tokenProgram),
    addressSeed(mint),
  ]);

/** Creates the associated account of an owner unless it exists. */
export const createAtaIdempotent = (terms: {
  payer: string;
  owner: string;
  mint: string;
  program: string;
}): Instruction =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer: signerAt(terms.payer),
    ata: findAta(terms.owner, terms.mint, terms.program),
    owner: address(terms.owner),
    mint: address(terms.mint),
    tokenProgram: address(terms.program),
  });

export const mintTo = (terms: {
  program: string;
  mint: string;
  account: string;
  authority: string;
  /** The signing keys in order, if the authority is a multisig account. */
  signers?: readonly string[];
  atoms: bigint;
  decimals: number;
}): Instruction =>
  getMintToCheckedInstruction(
    {
      mint: address(terms.mint),
      token: address(terms.account),
      mintAuthority: terms.signers ? address(terms.authority) : signerAt(terms.authority),
      multiSigners: (terms.signers ?? []).map(signerAt),
      amount: terms.atoms,
      decimals: terms.decimals,
    },
    { programAddress: address(terms.program) },
  );

/** Borsh string: u32 length, then UTF-8. */
const text = (value: string) => addEncoderSizePrefix(getUtf8Encoder(), getU32Encoder()).encode(value);
/** OptionalNonZeroPubkey: 32 bytes; all zeros mean no key. */
const keyOrZero = (key: string | null): Uint8Array => (key === null ? new Uint8Array(32) : addressSeed(key));

const writable = (key: string) => ({ address: address(key), role: AccountRole.WRITABLE });
const readonly = (key: string) => ({ address: address(key), role: AccountRole.READONLY });
const signer = (key: string) => ({ address: address(key), role: AccountRole.READONLY_SIGNER });
const writableSigner = (key: string) => ({ address: address(key), role: AccountRole.WRITABLE_SIGNER });

/** MetadataPointerExtension (39), Initialize (0): the mint contains its own metadata. */
export const initializeMetadataPointer = (terms: {
  mint: string;
  authority: string | null;
}): Instruction => ({
  programAddress: address(TOKEN_2022_PROGRAM),
  accounts: [writable(terms.mint)],
  data: concatBytes(Uint8Array.of(39, 0), keyOrZero(terms.authority), addressSeed(terms.mint)),
});

/**
 * First eight bytes of the hash of a name, by which the metadata interface distinguishes its instructions.
 */
const interfaceTag = (name: string): Uint8Array =>
  sha256(utf8ToBytes(`spl_token_metadata_interface:${name}`)).slice(0, 8);

/** Token metadata Initialize: writes name, symbol and uri into the mint. */
export const initializeMetadata = (terms: {
  mint: string;
  updateAuthority: string;
  mintAuthority: string;
  name: string;
  symbol: string;
  uri: string;
}): Instruction => ({
  programAddress: address(TOKEN_2022_PROGRAM),
  accounts: [
    writable(terms.mint),
    readonly(terms.updateAuthority),
    readonly(terms.mint),
    signer(terms.mintAuthority),
  ],
  data: Uint8Array.of(
    ...interfaceTag('initialize_account'),
    ...text(terms.name),
    ...text(terms.symbol),
    ...text(terms.uri),
  ),
});

/** Token metadata UpdateAuthority; null gives it up permanently. */
export const setMetadataAuthority = (terms: {
  mint: string;
  authority: string;
  next: string | null;
}): Instruction => ({
  programAddress: address(TOKEN_2022_PROGRAM),
  accounts: [writable(terms.mint), signer(terms.authority)],
  data: concatBytes(interfaceTag('update_the_authority'), keyOrZero(terms.next)),
});

/** CreateMetadataAccountV3 (33): no creators, no royalties, no collection. */
export const createMetaplexMetadata = (terms: {
  mint: string;
  mintAuthority: string;
  payer: string;
  updateAuthority: string;
  name: string;
  symbol: string;
  uri: string;
  isMutable: boolean;
}): Instruction => ({
  programAddress: address(METAPLEX_PROGRAM),
  accounts: [
    writable(metaplexAddress(terms.mint)),
    readonly(terms.mint),
    signer(terms.mintAuthority),
    writableSigner(terms.payer),
    terms.updateAuthority === terms.payer ? writableSigner(terms.payer) : readonly(terms.updateAuthority),
    readonly(SYSTEM_PROGRAM_ADDRESS),
  ],
  data: Uint8Array.of(
    33,
    ...text(terms.name),
    ...text(terms.symbol),
    ...text(terms.uri),
    // Seller fee 0; no creators, collection and uses; is_mutable; no collection details.
    ...[0, 0, 0, 0, 0, terms.isMutable ? 1 : 0, 0],
  ),
});
