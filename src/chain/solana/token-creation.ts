/**
 * One transaction that creates a complete token: mint, metadata, supply to the creator, final authorities. It lands as
 * a whole or not at all.
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { address, type Instruction } from '@solana/web3.js';
import { getCreateAccountInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getInitializeMint2Instruction,
  getSetAuthorityInstruction,
} from '@solana-program/token';
import {
  createAtaIdempotent,
  createMetaplexMetadata,
  findAta,
  initializeMetadata,
  initializeMetadataPointer,
  mintTo,
  setMetadataAuthority,
} from './token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './token-program.ts';
import { type ComputeBudget, compileMessage, type Lifetime, networkFee, signerAt } from './transaction.ts';

export type TokenProgramName = 'token-2022' | 'token';

/** A token as specified by its creator. */
export type TokenDesign = {
  readonly program: TokenProgramName;
  /** Whether a classic mint gets a Metaplex metadata account. */
  readonly metaplex: boolean;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly decimals: number;
  /** In the token's smallest units; u64. */
  readonly supply: bigint;
  readonly creator: string;
  readonly revokeMint: boolean;
  readonly revokeFreeze: boolean;
  readonly revokeUpdate: boolean;
};

/** Compute units of the largest creation, with a margin. Token-2022 metadata takes 40,000, Metaplex 60,000. */
const BUDGET: ComputeBudget = { units: 200_000, unitPrice: 20_000n };
/** Network fee in lamports: two signatures, reserve and mint, and the priority fee. */
export const CREATION_FEE = networkFee(BUDGET, 2n);

/** Bytes of a mint. With a metadata pointer: padding to 165, account type, one extension of 64 bytes. */
const MINT_SPACE = 82;
const POINTER_MINT_SPACE = 165 + 1 + 4 + 64;
/** Bytes of the metadata extension without its strings: header, two keys, three string lengths, an empty list. */
const METADATA_SPACE = 4 + 64 + 3 * 4 + 4;
/** Bytes of a Metaplex metadata account, regardless of its content. */
const METAPLEX_SPACE = 607;
/** Lamports that Metaplex charges for each account, in addition to the rent. */
export const METAPLEX_FEE = 10_000_000n;

const bytesOf = (text: string): number => utf8ToBytes(text).length;

/** Sizes in bytes of the accounts whose rent a creation pays. */
export function creationSpaces(design: TokenDesign): { mint: number; metadata: number; account: number } {
  const extended =
    POINTER_MINT_SPACE + METADATA_SPACE + bytesOf(design.name) + bytesOf(design.symbol) + bytesOf(design.uri);
  return {
    mint: design.program === 'token-2022' ? extended : MINT_SPACE,
    metadata: design.metaplex ? METAPLEX_SPACE : 0,
    // Token-2022 accounts created by the associated token program have the immutable-owner extension.
    account: design.supply === 0n ? 0 : design.program === 'token-2022' ? 170 : 165,
  };
}

/** The rent of an account is proportional to its size in bytes plus this overhead (`Rent::minimum_balance` of Agave). */
const ACCOUNT_OVERHEAD = 128n;

/** Lamports that leave the reserve for a creation, by purpose. */
export type CreationCosts = {
  readonly mintRent: bigint;
  readonly metadataRent: bigint;
  readonly metadataFee: bigint;
  readonly accountRent: bigint;
  readonly networkFee: bigint;
};

/** @param least minimum balance that makes an account without data rent-exempt, in lamports, from the chain */
export function creationCosts(design: TokenDesign, least: bigint): CreationCosts {
  const { mint, metadata, account } = creationSpaces(design);
  const rentOf = (bytes: number): bigint =>
    bytes === 0 ? 0n : (least * (ACCOUNT_OVERHEAD + BigInt(bytes))) / ACCOUNT_OVERHEAD;
  return {
    mintRent: rentOf(mint),
    metadataRent: rentOf(metadata),
    metadataFee: design.metaplex ? METAPLEX_FEE : 0n,
    accountRent: rentOf(account),
    networkFee: CREATION_FEE,
  };
}

