/**
 * Current facts about tokens from the chain: supply, authorities and powers over holders. Cached for a minute per mint, and read
 * for many mints in one call. While the chain cannot be read, the last facts are returned with their time.
 * @module
 */

import {
  areNamesUnderstood,
  METAPLEX_PROGRAM,
  metaplexAddress,
  type TokenAuthorities,
  tokenAuthorities,
} from '../../chain/solana/token-metadata.ts';
import { type TokenPower, tokenPowers } from '../../chain/solana/token-powers.ts';
import { decodeMint, type Mint } from '../../chain/solana/token-program.ts';
import type { Cache } from '../../http/cached.ts';
import type { RequestListingDeps } from './request-listing.ts';
import type { TokenRow } from './token-store.ts';

type Facts = TokenAuthorities & {
  /** Atoms. */
  readonly supply: bigint;
  readonly powers: readonly TokenPower[];
};
/** `asOf` in Unix milliseconds. */
export type TokenFacts = Facts & { readonly asOf: number };

export type TokenFactsDeps = {
  /** This isolate's memory only. */
  readonly memory: Pick<Cache, 'readMany'>;
  readonly readAccounts: RequestListingDeps['readAccounts'];
};

const POLICY = { freshMs: 60_000, revalidateMs: 0, staleMs: 15 * 60_000 };
/** Maximum addresses per call. */
const BATCH = 100;

/** The facts by mint. A token that is no mint on the chain, or cannot be read, is absent. */
export async function readTokenFacts(
  d: TokenFactsDeps,
  tokens: readonly TokenRow[],
): Promise<ReadonlyMap<string, TokenFacts>> {
  const mints = tokens.map(({ mint }) => mint);
  const found = await d.memory.readMany(mints, POLICY, (missing) =>
    readFacts(
      d,
      tokens.filter(({ mint }) => missing.includes(mint)),
    ),
  );
  return new Map(
    [...found].flatMap(([mint, { value, asOf }]) => (value ? [[mint, { ...value, asOf }] as const] : [])),
  );
}

/** Null for a token that is no mint on the chain. */
async function readFacts(
  { readAccounts }: TokenFactsDeps,
  tokens: readonly TokenRow[],
): Promise<ReadonlyMap<string, Facts | null>> {
  // Token-2022 tokens created here contain their name; any other may have it in a Metaplex account.
  const addresses = tokens.flatMap(({ mint, program, requestId }) =>
    program === 'token' || requestId === null ? [mint, metaplexAddress(mint)] : [mint],
  );
  const found = new Map<string, { owner: string; data: Uint8Array } | null>();
  const batches = Array.from({ length: Math.ceil(addresses.length / BATCH) }, (_, at) =>
    addresses.slice(at * BATCH, (at + 1) * BATCH),
  );
  await Promise.all(
    batches.map(async (batch) => {
      const { accounts } = await readAccounts(batch);
      for (const [index, address] of batch.entries()) found.set(address, accounts[index] ?? null);
    }),
  );
  return new Map(
    tokens.map(({ mint: address }) => {
      const account = found.get(address);
      const mint = account ? decodeMint(account.owner, account.data) : undefined;
      const beside = found.get(metaplexAddress(address));
      const metaplex = beside?.owner === METAPLEX_PROGRAM ? beside.data : undefined;
      return [address, mint ? factsOf(address, mint, metaplex) : null];
    }),
  );
}

function factsOf(address: string, mint: Mint, metaplex: Uint8Array | undefined): Facts {
  const powers = tokenPowers(mint);
  const isUnknown = !powers.includes('unknown') && !areNamesUnderstood(address, mint, metaplex);
  return {
    supply: mint.supply,
    ...tokenAuthorities(address, mint, metaplex),
    powers: isUnknown ? [...powers, 'unknown'] : powers,
  };
}
