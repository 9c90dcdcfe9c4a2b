import { concatBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { METAPLEX_PROGRAM } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { OpenRequest } from '../../src/custody/api.ts';
import { requestListing, type TokenName } from '../../src/features/tokens/request-listing.ts';
import { Cache } from '../../src/http/cached.ts';
import { borshString, extended, keyBytes, metaplexMetadata } from '../chain/solana/token-bytes.ts';
import { wallet } from '../kit/addresses.ts';
import { tokenRow } from '../kit/token-accounts.ts';

const MINT = wallet(1);
const plain = new Uint8Array(82);
plain[45] = 1;

/** The row of an earlier request, which was never paid. */
const UNLISTED = tokenRow({ tokenId: 7, mint: MINT, name: 'Old', symbol: 'OLD', supply: 5n, listedAt: null });

type Chain = { readonly owner: string; readonly data: Uint8Array } | null;
const classic: Chain = { owner: TOKEN_PROGRAM, data: plain };
const modern = (...extensions: [number, Uint8Array][]): Chain => ({
  owner: TOKEN_2022_PROGRAM,
  data: extended(plain, 1, extensions),
});
const named = (name: string, symbol: string, uri = ''): Chain => ({
  owner: METAPLEX_PROGRAM,
  data: metaplexMetadata(MINT, { name, symbol, uri }),
});

/** The request that reaches the custodian. @throws the refusal of the listing */
async function opened(mint: Chain, metaplex: Chain, asked: TokenName = { mint: MINT }): Promise<OpenRequest> {
  let found: OpenRequest | undefined;
  await requestListing(
    {
      custody: {
        async openRequest(request) {
          found = request;
          return { type: 'refused', refusal: { code: 'TOO_MANY_OPEN_REQUESTS', message: 'opened' } };
        },
      },
      tokens: { byId: async () => UNLISTED, byMint: async () => UNLISTED, listings: async () => [] },
      readAccounts: async () => ({ accounts: [mint, metaplex] }),
      memory: new Cache({ now: Date.now, defer: () => undefined }),
      listingFee: 1n,
    },
    asked,
    'client',
  ).catch((error: unknown) => {
    if (!found) throw error;
  });
  if (!found) throw new Error('no request was opened');
  return found;
}

it.each([
  [200, 'opened'],
  [201, 'INVALID_TOKEN_TEXT'],
])('a listing request for a token whose uri has %i bytes results in: %s', async (length, outcome) => {
  const texts = ['Moon', 'MOON', `https://a.test/${'u'.repeat(length - 15)}`].map((text) =>
    borshString(text),
  );
  const data = concatBytes(Uint8Array.of(4), keyBytes(wallet(2)), keyBytes(MINT), ...texts);
  const result = opened(classic, { owner: METAPLEX_PROGRAM, data });
  if (outcome === 'opened') await expect(result).resolves.toMatchObject({ kind: 'listing' });
  else await expect(result).rejects.toMatchObject({ code: outcome });
});

it.each([{ mint: MINT }, { tokenId: 7 }])(
  'the facts of a request for %j are those of the chain, not those of an unlisted row',
  async (asked) => {
    const { subject } = await opened(classic, named('Moon', 'MOON'), asked);
    expect(subject).toMatchObject({ mint: MINT, name: 'Moon', symbol: 'MOON', decimals: 0, supply: '0' });
    await expect(opened(null, null, asked)).rejects.toMatchObject({ code: 'NOT_A_MINT' });
  },
);

it.each([
  ['permanent_delegate', 12, keyBytes(wallet(9))],
  ['default_frozen', 6, Uint8Array.of(2)],
  ['pausable', 26, concatBytes(keyBytes(wallet(9)), Uint8Array.of(0))],
])('a mint with the power %s is not listed', async (power, type, value) => {
  await expect(opened(modern([type, value]), named('Moon', 'MOON'))).rejects.toMatchObject({
    code: 'LISTING_REFUSED',
    details: { powers: [power] },
  });
});

it('a mint with a transfer hook may be listed', async () => {
  const hook = modern([14, concatBytes(keyBytes(wallet(9)), keyBytes(wallet(8)))]);
  await expect(opened(hook, named('Moon', 'MOON'))).resolves.toMatchObject({ subject: { name: 'Moon' } });
});

it.each([
  ['ABSR', 'MOON', 'name'],
  ['Moon', 'А5RY', 'symbol'],
  ['Sl​uice', 'MOON', 'name'],
])('a token named %j (%j) is not listed', async (name, symbol, field) => {
  await expect(opened(classic, named(name, symbol))).rejects.toMatchObject({
    code: 'INVALID_TOKEN_TEXT',
    details: { field },
  });
});
