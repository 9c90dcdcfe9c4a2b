/** Metaplex's own client as a peer: the bytes that we send to its program, and the accounts of it that we read. */
import {
  createMetadataAccountV3,
  getMetadataAccountDataSerializer,
  Key,
  TokenStandard,
} from '@metaplex-foundation/mpl-token-metadata';
import {
  createNoopSigner,
  createNullContext,
  none,
  publicKey,
  type Signer,
  some,
} from '@metaplex-foundation/umi';
import { AccountRole } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import type { Mint } from '../../../src/chain/solana/mint.ts';
import { tokenAuthorities } from '../../../src/chain/solana/token-authorities.ts';
import { createMetaplexMetadata } from '../../../src/chain/solana/token-instructions.ts';
import { decodeMetaplexMetadata, metaplexAddress } from '../../../src/chain/solana/token-metadata-read.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { wallet } from '../../custody/asry-simulation.ts';

const [MINT, RESERVE, CREATOR] = [wallet(1), wallet(2), wallet(3)];
const blank = createNullContext();
/** Their client asks for nothing but the addresses of programs. */
const context: Parameters<typeof createMetadataAccountV3>[0] = {
  ...blank,
  programs: { ...blank.programs, getPublicKey: (_name, fallback) => publicKey(fallback ?? MINT) },
};

const text = (max: number) =>
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).map((each) => each.slice(0, max));

/** What their client would send for the same token. */
function theirs(p: Parameters<typeof createMetaplexMetadata>[0]) {
  const signer = (key: string): Signer => createNoopSigner(publicKey(key));
  const [built] = createMetadataAccountV3(context, {
    metadata: publicKey(metaplexAddress(p.mint)),
    mint: publicKey(p.mint),
    mintAuthority: signer(p.mintAuthority),
    payer: signer(p.payer),
    updateAuthority: publicKey(p.updateAuthority),
    data: {
      name: p.name,
      symbol: p.symbol,
      uri: p.uri,
      sellerFeeBasisPoints: 0,
      creators: none(),
      collection: none(),
      uses: none(),
    },
    isMutable: p.isMutable,
    collectionDetails: none(),
  }).getInstructions();
  if (!built) throw new Error('nothing was built');
  return built;
}

const isSigner = (role: AccountRole): boolean =>
  role === AccountRole.READONLY_SIGNER || role === AccountRole.WRITABLE_SIGNER;
const isWritable = (role: AccountRole): boolean =>
  role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER;

describe('CreateMetadataAccountV3', () => {
  it('is byte for byte and account for account what the client builds', () => {
    fc.assert(
      fc.property(text(32), text(10), fc.webUrl(), fc.boolean(), (name, symbol, uri, isMutable) => {
        const p = {
          mint: MINT,
          mintAuthority: RESERVE,
          payer: RESERVE,
          updateAuthority: CREATOR,
          name,
          symbol,
          uri,
          isMutable,
        };
        const [ours, peer] = [createMetaplexMetadata(p), theirs(p)];
        expect(String(ours.programAddress)).toBe(String(peer.programId));
        expect([...(ours.data ?? [])]).toEqual([...peer.data]);
        const roles = (ours.accounts ?? []).map(({ address, role }) => [
          String(address),
          isSigner(role),
          isWritable(role),
        ]);
        // Their program takes the rent account as an option; we leave it out as their client does.
        expect(roles).toEqual(peer.keys.map((key) => [String(key.pubkey), key.isSigner, key.isWritable]));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a metadata account as the client writes it', () => {
  const mint: Mint = {
    program: TOKEN_PROGRAM,
    mintAuthority: null,
    freezeAuthority: null,
    supply: 0n,
    decimals: 0,
    extensions: new Map(),
  };
  const account = (more: { isMutable?: boolean; creators?: number; name?: string } = {}): Uint8Array =>
    getMetadataAccountDataSerializer().serialize({
      key: Key.MetadataV1,
      updateAuthority: publicKey(CREATOR),
      mint: publicKey(MINT),
      name: more.name ?? 'Moon Cat',
      symbol: 'MCAT',
      uri: 'https://example.org/m.json',
      sellerFeeBasisPoints: 250,
      creators: more.creators
        ? some(
            Array.from({ length: more.creators }, (_, n) => ({
              address: publicKey(wallet(60 + n)),
              verified: n === 0,
              share: 10,
            })),
          )
        : none(),
      primarySaleHappened: true,
      isMutable: more.isMutable ?? true,
      editionNonce: some(254),
      tokenStandard: some(TokenStandard.Fungible),
      collection: none(),
      uses: none(),
      collectionDetails: none(),
      programmableConfig: none(),
    } as Parameters<ReturnType<typeof getMetadataAccountDataSerializer>['serialize']>[0]);

  it.each([0, 1, 5])('with %i creators is read with its names and its update authority', (creators) => {
    const data = account({ creators });
    expect(decodeMetaplexMetadata(MINT, data)).toEqual({
      name: 'Moon Cat',
      symbol: 'MCAT',
      uri: 'https://example.org/m.json',
    });
    expect(tokenAuthorities(mint, data).updateAuthority).toBe(CREATOR);
  });

  it('that can never change has no update authority; one that is cut or is none has none either', () => {
    expect(tokenAuthorities(mint, account({ isMutable: false })).updateAuthority).toBeNull();
    expect(tokenAuthorities(mint, account().slice(0, 100)).updateAuthority).toBeNull();
    expect(tokenAuthorities(mint, new Uint8Array(200)).updateAuthority).toBeNull();
    expect(tokenAuthorities(mint, undefined).updateAuthority).toBeNull();
  });
});

it('the update authority of a Token-2022 mint is in the mint, and all zero bytes are nobody', () => {
  const value = (key: number[]) =>
    new Map([[19, Uint8Array.from([...key, ...new Array<number>(32).fill(1)])]]);
  const mint = (extensions: ReadonlyMap<number, Uint8Array>): Mint => ({
    program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
    mintAuthority: CREATOR,
    freezeAuthority: RESERVE,
    supply: 1n,
    decimals: 0,
    extensions,
  });
  const key = Array.from({ length: 32 }, (_, n) => n + 1);
  expect(tokenAuthorities(mint(value(key)), undefined)).toEqual({
    mintAuthority: CREATOR,
    freezeAuthority: RESERVE,
    updateAuthority: encodeBase58(Uint8Array.from(key)),
  });
  expect(tokenAuthorities(mint(value(new Array<number>(32).fill(0))), undefined).updateAuthority).toBeNull();
});
