/**
 * Current facts about tokens from the chain: supply, authorities and powers over holders. Cached for a minute per mint, and read
 * for many mints in one call. While the chain cannot be read, the last facts are returned with their time.
 * @module
 */

import { type MintKeys, mintKeysOf } from '../../chain/solana/mint-keys.ts';
import {
  areNamesUnderstood,
  METAPLEX_PROGRAM,
  metadataOf,
  metaplexAddress,
  type TokenAuthorities,
  type TokenMetadata,
  tokenAuthorities,
} from '../../chain/solana/token-metadata.ts';
import { type TokenPower, tokenPowers } from '../../chain/solana/token-powers.ts';
import {
  decodeMint,
  type Mint,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../chain/solana/token-program.ts';
import type { Cache } from '../../http/cached.ts';
import type { RequestListingDeps } from './request-listing.ts';
import type { TokenRow } from './token-store.ts';

type Facts = TokenAuthorities & {
  /** Supply in atoms. */
  readonly supply: bigint;
  readonly decimals: number;
  readonly program: TokenRow['program'];
  /** The metadata as the creator wrote it; null if the mint has none that names it. */
  readonly metadata: TokenMetadata | null;
  readonly powers: readonly TokenPower[];
};
/** `asOf` in Unix milliseconds; `stale` if a later read has failed. */
export type TokenFacts = Facts & { readonly asOf: number; readonly stale: boolean };

export type TokenFactsDeps = {
  /** A cache in this isolate's memory only. */
  readonly memory: Pick<Cache, 'readMany'>;
  readonly readAccounts: RequestListingDeps['readAccounts'];
};

const POLICY = { freshMs: 60_000, revalidateMs: 0, staleMs: 15 * 60_000 };
/** Maximum addresses per call. */
const BATCH = 100;

/** The members of a token that determine which accounts contain its facts. */
export type FactsSubject = Pick<TokenRow, 'mint' | 'program' | 'requestId'>;

/**
 * The facts by mint: null for an address that is not a mint, absent while they cannot be read.
 * @param changedByOperations the service itself mints or burns these tokens
 */
export async function readTokenFacts(
  deps: TokenFactsDeps,
  tokens: readonly FactsSubject[],
  changedByOperations = false,
): Promise<ReadonlyMap<string, TokenFacts | null>> {
  const mints = tokens.map(({ mint }) => mint);
  const found = await deps.memory.readMany(mints, { ...POLICY, changedByOperations }, (missing) =>
    readFacts(
      deps,
      tokens.filter(({ mint }) => missing.includes(mint)),
    ),
  );
  return new Map([...found].map(([mint, { value, ...read }]) => [mint, value && { ...value, ...read }]));
}

/** Who can mint a token, from the account of its mint authority. Undefined while it cannot be read. */
export async function readMintKeys(
  deps: TokenFactsDeps,
  { program, mintAuthority }: TokenFacts,
): Promise<MintKeys | undefined> {
  if (mintAuthority === null) return { authority: null };
  const owner = program === 'token-2022' ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;
  const key = `keys:${owner}:${mintAuthority}`;
  const found = await deps.memory.readMany([key], POLICY, async () => {
    const [account = null] = (await deps.readAccounts([mintAuthority])).accounts;
    return new Map([[key, mintKeysOf(owner, mintAuthority, account)]]);
  });
  return found.get(key)?.value;
}

/** Null for a token that is not a mint on the chain. */
async function readFacts(
  { readAccounts }: TokenFactsDeps,
  tokens: readonly FactsSubject[],
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
      return [address, mint ? factsOf(address, mint, beside) : null];
    }),
  );
}

function factsOf(
  address: string,
  mint: Mint,
  beside: { readonly owner: string; readonly data: Uint8Array } | null | undefined,
): Facts {
  const metaplex = beside?.owner === METAPLEX_PROGRAM ? beside.data : undefined;
  const powers = tokenPowers(mint);
  const isUnknown = !powers.includes('unknown') && !areNamesUnderstood(address, mint, metaplex);
  return {
    supply: mint.supply,
    decimals: mint.decimals,
    program: mint.program === TOKEN_2022_PROGRAM ? 'token-2022' : 'token',
    metadata: metadataOf(address, mint, beside) ?? null,
    ...tokenAuthorities(address, mint, metaplex),
    powers: isUnknown ? [...powers, 'unknown'] : powers,
  };
}
