/**
 * Current facts about tokens from the chain: supply and authorities. Cached for a minute per mint, and read
 * for many mints in one call. While the chain cannot be read, the last facts are returned with their time.
 * @module
 */

import {
  METAPLEX_PROGRAM,
  metaplexAddress,
  type TokenAuthorities,
  tokenAuthorities,
} from '../../chain/solana/token-metadata.ts';
import { decodeMint } from '../../chain/solana/token-program.ts';
import type { RequestListingDeps } from './request-listing.ts';
import type { TokenRow } from './token-store.ts';

export type TokenFacts = TokenAuthorities & {
  /** Atoms. */
  readonly supply: bigint;
  /** Unix milliseconds. */
  readonly asOf: number;
};

type Entry = { readonly asOf: number; readonly facts: TokenFacts | undefined };

const FRESH_MS = 60_000;
/** Older facts are discarded. */
const STALE_MS = 15 * 60_000;
/** Pause after a failed read of the chain. */
const PAUSE_MS = 5_000;
const MAX_REMEMBERED = 2_000;
/** Maximum addresses per call. */
const BATCH = 100;

export type ReadTokenFacts = (tokens: readonly TokenRow[]) => Promise<ReadonlyMap<string, TokenFacts>>;

export function createTokenFacts(d: {
  readAccounts: RequestListingDeps['readAccounts'];
  now: () => number;
}): ReadTokenFacts {
  const known = new Map<string, Entry>();
  let pausedUntil = 0;

  async function load(tokens: readonly TokenRow[]): Promise<void> {
    // Token-2022 tokens created here contain their name; any other may have it in a Metaplex account.
    const addresses = tokens.flatMap(({ mint, program, requestId }) =>
      program === 'token' || requestId === null ? [mint, metaplexAddress(mint)] : [mint],
    );
    const found = new Map<string, { owner: string; data: Uint8Array } | null>();
    for (let from = 0; from < addresses.length; from += BATCH) {
      const batch = addresses.slice(from, from + BATCH);
      const { accounts } = await d.readAccounts(batch);
      for (const [index, address] of batch.entries()) found.set(address, accounts[index] ?? null);
    }
    const asOf = d.now();
    for (const { mint: address } of tokens) {
      const account = found.get(address);
      const mint = account ? decodeMint(account.owner, account.data) : undefined;
      const beside = found.get(metaplexAddress(address));
      const metaplex = beside?.owner === METAPLEX_PROGRAM ? beside.data : undefined;
      const facts = mint && { supply: mint.supply, asOf, ...tokenAuthorities(address, mint, metaplex) };
      known.delete(address);
      known.set(address, { asOf, facts });
    }
    for (const oldest of known.keys()) {
      if (known.size <= MAX_REMEMBERED) break;
      known.delete(oldest);
    }
  }

  return async (tokens) => {
    const now = d.now();
    const old = tokens.filter(({ mint }) => (known.get(mint)?.asOf ?? 0) < now - FRESH_MS);
    if (old.length > 0 && now >= pausedUntil) {
      await load(old).catch(() => {
        pausedUntil = d.now() + PAUSE_MS;
      });
    }
    const fresh = new Map<string, TokenFacts>();
    for (const { mint } of tokens) {
      const facts = known.get(mint)?.facts;
      if (facts && facts.asOf >= now - STALE_MS) fresh.set(mint, facts);
    }
    return fresh;
  };
}
