/**
 * A mint: the number of existing atoms of a token and its decimals.
 * @see solana-program/token interface/src/state.rs (`Mint`)
 * @module
 */
import { createByteReader } from './byte-reader.ts';
import { tokenExtensions } from './token-program.ts';

export type Mint = {
  /** The program that owns the mint. */
  readonly program: string;
  /** Mint authority; null if none. */
  readonly mintAuthority: string | null;
  /** Freeze authority; null if none. */
  readonly freezeAuthority: string | null;
  /** Atoms. */
  readonly supply: bigint;
  readonly decimals: number;
  /** Values by type; empty under the classic program. */
  readonly extensions: ReadonlyMap<number, Uint8Array>;
};

/**
 * @param owner program that owns the account
 * @returns undefined for anything except an initialized mint
 */
export function decodeMint(owner: string, data: Uint8Array): Mint | undefined {
  const extensions = tokenExtensions(owner, data, 'mint');
  if (!extensions) return undefined;
  const read = createByteReader(data);
  const hasAuthority = read.u32() === 1;
  const authority = read.address();
  const supply = read.u64();
  const decimals = read.u8();
  if (read.u8() === 0) return undefined;
  const canFreeze = read.u32() === 1;
  const freezer = read.address();
  return {
    program: owner,
    mintAuthority: hasAuthority ? authority : null,
    freezeAuthority: canFreeze ? freezer : null,
    supply,
    decimals,
    extensions,
  };
}
