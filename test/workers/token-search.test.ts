import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { foldText } from '../../src/chain/solana/token-text.ts';
import { createSearchStore, type SearchCursor } from '../../src/features/tokens/search-store.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

type Listed = { id: number; name: string; symbol: string; mint?: string; creator?: string; listed?: boolean };

const mintOf = (id: number) => `Mint${String(id).padStart(6, '0')}`;

async function list(...tokens: Listed[]): Promise<void> {
  const statements = tokens.map(({ id, name, symbol, mint = mintOf(id), creator = null, listed = true }) => {
    const journal = JSON.stringify({
      tokenId: id,
      mint,
      name,
      symbol,
      decimals: 9,
      supply: '1',
      creator,
      program: 'token',
      createdAt: 0,
      listedAt: listed ? 0 : null,
    });
    return env.DB.prepare(
      `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, '2026-01-01T00:00:00.000Z', ?)`,
    ).bind(
      String(id),
      id,
      mint,
      creator,
      foldText(name),
      foldText(symbol),
      listed ? '2026-01-01' : null,
      journal,
    );
  });
  for (let at = 0; at < statements.length; at += 50) await env.DB.batch(statements.slice(at, at + 50));
}

/** Ids of every page, walking the cursor. */
async function walk(
  query: string,
  limit: number,
  between: () => Promise<void> = async () => undefined,
): Promise<number[]> {
  const store = createSearchStore(env.DB);
  const ids: number[] = [];
  let cursor: SearchCursor | null = null;
  for (let pages = 0; pages < 500; pages++) {
    const page = await store.search(query, cursor, limit);
    expect(page.tokens.length).toBeLessThanOrEqual(limit);
    ids.push(...page.tokens.map((token) => token.tokenId));
    if (!page.next) return ids;
    cursor = page.next;
    await between();
  }
  throw new Error('the walk does not end');
}

describe('the order of matches', () => {
  it('the order of matches is exact symbol, symbol prefix, name prefix, mint, creator, then substrings newest first', async () => {
    await list(
      { id: 1, name: 'A story of cats', symbol: 'XX' },
      { id: 2, name: 'Other', symbol: 'YY', creator: 'CatCreator' },
      { id: 3, name: 'Other', symbol: 'ZZ', mint: 'CatMint' },
      { id: 4, name: 'Cat food', symbol: 'FOOD' },
      { id: 5, name: 'Nothing', symbol: 'CATS' },
      { id: 6, name: 'Nothing', symbol: 'CAT' },
      { id: 7, name: 'Concatenate', symbol: 'JOIN' },
    );
    expect(await walk('Cat', 100)).toEqual([6, 5, 4, 3, 2, 7, 1]);
    expect(await walk('Cat', 2)).toEqual([6, 5, 4, 3, 2, 7, 1]);
  });

  it('folds case and compatibility forms', async () => {
    await list({ id: 1, name: 'Straße Ｗｉｄｅ', symbol: 'ＷＩＤＥ' });
    expect(await walk('wide', 10)).toEqual([1]);
    expect(await walk('STRASSE', 10)).toEqual([]);
    expect(await walk('straße', 10)).toEqual([1]);
  });

  it('addresses keep their case', async () => {
    await list({ id: 1, name: 'One', symbol: 'ONE', mint: 'AbCd' });
    expect(await walk('AbC', 10)).toEqual([1]);
    expect(await walk('abc', 10)).toEqual([]);
  });
});

it('an unlisted token is not found, and is found once it is listed', async () => {
  await list({ id: 1, name: 'Hidden thing', symbol: 'HID', listed: false });
  expect(await walk('hidden', 10)).toEqual([]);
  expect(await walk('dden', 10)).toEqual([]);
  await env.DB.prepare("UPDATE tokens SET listed_at = '2026-01-02' WHERE token_id = 1").run();
  expect(await walk('hidden', 10)).toEqual([1]);
  expect(await walk('dden', 10)).toEqual([1]);
});

it.each([1, 3, 7, 100])(
  'at %i a page each row is shown once while others are being listed',
  async (limit) => {
    const kinds = ['moon', 'full moon', 'moonlight', 'x moon x', 'MOON'];
    await list(
      ...Array.from({ length: 60 }, (_, i) => ({
        id: i * 10 + 10,
        name: kinds[i % 5] ?? '',
        symbol: i % 7 ? `S${i}` : 'MOON',
      })),
    );
    const before = new Set(await walk('moon', 100));
    expect(before.size).toBe(60);
    let next = 11;
    const seen = await walk('moon', limit, async () => {
      if (next > 400) return;
      await list({ id: next, name: `moon ${next}`, symbol: 'NEW' });
      next += 10;
    });
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of before) expect(seen).toContain(id);
  },
);

it.each([
  '%',
  '_%',
  '"',
  '""',
  "'; DROP TABLE tokens; --",
  'a OR b',
  'NEAR(a b)',
  'name:x',
  '*',
  'x*',
  '^a',
  '(',
  '\u0000ab',
  '\u{1F600}\u{1F600}\u{1F600}',
  '-',
  'a AND NOT b',
])('a query of %j is only text', async (query) => {
  await list({ id: 1, name: 'plain', symbol: 'PLAIN' }, { id: 2, name: `odd ${query} name`, symbol: 'ODD' });
  const ids = await walk(query, 10);
  expect(ids).not.toContain(1);
  expect((await env.DB.prepare('SELECT COUNT(*) AS n FROM tokens').first<{ n: number }>())?.n).toBe(2);
  if ([...query].length >= 3 && !query.includes('\u0000')) expect(ids).toEqual([2]);
});
