/**
 * One transaction that makes a whole token: mint, metadata, supply to the creator, every authority where it belongs.
 * Either all of it lands or nothing does.
 * @module
 */

import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Instruction } from './instruction.ts';
import {
  createAccount,
  createAtaIdempotent,
  createMetaplexMetadata,
  findAta,
  initializeMetadata,
  initializeMetadataPointer,
  initializeMint,
  mintToChecked,
  setMetadataAuthority,
  setMintAuthority,
} from './token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './token-program.ts';
import { compileMessage, computeBudget, type Lifetime, SIGNATURE_FEE } from './transaction.ts';

export type TokenProgramName = 'token-2022' | 'token';

/** A token as its creator asked for it. */
export type TokenDesign = {
  readonly program: TokenProgramName;
  /** A Metaplex metadata account beside a classic mint. */
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

/** Compute units of the largest form with room: measured 40,000 with Token-2022 metadata, Metaplex takes 60,000. */
const UNITS = 200_000;
const UNIT_PRICE = 20_000n;
/** Network fee in lamports: two signatures, reserve and mint, and the priority fee. */
export const CREATION_FEE = 2n * SIGNATURE_FEE + (BigInt(UNITS) * UNIT_PRICE) / 1_000_000n;

/** A mint; with its metadata pointer: padding to 165, account type, one extension of 64 bytes. */
const MINT_SPACE = 82;
const POINTER_MINT_SPACE = 165 + 1 + 4 + 64;
/** Metadata extension: header, two keys, three texts with their lengths, an empty list. */
const METADATA_SPACE = 4 + 64 + 3 * 4 + 4;
/** Bytes of a Metaplex metadata account, whatever it holds. */
const METAPLEX_SPACE = 607;
/** Lamports that Metaplex keeps of each account it makes, beside the rent. */
export const METAPLEX_FEE = 10_000_000n;

const bytesOf = (text: string): number => utf8ToBytes(text).length;

/** Sizes in bytes of the accounts that a creation pays rent for. */
export function creationSpaces(design: TokenDesign): { mint: number; metadata: number; account: number } {
  const extended =
    POINTER_MINT_SPACE + METADATA_SPACE + bytesOf(design.name) + bytesOf(design.symbol) + bytesOf(design.uri);
  return {
    mint: design.program === 'token-2022' ? extended : MINT_SPACE,
    metadata: design.metaplex ? METAPLEX_SPACE : 0,
    // Token-2022 accounts made by the associated token program carry the immutable-owner extension.
    account: design.supply === 0n ? 0 : design.program === 'token-2022' ? 170 : 165,
  };
}

export const tokenProgramOf = (design: TokenDesign): string =>
  design.program === 'token-2022' ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;

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
  const { name, symbol, uri, decimals, creator } = design;
  const updateAuthority = design.revokeUpdate ? null : creator;
  const is2022 = design.program === 'token-2022';
  const space = is2022 ? POINTER_MINT_SPACE : MINT_SPACE;
  const list: Instruction[] = [
    createAccount({ payer: reserve, account: mint, lamports: mintRent, space, owner: program }),
  ];
  if (is2022) list.push(initializeMetadataPointer({ mint, authority: updateAuthority }));
  list.push(
    initializeMint({
      program,
      mint,
      decimals,
      mintAuthority: reserve,
      freezeAuthority: design.revokeFreeze ? null : creator,
    }),
  );
  if (is2022) {
    const first = updateAuthority ?? reserve;
    list.push(
      initializeMetadata({ mint, updateAuthority: first, mintAuthority: reserve, name, symbol, uri }),
    );
    if (updateAuthority === null) list.push(setMetadataAuthority({ mint, authority: reserve, next: null }));
  }
  if (design.metaplex) {
    const isMutable = !design.revokeUpdate;
    list.push(
      createMetaplexMetadata({
        mint,
        mintAuthority: reserve,
        payer: reserve,
        updateAuthority: creator,
        name,
        symbol,
        uri,
        isMutable,
      }),
    );
  }
  if (design.supply > 0n) {
    const account = findAta(creator, mint, program);
    list.push(createAtaIdempotent({ payer: reserve, owner: creator, mint, program }));
    list.push(mintToChecked({ program, mint, account, authority: reserve, atoms: design.supply, decimals }));
  }
  list.push(
    setMintAuthority({ program, mint, authority: reserve, next: design.revokeMint ? null : creator }),
  );
  return list;
}

/** The message of a creation; it is signed by the reserve and by the mint's own key, in this order. */
export const creationMessage = (p: {
  design: TokenDesign;
  mint: string;
  reserve: string;
  mintRent: bigint;
  lifetime: Lifetime;
}): Uint8Array =>
  compileMessage(p.reserve, p.lifetime, [
    ...computeBudget(UNITS, UNIT_PRICE),
    ...creationInstructions(p.design, p.mint, p.reserve, p.mintRent),
  ]);
