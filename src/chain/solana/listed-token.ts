/**
 * The facts of a listed token, read only from accounts on the chain. They are read for the request, and again before
 * the paid request lists the token.
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { metadataOf, metaplexAddress } from './token-metadata.ts';
import { REFUSED_POWERS, type TokenPower, tokenPowers } from './token-powers.ts';
import { decodeMint, TOKEN_2022_PROGRAM } from './token-program.ts';
import { MAX_NAME_BYTES, MAX_SYMBOL_BYTES, MAX_URI_BYTES, nameFault, type TextFault } from './token-text.ts';

/** Plain JSON: the subject of a listing request. */
export type ListedToken = {
  readonly mint: string;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly creator: null;
  readonly decimals: number;
  /** Atoms as decimal text. */
  readonly supply: string;
  readonly program: 'token' | 'token-2022';
};

/** The reason why a token cannot be listed. */
export type ListingFault =
  | { readonly type: 'not_a_mint' }
  | { readonly type: 'no_metadata' }
  | { readonly type: 'text'; readonly field: string; readonly fault: TextFault; readonly text: string }
  | { readonly type: 'powers'; readonly powers: readonly TokenPower[] };

export type ListingFacts =
  | { readonly type: 'listable'; readonly token: ListedToken }
  | { readonly type: 'refused'; readonly fault: ListingFault };

type Account = { readonly owner: string; readonly data: Uint8Array } | null | undefined;

/** The accounts from which `listingFacts` reads a token, in this order. */
export const listingAccounts = (mint: string): readonly [mint: string, metaplex: string] => [
  mint,
  metaplexAddress(mint),
];

/** @param metaplex the mint's Metaplex account, which is ignored if another program owns it */
export function listingFacts(address: string, account: Account, metaplex: Account): ListingFacts {
  const mint = account && decodeMint(account.owner, account.data);
  if (!mint) return refused({ type: 'not_a_mint' });
  const metadata = metadataOf(address, mint, metaplex);
  if (!metadata) return refused({ type: 'no_metadata' });
  const { name, symbol, uri } = metadata;
  const texts = [
    ['name', name, nameFault(name, MAX_NAME_BYTES)],
    ['symbol', symbol, nameFault(symbol, MAX_SYMBOL_BYTES)],
    ['uri', uri, utf8ToBytes(uri.toWellFormed()).length > MAX_URI_BYTES ? 'too_long' : undefined],
  ] as const;
  for (const [field, text, fault] of texts) if (fault) return refused({ type: 'text', field, fault, text });
  const powers = tokenPowers(mint).filter((power) => REFUSED_POWERS.includes(power));
  if (powers.length > 0) return refused({ type: 'powers', powers });
  return {
    type: 'listable',
    token: {
      mint: address,
      name,
      symbol,
      uri,
      creator: null,
      decimals: mint.decimals,
      supply: mint.supply.toString(),
      program: mint.program === TOKEN_2022_PROGRAM ? 'token-2022' : 'token',
    },
  };
}

const refused = (fault: ListingFault): ListingFacts => ({ type: 'refused', fault });
