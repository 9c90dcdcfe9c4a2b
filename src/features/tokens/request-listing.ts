import {
  type ListedToken,
  type ListingFault,
  listingAccounts,
  listingFacts,
} from '../../chain/solana/listed-token.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import { type CacheReader, Miss } from '../../http/cached.ts';
import { faultWords } from './token-request.ts';
import type { TokenRow, TokenStore } from './token-store.ts';

export type RequestListingDeps = {
  readonly custody: Pick<CustodianApi, 'openRequest'>;
  /** A cache in this isolate's memory only. */
  readonly memory: CacheReader;
  readonly tokens: Pick<TokenStore, 'byId' | 'byMint' | 'listings'>;
  readonly readAccounts: (
    addresses: readonly string[],
  ) => Promise<{ accounts: readonly ({ readonly owner: string; readonly data: Uint8Array } | null)[] }>;
  readonly listingFee: bigint;
};

/** Maximum records read for one token. Unpaid requests may be newer than the record that listed the token. */
const MAX_RECORDS = 100;

/** Identifies a token by our number, or by its mint if it was created elsewhere. */
export type TokenName = { readonly tokenId: number } | { readonly mint: string };

/**
 * Opens a request to list a token; for a listed token, returns its listing record. All facts of an unlisted token are
 * read from the chain again, because the mint may have changed since an earlier request.
 * @throws AppError
 */
export async function requestListing(
  deps: RequestListingDeps,
  asked: TokenName,
  client: string,
): Promise<RequestView> {
  const token =
    'mint' in asked ? await deps.tokens.byMint(asked.mint) : await knownToken(deps, asked.tokenId);
  const listing = token?.listedAt == null ? undefined : await listingOf(deps, token.tokenId);
  if (listing) return listing;
  const subject = await readToken(deps, 'mint' in asked ? asked.mint : (token?.mint ?? ''));
  const opened = await deps.custody.openRequest({
    kind: 'listing',
    subject,
    baseFeeLamports: deps.listingFee,
    client,
  });
  if (opened.type === 'refused') throw refusalError(opened.refusal);
  return opened.request;
}

/** The record that listed a token: its creation, or a paid request. */
async function listingOf(deps: RequestListingDeps, tokenId: number): Promise<RequestView | undefined> {
  const records = await deps.tokens.listings(tokenId, MAX_RECORDS);
  return records.find(({ status }) => status === 'completed');
}

async function knownToken(deps: RequestListingDeps, tokenId: number): Promise<TokenRow> {
  const token = await deps.tokens.byId(tokenId);
  if (!token) throw new AppError('NOT_FOUND', 'There is no token with this id.');
  return token;
}

/** Each request reads the token again; only a miss is cached. */
const POLICY = { freshMs: 0, revalidateMs: 0, staleMs: 0 };

/** @throws AppError that states why the token cannot be listed */
async function readToken(deps: RequestListingDeps, mint: string): Promise<ListedToken> {
  const { value } = await deps.memory.read(`listing:${mint}`, POLICY, async () => {
    const [account, metaplex] = (await deps.readAccounts(listingAccounts(mint))).accounts;
    const facts = listingFacts(mint, account, metaplex);
    if (facts.type === 'listable') return facts.token;
    const error = faultError(facts.fault);
    throw facts.fault.type === 'not_a_mint' ? new Miss(error) : error;
  });
  return value;
}

function faultError(fault: ListingFault): AppError {
  switch (fault.type) {
    case 'not_a_mint':
      return new AppError('NOT_A_MINT', 'The chain has no token mint at this address.');
    case 'no_metadata':
      return new AppError(
        'NO_METADATA',
        'This token has no name on the chain, so a search could not find it.',
      );
    case 'text': {
      const message = `The token's ${fault.field} ${faultWords(fault.field, fault.fault, fault.text)}`;
      return new AppError('INVALID_TOKEN_TEXT', message, {
        details: { field: fault.field, fault: fault.fault },
      });
    }
    case 'powers':
      return new AppError(
        'LISTING_REFUSED',
        `A key or rule of this mint can take or stop the tokens of every holder: ${fault.powers.join(', ')}.`,
        { details: { powers: fault.powers } },
      );
  }
}
