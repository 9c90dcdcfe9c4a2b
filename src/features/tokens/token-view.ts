/**
 * One token as callers see it: its row, with current facts from the chain.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { isAddress } from '../../chain/solana/address.ts';
import { minterOf } from '../../chain/solana/mint-keys.ts';
import { TOKEN_POWERS } from '../../chain/solana/token-powers.ts';
import {
  isWellKnown,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  nameFault,
} from '../../chain/solana/token-text.ts';
import { formatAmount } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { OfficialAsset, OfficialMints } from '../../core/official-tokens.ts';
import { component } from '../../http/router.ts';
import { instant } from '../payments/paid-request.ts';
import {
  type FactsSubject,
  readMintKeys,
  readTokenFacts,
  type TokenFacts,
  type TokenFactsDeps,
} from './token-facts.ts';
import type { TokenRow, TokenStore } from './token-store.ts';

export type TokenReads = {
  readonly tokens: TokenStore;
  readonly facts: TokenFactsDeps;
  readonly officialMints: OfficialMints;
  readonly reserve: { readonly solanaAddress: string | null };
};

const authority = (role: string) =>
  z.string().nullable().describe(`${role}; null with a non-null as_of means renounced`);

const tokenShape = {
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
  supply: z.string().describe('Smallest units'),
  supply_ui: z.string().describe('Whole tokens'),
  mint_address: z.string(),
  creator_address: z.string().nullable(),
  token_program: z.enum(['token', 'token-2022']),
  mint_authority: authority('Address that can mint more'),
  freeze_authority: authority('Address that can freeze token accounts'),
  update_authority: authority('Address that can change name, symbol and uri'),
  powers: z
    .array(z.enum(TOKEN_POWERS))
    .nullable()
    .describe('What keys or rules of the mint can do to every holder; null if it was not read'),
  as_of: instant
    .nullable()
    .describe(
      'When supply, authorities and powers were read from the chain; null when they could not be read',
    ),
  stale: z.boolean().describe('True when the mint could not be read now, or is gone: the facts are older'),
  description: z.string(),
  image: z.string().nullable(),
  uri: z.string().nullable(),
  listed_at: instant.nullable(),
  warning: z.literal('well_known_name').nullable(),
};

export const Token = component('Token', { id: z.int(), ...tokenShape, created_at: instant });

export const TokenRecord = component('TokenRecord', {
  id: z.int().nullable().describe('null for an official token'),
  ...tokenShape,
  created_at: instant.nullable().describe('null for an official token'),
  official: z
    .object({
      asset: z.enum(['ABSR', 'ASRY']),
      minter: z
        .string()
        .nullable()
        .describe(
          'Who can mint more, from the chain: `nobody`, `reserve` (its key alone), `two_keys` (that key and a witness together), or `other`; null when unread',
        ),
    })
    .nullable()
    .describe("The service's own token with this mint; null for every other token"),
});

/** The members that describe a token, without its number and creation time in this service. */
type Described = Omit<TokenRow, 'tokenId' | 'requestId' | 'createdAt'>;

/** @param facts current data from the chain; null for an address that is not a mint, undefined when it cannot be read */
const described = (token: Described, facts: TokenFacts | null | undefined) => {
  // A mint that was closed and created again may have different decimals and a different program.
  const { decimals, supply, program } = facts ?? token;
  // Metadata that can change may take a well-known name after the listing.
  const names = new Set([
    token.name,
    token.symbol,
    facts?.metadata?.name ?? '',
    facts?.metadata?.symbol ?? '',
  ]);
  return {
    name: token.name,
    symbol: token.symbol,
    decimals,
    supply: supply.toString(),
    supply_ui: formatAmount(supply, decimals),
    mint_address: token.mint,
    creator_address: token.creator,
    token_program: program,
    mint_authority: facts?.mintAuthority ?? null,
    freeze_authority: facts?.freezeAuthority ?? null,
    update_authority: facts?.updateAuthority ?? null,
    powers: facts ? [...facts.powers] : null,
    as_of: facts ? new Date(facts.asOf).toISOString() : null,
    stale: facts?.stale ?? true,
    description: token.description,
    image: token.image,
    uri: token.uri,
    listed_at: token.listedAt === null ? null : new Date(token.listedAt).toISOString(),
    // Wallets show names unchanged, so the name of a well-known token does not show who created this one.
    warning: [...names].some(isWellKnown) ? ('well_known_name' as const) : null,
  };
};

