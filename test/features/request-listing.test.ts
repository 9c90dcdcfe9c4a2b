import { concatBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { METAPLEX_PROGRAM } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { OpenRequest } from '../../src/custody/api.ts';
import { requestListing } from '../../src/features/tokens/request-listing.ts';
import { borshString, keyBytes } from '../chain/solana/token-bytes.ts';
import { wallet } from '../kit/addresses.ts';

it.each([
  [200, 'opened'],
  [201, 'INVALID_TOKEN_TEXT'],
])('a listing request for a token whose uri has %i bytes results in: %s', async (length, outcome) => {
  const address = wallet(1);
  const mint = new Uint8Array(82);
  mint[45] = 1;
  const texts = ['Moon', 'MOON', `https://a.test/${'u'.repeat(length - 15)}`].map((text) =>
    borshString(text),
  );
  const metadata = concatBytes(Uint8Array.of(4), keyBytes(wallet(2)), keyBytes(address), ...texts);
  const opened: OpenRequest[] = [];
  const result = requestListing(
    {
      custody: {
        async openRequest(request) {
          opened.push(request);
          return { type: 'refused', refusal: { code: 'TOO_MANY_OPEN_REQUESTS', message: 'opened' } };
        },
      },
      tokens: { byId: async () => undefined, byMint: async () => undefined, listings: async () => [] },
      readAccounts: async () => ({
        accounts: [
          { owner: TOKEN_PROGRAM, data: mint },
          { owner: METAPLEX_PROGRAM, data: metadata },
        ],
      }),
      takeChainRead: () => undefined,
      listingFee: 1n,
    },
    { mint: address },
    'client',
  );
  const code = outcome === 'opened' ? 'TOO_MANY_OPEN_REQUESTS' : outcome;
  await expect(result).rejects.toMatchObject({ code });
  expect(opened).toHaveLength(outcome === 'opened' ? 1 : 0);
});
