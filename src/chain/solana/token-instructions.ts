/**
 * Instructions of the SPL Token programs that a token creation needs, byte by byte. Token and Token-2022 share these
 * discriminators; the metadata ones are Token-2022's own.
 * @see solana-program/token interface, solana-program/token-2022 interface, solana-program/token-metadata interface
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  instruction,
  readonly,
  SYSTEM_PROGRAM,
  signer,
  u32,
  u64,
  writable,
  writableSigner,
} from './instruction.ts';
import { addressSeed, programAddress } from './program-address.ts';
import { METAPLEX_PROGRAM, metaplexAddress } from './token-metadata-read.ts';
import { TOKEN_2022_PROGRAM } from './token-program.ts';

export const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** Borsh text: u32 length, then UTF-8. */
const text = (value: string): Uint8Array => {
  const bytes = utf8ToBytes(value);
  return concatBytes(u32(bytes.length), bytes);
};
/** COption<Pubkey>: one byte, then the key when there is one. */
const optionKey = (key: string | null): Uint8Array =>
  key === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), addressSeed(key));
/** OptionalNonZeroPubkey: 32 bytes, all zero for none. */
const keyOrZero = (key: string | null): Uint8Array => (key === null ? new Uint8Array(32) : addressSeed(key));

/** The associated token account of an owner. The token program is part of its seeds. */
export const findAta = (owner: string, mint: string, tokenProgram: string): string =>
  programAddress(ATA_PROGRAM, [addressSeed(owner), addressSeed(tokenProgram), addressSeed(mint)]);

/** System CreateAccount (0). */
export const createAccount = (p: {
  payer: string;
  account: string;
  lamports: bigint;
  space: number;
  owner: string;
}) =>
  instruction(
    SYSTEM_PROGRAM,
    [writableSigner(p.payer), writableSigner(p.account)],
    u32(0),
    u64(p.lamports),
    u64(BigInt(p.space)),
    addressSeed(p.owner),
  );

/** InitializeMint2 (20). */
export const initializeMint = (p: {
  program: string;
  mint: string;
  decimals: number;
  mintAuthority: string;
  freezeAuthority: string | null;
}) =>
  instruction(
    p.program,
    [writable(p.mint)],
    Uint8Array.of(20, p.decimals),
    addressSeed(p.mintAuthority),
    optionKey(p.freezeAuthority),
  );

/** CreateIdempotent (1) of the associated token account program. */
export const createAtaIdempotent = (p: { payer: string; owner: string; mint: string; program: string }) =>
  instruction(
    ATA_PROGRAM,
    [
      writableSigner(p.payer),
      writable(findAta(p.owner, p.mint, p.program)),
      readonly(p.owner),
      readonly(p.mint),
      readonly(SYSTEM_PROGRAM),
      readonly(p.program),
    ],
    Uint8Array.of(1),
  );

/** MintToChecked (14). */
export const mintToChecked = (p: {
  program: string;
  mint: string;
  account: string;
  authority: string;
  atoms: bigint;
  decimals: number;
}) =>
  instruction(
    p.program,
    [writable(p.mint), writable(p.account), signer(p.authority)],
    Uint8Array.of(14),
    u64(p.atoms),
    Uint8Array.of(p.decimals),
  );

/** SetAuthority (6) of the mint authority (type 0). */
export const setMintAuthority = (p: {
  program: string;
  mint: string;
  authority: string;
  next: string | null;
}) => instruction(p.program, [writable(p.mint), signer(p.authority)], Uint8Array.of(6, 0), optionKey(p.next));

/** MetadataPointerExtension (39), Initialize (0): the mint holds its own metadata. */
export const initializeMetadataPointer = (p: { mint: string; authority: string | null }) =>
  instruction(
    TOKEN_2022_PROGRAM,
    [writable(p.mint)],
    Uint8Array.of(39, 0),
    keyOrZero(p.authority),
    addressSeed(p.mint),
  );

/** First eight bytes of the hash of a name, as the metadata interface tells its instructions apart. */
const interfaceTag = (name: string): Uint8Array =>
  sha256(utf8ToBytes(`spl_token_metadata_interface:${name}`)).slice(0, 8);

/** Token metadata Initialize: name, symbol and uri into the mint. */
export const initializeMetadata = (p: {
  mint: string;
  updateAuthority: string;
  mintAuthority: string;
  name: string;
  symbol: string;
  uri: string;
}) =>
  instruction(
    TOKEN_2022_PROGRAM,
    [writable(p.mint), readonly(p.updateAuthority), readonly(p.mint), signer(p.mintAuthority)],
    interfaceTag('initialize_account'),
    text(p.name),
    text(p.symbol),
    text(p.uri),
  );

/** Token metadata UpdateAuthority; null gives it up for ever. */
export const setMetadataAuthority = (p: { mint: string; authority: string; next: string | null }) =>
  instruction(
    TOKEN_2022_PROGRAM,
    [writable(p.mint), signer(p.authority)],
    interfaceTag('update_the_authority'),
    keyOrZero(p.next),
  );

/** CreateMetadataAccountV3 (33): no creators, no royalties, no collection. */
export const createMetaplexMetadata = (p: {
  mint: string;
  mintAuthority: string;
  payer: string;
  updateAuthority: string;
  name: string;
  symbol: string;
  uri: string;
  isMutable: boolean;
}) =>
  instruction(
    METAPLEX_PROGRAM,
    [
      writable(metaplexAddress(p.mint)),
      readonly(p.mint),
      signer(p.mintAuthority),
      writableSigner(p.payer),
      p.updateAuthority === p.payer ? writableSigner(p.payer) : readonly(p.updateAuthority),
      readonly(SYSTEM_PROGRAM),
    ],
    Uint8Array.of(33),
    text(p.name),
    text(p.symbol),
    text(p.uri),
    // Seller fee 0, then none of creators, collection and uses; is_mutable; no collection details.
    Uint8Array.of(0, 0, 0, 0, 0, p.isMutable ? 1 : 0, 0),
  );
