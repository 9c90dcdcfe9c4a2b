import { address, getProgramDerivedAddress } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { addressSeed, programAddress } from '../../../src/chain/solana/program-address.ts';
import {
  decodeMetaplexMetadata,
  METAPLEX_PROGRAM,
  metadataInMint,
  metaplexAddress,
} from '../../../src/chain/solana/token-metadata.ts';
import { type Mint, TOKEN_2022_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { metadataPointer, metaplexMetadata, tokenMetadata } from './token-bytes.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const OTHER = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const NAMES = { name: 'Café Coin ☕', symbol: 'CAFÉ', uri: 'https://example.org/c.json' };

const mintWith = (...extensions: [number, Uint8Array][]): Mint => ({
  ...{ program: TOKEN_2022_PROGRAM, mintAuthority: null, freezeAuthority: null, supply: 0n, decimals: 6 },
  ...{ extensions: new Map(extensions), hasUnreadBytes: false },
});

it('the metadata address of USDC is the one on mainnet', () => {
  expect(metaplexAddress(USDC)).toBe('5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq');
});

it('program addresses equal those of the Solana library', async () => {
  for (let index = 0; index < 40; index += 1) {
    const seeds = [Uint8Array.of(index, 255 - index), addressSeed(USDC)];
    const [peer] = await getProgramDerivedAddress({ programAddress: address(METAPLEX_PROGRAM), seeds });
    expect(programAddress(METAPLEX_PROGRAM, seeds)).toBe(peer);
  }
});

it('refuses a seed that is too long, and a program or seed that is not an address', () => {
  expect(() => programAddress('nope', [])).toThrow(RangeError);
  expect(() => programAddress(METAPLEX_PROGRAM, [new Uint8Array(33)])).toThrow(RangeError);
  expect(() => addressSeed('nope')).toThrow(RangeError);
});

it('reads the names of a Token-2022 mint that points at itself', () => {
  const mint = mintWith([18, metadataPointer(USDC)], [19, tokenMetadata(USDC, NAMES)]);
  expect(metadataInMint(USDC, mint)).toEqual(NAMES);
});

it('reads no names if pointer or metadata name another mint, or if either is missing or truncated', () => {
  const metadata = tokenMetadata(USDC, NAMES);
  const pointer = metadataPointer(USDC);
  expect(metadataInMint(USDC, mintWith([18, metadataPointer(OTHER)], [19, metadata]))).toBeUndefined();
  expect(metadataInMint(USDC, mintWith([18, pointer], [19, tokenMetadata(OTHER, NAMES)]))).toBeUndefined();
  expect(metadataInMint(USDC, mintWith([19, metadata]))).toBeUndefined();
  expect(metadataInMint(USDC, mintWith([18, pointer]))).toBeUndefined();
  expect(metadataInMint(USDC, mintWith([18, pointer], [19, metadata.slice(0, 70)]))).toBeUndefined();
  expect(metadataInMint(USDC, mintWith([18, pointer.slice(0, 40)], [19, metadata]))).toBeUndefined();
});

it('reads unpadded names from the Metaplex account of a mint, and none from that of another mint', () => {
  const bytes = metaplexMetadata(USDC, NAMES);
  expect(decodeMetaplexMetadata(USDC, bytes)).toEqual(NAMES);
  expect(decodeMetaplexMetadata(OTHER, bytes)).toBeUndefined();
  expect(decodeMetaplexMetadata(USDC, bytes.slice(0, 80))).toBeUndefined();
  expect(decodeMetaplexMetadata(USDC, new Uint8Array())).toBeUndefined();
  const otherKey = bytes.slice();
  otherKey[0] = 6;
  expect(decodeMetaplexMetadata(USDC, otherKey)).toBeUndefined();
});

it('reads no names from a Metaplex account whose name is longer than the data', () => {
  const bytes = metaplexMetadata(USDC, NAMES);
  new DataView(bytes.buffer).setUint32(65, 0xffff_ffff, true);
  expect(decodeMetaplexMetadata(USDC, bytes)).toBeUndefined();
});
