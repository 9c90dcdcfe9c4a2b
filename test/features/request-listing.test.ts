import { concatBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { METAPLEX_PROGRAM } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { OpenRequest } from '../../src/custody/api.ts';
import { requestListing, type TokenName } from '../../src/features/tokens/request-listing.ts';
import { Cache } from '../../src/http/cached.ts';
import { extended, keyBytes, metaplexMetadata } from '../chain/solana/token-bytes.ts';
import { wallet } from '../kit/addresses.ts';
import { eachScene } from '../kit/scenes.ts';
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

it.each([{ mint: MINT }, { tokenId: 7 }])(
  'a request for %j uses the facts of the chain, not the facts of an unlisted row',
  async (asked) => {
    const { subject } = await opened(classic, named('Moon', 'MOON'), asked);
    expect(subject).toMatchObject({ mint: MINT, name: 'Moon', symbol: 'MOON', decimals: 0, supply: '0' });
    await expect(opened(null, null, asked)).rejects.toMatchObject({ code: 'NOT_A_MINT' });
  },
);

/** Extensions of a mint: their number and their bytes. */
const POWERS: Readonly<Record<string, [number, Uint8Array]>> = {
  'permanent delegate': [12, keyBytes(wallet(9))],
  'accounts frozen by default': [6, Uint8Array.of(2)],
  'a pause': [26, concatBytes(keyBytes(wallet(9)), Uint8Array.of(0))],
  'a transfer hook': [14, concatBytes(keyBytes(wallet(9)), keyBytes(wallet(8)))],
};
eachScene(`
  nothing special            | Moon    | MOON | 200 | opened
  nothing special            | Moon    | MOON | 201 | INVALID_TOKEN_TEXT uri too_long
  nothing special            | ABSR    | MOON | 0   | INVALID_TOKEN_TEXT name reserved
  nothing special            | Moon    | А5RY | 0   | INVALID_TOKEN_TEXT symbol reserved
  nothing special            | Sl\u200buice | MOON | 0   | INVALID_TOKEN_TEXT name hidden_character
  a transfer hook            | Moon    | MOON | 0   | opened
  permanent delegate         | Moon    | MOON | 0   | LISTING_REFUSED permanent_delegate
  accounts frozen by default | Moon    | MOON | 0   | LISTING_REFUSED default_frozen
  a pause                    | Moon    | MOON | 0   | LISTING_REFUSED pausable
`)('listing a mint with %s, named %s (%s), whose uri has %s bytes: %s', async (...scene) => {
  const [power = '', name = '', symbol = '', length = '', outcome] = scene;
  const uri = 'https://a.test/'.padEnd(Number(length), 'u');
  const mint = POWERS[power] ? modern(POWERS[power]) : classic;
  const result = await opened(mint, named(name, symbol, length === '0' ? '' : uri)).then(
    ({ kind, subject }) => (kind === 'listing' && subject.name === name ? 'opened' : kind),
    ({ code, details }) => `${code} ${Object.values(details).flat().join(' ')}`,
  );
  expect(result).toBe(outcome);
});
