import { beforeEach, describe, expect, it } from 'vitest';
import { decodeBase58 } from '../../src/chain/solana/address.ts';
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/chain/solana/token-metadata.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { readTokenFacts, type TokenFactsDeps } from '../../src/features/tokens/token-facts.ts';
import type { TokenRow } from '../../src/features/tokens/token-store.ts';
import { tokenBodies } from '../../src/features/tokens/token-view.ts';
import { Cache } from '../../src/http/cached.ts';
import {
  extended,
  metadataPointer,
  metaplexMetadata,
  namedMint,
  tokenMetadata,
} from '../chain/solana/token-bytes.ts';
import { wallet } from '../kit/addresses.ts';
import { eachRow } from '../kit/scenes.ts';
import { tokenRow } from '../kit/token-accounts.ts';

const NAMES = { name: 'Moon', symbol: 'MOON', uri: '' };
const [MODERN, CLASSIC, GONE] = [wallet(71), wallet(72), wallet(73)];

/** A mint with this supply in atoms, with both authorities or neither. */
function mintBytes(supply: bigint, authority: string | null): Uint8Array {
  const bytes = new Uint8Array(82);
  const key = authority === null ? undefined : decodeBase58(authority, 32);
  if (key) {
    bytes.set([1, 0, 0, 0, ...key]);
    bytes.set([1, 0, 0, 0, ...key], 46);
  }
  new DataView(bytes.buffer).setBigUint64(36, supply, true);
  bytes.set([6, 1], 44);
  return bytes;
}

const row = (mint: string, program: TokenRow['program'], over: Partial<TokenRow> = {}) =>
  tokenRow({ mint, program, ...over });

let chain: Map<string, { owner: string; data: Uint8Array }>;
let calls: (readonly string[])[];
let state: { now: number; down: boolean };
let facts: TokenFactsDeps;
const read = (tokens: readonly TokenRow[]) => readTokenFacts(facts, tokens);

/** The flag after texts, fee, creators and first sale: whether the metadata may change. */
const IS_MUTABLE = 1 + 32 + 32 + (4 + 32) + (4 + 10) + (4 + 200) + 2 + 1 + 1;

beforeEach(() => {
  const beside = metaplexMetadata(CLASSIC, NAMES);
  beside[IS_MUTABLE] = 1;
  chain = new Map([
    [
      MODERN,
      { owner: TOKEN_2022_PROGRAM, data: namedMint(MODERN, mintBytes(7_500_000n, wallet(74)), NAMES) },
    ],
    [CLASSIC, { owner: TOKEN_PROGRAM, data: mintBytes(2_000_000n, null) }],
    [metaplexAddress(CLASSIC), { owner: METAPLEX_PROGRAM, data: beside }],
  ]);
  calls = [];
  state = { now: 1_000_000, down: false };
  facts = {
    memory: new Cache({ now: () => state.now, defer: () => undefined }),
    async readAccounts(addresses) {
      calls.push(addresses);
      if (state.down) throw new Error('the node is down');
      return { accounts: addresses.map((address) => chain.get(address) ?? null) };
    },
  };
});

/** The token's body, with what `read` returns. */
const bodyOf = async (token: TokenRow) => (await tokenBodies({ facts }, [token]))[0];
const rows = [row(MODERN, 'token-2022'), row(CLASSIC, 'token'), row(GONE, 'token')];

