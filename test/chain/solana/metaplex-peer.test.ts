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
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import { createMetaplexMetadata } from '../../../src/chain/solana/token-instructions.ts';
import {
  decodeMetaplexMetadata,
  metaplexAddress,
  tokenAuthorities,
} from '../../../src/chain/solana/token-metadata.ts';
import { type Mint, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { wallet } from '../../kit/addresses.ts';

const [MINT, RESERVE, CREATOR] = [wallet(1), wallet(2), wallet(3)];
const blank = createNullContext();
/** Their client needs only the addresses of programs. */
const context: Parameters<typeof createMetadataAccountV3>[0] = {
  ...blank,
  programs: { ...blank.programs, getPublicKey: (_name, fallback) => publicKey(fallback ?? MINT) },
};

const text = (max: number) =>
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).map((each) => each.slice(0, max));

/** The instruction that their client would send for the same token. */
function theirs(p: Parameters<typeof createMetaplexMetadata>[0]) {
  const signer = (key: string): Signer => createNoopSigner(publicKey(key));
  const [built] = createMetadataAccountV3(context, {
    metadata: publicKey(metaplexAddress(p.mint)),
    mint: publicKey(p.mint),
    mintAuthority: signer(p.mintAuthority),
    payer: signer(p.payer),
    updateAuthority: publicKey(p.updateAuthority),
    data: {
      ...{ name: p.name, symbol: p.symbol, uri: p.uri, sellerFeeBasisPoints: 0 },
      ...{ creators: none(), collection: none(), uses: none() },
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

it("our CreateMetadataAccountV3 equals the client's instruction in every byte and account", () => {
  fc.assert(
    fc.property(text(32), text(10), fc.webUrl(), fc.boolean(), (name, symbol, uri, isMutable) => {
      const authorities = { mint: MINT, mintAuthority: RESERVE, payer: RESERVE, updateAuthority: CREATOR };
      const terms = { ...authorities, name, symbol, uri, isMutable };
      const [ours, peer] = [createMetaplexMetadata(terms), theirs(terms)];
      expect(String(ours.programAddress)).toBe(String(peer.programId));
      expect([...(ours.data ?? [])]).toEqual([...peer.data]);
      const roles = (ours.accounts ?? []).map(({ address, role }) => {
        return [String(address), isSigner(role), isWritable(role)];
      });
      // Their program takes the rent account as an option; we leave it out as their client does.
      expect(roles).toEqual(peer.keys.map((key) => [String(key.pubkey), key.isSigner, key.isWritable]));
    }),
    { numRuns: 200 },
  );
});

describe('a metadata account as the client writes it', () => {
  const mint: Mint = {
    ...{ program: TOKEN_PROGRAM, mintAuthority: null, freezeAuthority: null, supply: 0n, decimals: 0 },
    ...{ extensions: new Map(), hasUnreadBytes: false },
  };
  const account = (more: { isMutable?: boolean; creators?: number; name?: string } = {}): Uint8Array =>
    getMetadataAccountDataSerializer().serialize({
      ...{ key: Key.MetadataV1, updateAuthority: publicKey(CREATOR), mint: publicKey(MINT) },
      ...{ name: more.name ?? 'Moon Cat', symbol: 'MCAT', uri: 'https://example.org/m.json' },
      sellerFeeBasisPoints: 250,
      creators: more.creators
        ? some(
            Array.from({ length: more.creators }, (_, n) => ({
              ...{ address: publicKey(wallet(60 + n)), verified: n === 0, share: 10 },
            })),
          )
        : none(),
      ...{ primarySaleHappened: true, isMutable: more.isMutable ?? true, editionNonce: some(254) },
      ...{ tokenStandard: some(TokenStandard.Fungible), collection: none(), uses: none() },
      ...{ collectionDetails: none(), programmableConfig: none() },
    } as Parameters<ReturnType<typeof getMetadataAccountDataSerializer>['serialize']>[0]);

  it.each([0, 1, 5])('an account with %i creators is read with its names and authority', (creators) => {
    const data = account({ creators });
    const names = { name: 'Moon Cat', symbol: 'MCAT', uri: 'https://example.org/m.json' };
    expect(decodeMetaplexMetadata(MINT, data)).toEqual(names);
    expect(tokenAuthorities(MINT, mint, data).updateAuthority).toBe(CREATOR);
  });

  it('an immutable, truncated or missing metadata account has no update authority', () => {
    const unused = [account({ isMutable: false }), account().slice(0, 100), new Uint8Array(200), undefined];
    for (const data of unused) expect(tokenAuthorities(MINT, mint, data).updateAuthority).toBeNull();
  });
});

describe('the update authority of a Token-2022 mint', () => {
  const NOBODY = '11111111111111111111111111111111';
  const [TURNER, KEEPER] = [wallet(81), wallet(82)];
  const texts = [4, 0, 0, 0, 77, 111, 111, 110, 1, 0, 0, 0, 77, 0, 0, 0, 0, 0, 0, 0, 0];
  const pointer = (authority: string, target: string): [number, Uint8Array] => [
    18,
    Uint8Array.from([...addressSeed(authority), ...addressSeed(target)]),
  ];
  const names = (authority: string, of = MINT): [number, Uint8Array] => [
    19,
    Uint8Array.from([...addressSeed(authority), ...addressSeed(of), ...texts]),
  ];
  const mint = (...extensions: [number, Uint8Array][]): Mint => ({
    ...{ program: TOKEN_2022_PROGRAM, mintAuthority: CREATOR, freezeAuthority: RESERVE, supply: 1n },
    ...{ decimals: 0, extensions: new Map(extensions), hasUnreadBytes: false },
  });
  /** Metaplex's account of the same mint, which its update authority may change. */
  const beside = Uint8Array.from([
    ...[4, ...addressSeed(KEEPER), ...addressSeed(MINT), ...texts.slice(0, -4)],
    ...[0, 0, 0, 0, 1],
  ]);

  it('the update authority of a Token-2022 mint is read from the mint, and all zero bytes mean none', () => {
    const own = { mintAuthority: CREATOR, freezeAuthority: RESERVE, updateAuthority: CREATOR };
    expect(tokenAuthorities(MINT, mint(pointer(NOBODY, MINT), names(CREATOR)), undefined)).toEqual(own);
    const fixed = mint(pointer(NOBODY, MINT), names(NOBODY));
    expect(tokenAuthorities(MINT, fixed, undefined).updateAuthority).toBeNull();
    // A mint that names itself has that name, regardless of a Metaplex account.
    expect(tokenAuthorities(MINT, fixed, beside).updateAuthority).toBeNull();
  });

  it('the update authority of a Token-2022 mint is the authority over the pointer if the metadata itself is immutable', () => {
    const turned = mint(pointer(TURNER, MINT), names(NOBODY));
    expect(tokenAuthorities(MINT, turned, undefined).updateAuthority).toBe(TURNER);
  });

  it('the update authority comes from the Metaplex account if the metadata inside the mint is not used', () => {
    for (const unused of [
      mint(names(NOBODY)),
      mint(pointer(NOBODY, wallet(83)), names(NOBODY)),
      mint(pointer(NOBODY, MINT), names(NOBODY, wallet(84))),
      mint(pointer(NOBODY, MINT)),
    ])
      expect(tokenAuthorities(MINT, unused, beside).updateAuthority).toBe(KEEPER);
  });

  it('reads the update authority of a Token-2022 mint from any bytes without an exception', () => {
    const odd = mint([18, Uint8Array.of(1)], [19, Uint8Array.of(1)]);
    expect(tokenAuthorities(MINT, odd, undefined).updateAuthority).toBeNull();
  });
});
