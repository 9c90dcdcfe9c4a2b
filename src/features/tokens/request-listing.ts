import { utf8ToBytes } from '@noble/hashes/utils.js';
import { metadataOf, metaplexAddress } from '../../chain/solana/token-metadata.ts';
import { decodeMint, type Mint, TOKEN_2022_PROGRAM } from '../../chain/solana/token-program.ts';
import { MAX_NAME_BYTES, MAX_SYMBOL_BYTES, MAX_URI_BYTES, textFault } from '../../chain/solana/token-text.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import type { CustodianApi, RequestView } from '../../custody/api.ts';
import { faultWords } from './token-request.ts';
import type { TokenRow, TokenStore } from './token-store.ts';

export type RequestListingDeps = {
  readonly custody: Pick<CustodianApi, 'openRequest'>;
  /** Counts reads of the chain for an unpaid request. @throws AppError RATE_LIMITED for the client's own share */
  readonly takeChainRead: (client: string) => void;
  readonly tokens: Pick<TokenStore, 'byId' | 'byMint' | 'listings'>;
  readonly readAccounts: (
    addresses: readonly string[],
  ) => Promise<{ accounts: readonly ({ readonly owner: string; readonly data: Uint8Array } | null)[] }>;
  readonly listingFee: bigint;
};

/** Maximum records read of one token, because unpaid requests may be newer than the record that listed it. */
const MAX_RECORDS = 100;

/** Names a token by our number, or by its mint if it was created elsewhere. */
export type ListedToken = { readonly tokenId: number } | { readonly mint: string };

/**
 * Opens a request to list a token; for a listed token, returns its listing record. Name and symbol are read
 * from the chain, never taken from the caller.
 * @throws AppError
 */
export async function requestListing(
  d: RequestListingDeps,
  listed: ListedToken,
  client: string,
): Promise<RequestView> {
  const token = 'mint' in listed ? await d.tokens.byMint(listed.mint) : await knownToken(d, listed.tokenId);
  const listing = token?.listedAt == null ? undefined : await listingOf(d, token.tokenId);
  if (listing) return listing;
  if (!token) d.takeChainRead(client);
  const subject = token ? subjectOf(token) : await readToken(d, 'mint' in listed ? listed.mint : '');
  const opened = await d.custody.openRequest({
    kind: 'listing',
    subject,
    baseFeeLamports: d.listingFee,
    client,
  });
  if (opened.type === 'refused') throw refusalError(opened.refusal);
  return opened.request;
}

/** The record that listed a token: of its creation, or of a paid request. */
async function listingOf(d: RequestListingDeps, tokenId: number): Promise<RequestView | undefined> {
  const records = await d.tokens.listings(tokenId, MAX_RECORDS);
  return records.find(({ status }) => status === 'completed');
}

async function knownToken(d: RequestListingDeps, tokenId: number): Promise<TokenRow> {
  const token = await d.tokens.byId(tokenId);
  if (!token) throw new AppError('NOT_FOUND', 'There is no token with this id.');
  return token;
}

const subjectOf = (token: TokenRow) => ({
  mint: token.mint,
  name: token.name,
  symbol: token.symbol,
  decimals: token.decimals,
  supply: token.supply.toString(),
  program: token.program,
  creator: token.creator,
  uri: token.uri,
});

/** Mint and metadata of a token, from either token program and either metadata standard. */
async function readToken(d: RequestListingDeps, address: string) {
  const [account, beside] = (await d.readAccounts([address, metaplexAddress(address)])).accounts;
  const mint = account && decodeMint(account.owner, account.data);
  if (!mint) throw new AppError('NOT_A_MINT', 'The chain has no token mint at this address.');
  const metadata = metadataOf(address, mint, beside);
  if (!metadata) {
    throw new AppError('NO_METADATA', 'This token has no name on the chain, so a search could not find it.');
  }
  const { name, symbol, uri } = metadata;
  for (const [field, text, maximum] of [
    ['name', name, MAX_NAME_BYTES],
    ['symbol', symbol, MAX_SYMBOL_BYTES],
  ] as const) {
    const fault = textFault(text, maximum);
    if (fault)
      throw new AppError('INVALID_TOKEN_TEXT', `The token's ${field} ${faultWords(field, fault, text)}`, {
        details: { field, fault },
      });
  }
  if (utf8ToBytes(uri.toWellFormed()).length > MAX_URI_BYTES)
    throw new AppError('INVALID_TOKEN_TEXT', `The token's uri ${faultWords('uri', 'too_long', uri)}`, {
      details: { field: 'uri', fault: 'too_long' },
    });
  return { mint: address, name, symbol, uri, creator: null, ...facts(mint) };
}

const facts = (mint: Mint) => ({
  decimals: mint.decimals,
  supply: mint.supply.toString(),
  program: mint.program === TOKEN_2022_PROGRAM ? 'token-2022' : 'token',
});