describe("the chain's data in a record", () => {
  it('a token record shows supply and authorities from one read of the chain, and the time of that read', async () => {
    await read(rows);
    expect(calls).toHaveLength(1);
    expect(await bodyOf(row(MODERN, 'token-2022'))).toMatchObject({
      ...{ supply: '7500000', supply_ui: '7.5', token_program: 'token-2022' },
      ...{ mint_authority: wallet(74), freeze_authority: wallet(74), update_authority: null },
      as_of: '1970-01-01T00:16:40.000Z',
    });
    expect(await bodyOf(row(CLASSIC, 'token'))).toMatchObject({
      ...{
        supply_ui: '2',
        mint_authority: null,
        freeze_authority: null,
        update_authority: expect.any(String),
      },
    });
    expect(await bodyOf(row(GONE, 'token'))).toMatchObject({ supply: '1', as_of: null, stale: true });
  });

  it('reads the Metaplex account of a token created elsewhere, because its name may be there', async () => {
    const foreign = wallet(75);
    const beside = metaplexMetadata(foreign, NAMES);
    beside[IS_MUTABLE] = 1;
    chain.set(foreign, { owner: TOKEN_2022_PROGRAM, data: mintBytes(1n, null) });
    chain.set(metaplexAddress(foreign), { owner: METAPLEX_PROGRAM, data: beside });
    const authorities = { mint_authority: null, update_authority: expect.any(String) };
    expect(await bodyOf(row(foreign, 'token-2022'))).toMatchObject(authorities);
    // A mint created here names itself: one account is enough.
    await read([row(wallet(76), 'token-2022', { requestId: 'r-1' })]);
    expect(calls.map((batch) => batch.length)).toEqual([2, 1]);
  });

  it('a token whose mint was created again under a new name has the facts and the warning of the new mint', async () => {
    const data = mintBytes(5n, null);
    data[44] = 19;
    chain.set(CLASSIC, { owner: TOKEN_2022_PROGRAM, data });
    const beside = metaplexMetadata(CLASSIC, { name: 'USD Coin', symbol: 'X', uri: '' });
    chain.set(metaplexAddress(CLASSIC), { owner: METAPLEX_PROGRAM, data: beside });
    expect(await bodyOf(row(CLASSIC, 'token'))).toMatchObject({
      ...{ name: 'Moon', decimals: 19, supply_ui: '0.0000000000000000005' },
      ...{ token_program: 'token-2022', warning: 'well_known_name' },
    });
  });

  it('shows the current powers of a mint, and null for a mint that could not be read', async () => {
    expect(await bodyOf(row(MODERN, 'token-2022'))).toMatchObject({ powers: ['freeze', 'mint'] });
    expect(await bodyOf(row(GONE, 'token'))).toMatchObject({ powers: null });
    const data = extended(mintBytes(1n, null), 1, [[12, new Uint8Array(32).fill(9)]]);
    chain.set(wallet(77), { owner: TOKEN_2022_PROGRAM, data });
    const delegated = { mint_authority: null, freeze_authority: null, powers: ['permanent_delegate'] };
    expect(await bodyOf(row(wallet(77), 'token-2022'))).toMatchObject(delegated);
    state.down = true;
    const unread = { powers: null, as_of: null, stale: true };
    expect(await bodyOf(row(wallet(78), 'token-2022'))).toMatchObject(unread);
    state.now += 60_000;
    const kept = { powers: ['freeze', 'mint'], stale: true };
    expect(await bodyOf(row(MODERN, 'token-2022'))).toMatchObject(kept);
  });

  const pointing = (target: string): [number, Uint8Array] => [18, metadataPointer(target)];
  it.each<[string, [number, Uint8Array][], Uint8Array | undefined]>([
    ['an undecodable Metaplex account', [], Uint8Array.of(4, 1)],
    ['a pointer to a foreign account', [pointing(wallet(79))], undefined],
    ['metadata of another mint', [pointing(wallet(77)), [19, tokenMetadata(wallet(79), NAMES)]], undefined],
  ])('a token with %s has an unknown power', async (_name, extensions, beside) => {
    const mint = wallet(77);
    chain.set(mint, { owner: TOKEN_2022_PROGRAM, data: extended(mintBytes(1n, null), 1, extensions) });
    if (beside) chain.set(metaplexAddress(mint), { owner: METAPLEX_PROGRAM, data: beside });
    expect(await bodyOf(row(mint, 'token-2022'))).toMatchObject({ powers: ['unknown'] });
  });

  it('reads the chain data of a hundred tokens with two calls of at most a hundred accounts', async () => {
    await read(Array.from({ length: 100 }, (_, n) => row(wallet(1_000 + n), 'token')));
    expect(calls.map((batch) => batch.length)).toEqual([100, 100]);
  });
});

eachRow<[name: string, symbol: string, warning: string | null]>(`
  Bitcoin     | XYZ  | well_known_name
  Other       | ＵＳＤＣ | well_known_name
  ﬀoo         | SOL  | well_known_name
  TETHER usd  | AAA  | well_known_name
  Wrapped SOL | AAA  | well_known_name
  Bit coin    | BTCX | well_known_name
  Solar       | SOLX | null
`)('the token %s (%s) has the warning: %s', async (name, symbol, warning) => {
  expect(await bodyOf(row(MODERN, 'token', { name, symbol }))).toMatchObject({ warning });
});