const tokenBody = (token: TokenRow, facts: TokenFacts | null | undefined) => ({
  id: token.tokenId,
  ...described(token, facts),
  created_at: new Date(token.createdAt).toISOString(),
});

export async function tokenBodies({ facts }: Pick<TokenReads, 'facts'>, tokens: readonly TokenRow[]) {
  const found = await readTokenFacts(facts, tokens);
  return tokens.map((token) => tokenBody(token, found.get(token.mint)));
}

/** @throws AppError UPSTREAM_FAILED */
async function officialBody({ facts: deps, reserve }: TokenReads, mint: string, asset: OfficialAsset) {
  const facts = await factsNow(deps, { mint, program: 'token', requestId: null }, true);
  if (facts === null) return undefined;
  const { supply, decimals, program, metadata } = facts;
  const keys = await readMintKeys(deps, facts);
  const token = described(
    {
      ...{ mint, name: asset, symbol: asset, decimals, supply, program, creator: null, description: '' },
      ...{ image: null, uri: acceptableUri(metadata?.uri), listedAt: null },
    },
    facts,
  );
  const minter = keys ? minterOf(keys, reserve.solanaAddress) : null;
  return { ...token, id: null, created_at: null, warning: null, official: { asset, minter } };
}

/** The facts of a mint from the chain; null for an address that is not a mint. @throws AppError UPSTREAM_FAILED */
async function factsNow(
  deps: TokenFactsDeps,
  subject: FactsSubject,
  changedByOperations = false,
): Promise<TokenFacts | null> {
  const facts = (await readTokenFacts(deps, [subject], changedByOperations)).get(subject.mint);
  if (facts === undefined) throw upstreamFailed('solana-read', 'unreachable');
  return facts;
}

const acceptable = (text: string | undefined, maxBytes: number): string =>
  text === undefined || nameFault(text, maxBytes) ? '' : text;

const acceptableUri = (uri: string | undefined): string | null =>
  uri === undefined || uri === '' || utf8ToBytes(uri.toWellFormed()).length > MAX_URI_BYTES ? null : uri;

/** An unlisted token as the chain shows it now. Its row is not shown, because its listing is not paid. */
const asOnChain = (row: TokenRow, { supply, decimals, program, metadata }: TokenFacts): TokenRow => ({
  ...row,
  name: acceptable(metadata?.name, MAX_NAME_BYTES),
  symbol: acceptable(metadata?.symbol, MAX_SYMBOL_BYTES),
  uri: acceptableUri(metadata?.uri),
  ...{ supply, decimals, program, description: '', image: null },
});

/**
 * One token. An official or unlisted token is read from the chain only: if no node responds, the read fails.
 * @param id numeric id, or mint address
 * @throws AppError UPSTREAM_FAILED
 */
export async function readToken(
  deps: TokenReads,
  id: string,
): Promise<z.infer<typeof TokenRecord> | undefined> {
  const asset = deps.officialMints.get(id);
  if (asset) return officialBody(deps, id, asset);
  const row = await findToken(deps.tokens, id);
  if (!row) return undefined;
  if (row.listedAt !== null) {
    const found = await readTokenFacts(deps.facts, [row]);
    return { ...tokenBody(row, found.get(row.mint)), official: null };
  }
  const facts = await factsNow(deps.facts, row);
  return facts === null ? undefined : { ...tokenBody(asOnChain(row, facts), facts), official: null };
}

/** @param id numeric id, or mint address */
async function findToken(tokens: TokenStore, id: string): Promise<TokenRow | undefined> {
  if (/^[1-9]\d{0,14}$/.test(id)) return tokens.byId(Number(id));
  return isAddress(id) ? tokens.byMint(id) : undefined;
}