export const creationCost = (costs: CreationCosts): bigint =>
  costs.mintRent + costs.metadataRent + costs.metadataFee + costs.accountRent + costs.networkFee;

export const tokenProgramOf = (design: TokenDesign): string =>
  design.program === 'token-2022' ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;

/**
 * Instructions that write name, symbol and URI into a Token-2022 mint. The reserve signs them. It gives up its
 * authority if the token should have none.
 */
const nameInstructions = (
  { name, symbol, uri, creator, revokeUpdate }: TokenDesign,
  mint: string,
  reserve: string,
): readonly Instruction[] => {
  const updateAuthority = revokeUpdate ? reserve : creator;
  return [
    initializeMetadata({ mint, updateAuthority, mintAuthority: reserve, name, symbol, uri }),
    ...(revokeUpdate ? [setMetadataAuthority({ mint, authority: reserve, next: null })] : []),
  ];
};

const metaplexName = (
  { name, symbol, uri, creator, revokeUpdate }: TokenDesign,
  mint: string,
  reserve: string,
): Instruction =>
  createMetaplexMetadata({
    mint,
    mintAuthority: reserve,
    payer: reserve,
    updateAuthority: creator,
    name,
    symbol,
    uri,
    isMutable: !revokeUpdate,
  });

const supplyInstructions = (design: TokenDesign, mint: string, reserve: string): readonly Instruction[] => {
  const { creator, supply, decimals } = design;
  const program = tokenProgramOf(design);
  const account = findAta(creator, mint, program);
  return [
    createAtaIdempotent({ payer: reserve, owner: creator, mint, program }),
    mintTo({ program, mint, account, authority: reserve, atoms: supply, decimals }),
  ];
};

/**
 * The instructions of a creation.
 *
 * @param reserve  pays, and is the mint authority until the supply is minted
 * @param mintRent lamports that the mint's final size needs
 */
function creationInstructions(
  design: TokenDesign,
  mint: string,
  reserve: string,
  mintRent: bigint,
): Instruction[] {
  const program = tokenProgramOf(design);
  const config = { programAddress: address(program) };
  const { decimals, creator } = design;
  const updateAuthority = design.revokeUpdate ? null : creator;
  const is2022 = design.program === 'token-2022';
  const space = is2022 ? POINTER_MINT_SPACE : MINT_SPACE;
  const list: Instruction[] = [
    getCreateAccountInstruction({
      payer: signerAt(reserve),
      newAccount: signerAt(mint),
      lamports: mintRent,
      space,
      programAddress: address(program),
    }),
  ];
  if (is2022) list.push(initializeMetadataPointer({ mint, authority: updateAuthority }));
  list.push(
    getInitializeMint2Instruction(
      {
        mint: address(mint),
        decimals,
        mintAuthority: address(reserve),
        freezeAuthority: design.revokeFreeze ? null : address(creator),
      },
      config,
    ),
  );
  if (is2022) list.push(...nameInstructions(design, mint, reserve));
  if (design.metaplex) list.push(metaplexName(design, mint, reserve));
  if (design.supply > 0n) list.push(...supplyInstructions(design, mint, reserve));
  list.push(
    getSetAuthorityInstruction(
      {
        owned: address(mint),
        owner: signerAt(reserve),
        authorityType: AuthorityType.MintTokens,
        newAuthority: design.revokeMint ? null : address(creator),
      },
      config,
    ),
  );
  return list;
}

/** The message of a creation; the reserve signs it first, then the mint's own key. */
export const creationMessage = (creation: {
  design: TokenDesign;
  mint: string;
  reserve: string;
  mintRent: bigint;
  lifetime: Lifetime;
}): Uint8Array =>
  compileMessage(
    creation.reserve,
    creation.lifetime,
    BUDGET,
    creationInstructions(creation.design, creation.mint, creation.reserve, creation.mintRent),
  );
