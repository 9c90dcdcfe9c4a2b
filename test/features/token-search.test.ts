/** Pages of a search against a plain sort of all tokens, over SQLite with the service's own schema. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldText } from '../../src/chain/solana/token-text.ts';
import { createSearchStore, type SearchCursor } from '../../src/features/tokens/search-store.ts';
import { cases } from '../cases.ts';
import { openD1 } from '../kit/d1.ts';

type Token = {
  id: number;
  name: string;
  symbol: string;
  mint: string;
  creator: string | null;
  listed: boolean;
};

function database() {
  const { db, d1 } = openD1();
  const insert = db.prepare(
    `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
     VALUES (?, 1, ?, ?, ?, ?, ?, ?, '2026-01-01T00:00:00.000Z', ?)`,
  );
  const add = ({ id, name, symbol, mint, creator, listed }: Token): void => {
    const known = { tokenId: id, mint, name, symbol, creator, program: 'token' };
    const journal = { ...known, decimals: 9, supply: '1', createdAt: 0 };
    const at = listed ? '2026-01-01T00:00:00.000Z' : null;
    insert.run(String(id), id, mint, creator, foldText(name), foldText(symbol), at, JSON.stringify(journal));
  };
  return { store: createSearchStore(d1), add };
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Every listed token that a query finds, in the order of the steps. */
function expected(tokens: readonly Token[], query: string): number[] {
  const folded = foldText(query);
  const rank = (token: Token): readonly [step: number, sort: string, id: number] | undefined => {
    const [name, symbol] = [foldText(token.name), foldText(token.symbol)];
    if (symbol === folded) return [0, '', token.id];
    if (symbol.startsWith(folded)) return [1, symbol, token.id];
    if (name.startsWith(folded)) return [2, name, token.id];
    if (token.mint.startsWith(query)) return [3, token.mint, token.id];
    if (token.creator?.startsWith(query)) return [4, token.creator, token.id];
    const inside = name.includes(folded) || symbol.includes(folded);
    return inside && [...folded].length >= 3 ? [5, '', -token.id] : undefined;
  };
  return tokens
    .filter(({ listed }) => listed)
    .flatMap((token) => {
      const ranked = rank(token);
      return ranked ? [{ id: token.id, ranked }] : [];
    })
    .toSorted(({ ranked: a }, { ranked: b }) => a[0] - b[0] || compare(a[1], b[1]) || a[2] - b[2])
    .map(({ id }) => id);
}

const unit = fc.constantFrom('a', 'b', 'A', 'é', ' ', 'Ａ', '%', '"');
const text = fc.string({ unit, minLength: 1, maxLength: 6 });
const tokens = fc
  .array(
    fc.record({
      name: text,
      symbol: text,
      mint: text,
      creator: fc.option(fc.constantFrom('aab', 'abb', 'Aé'), { nil: null }),
      listed: fc.constantFrom(true, true, true, false),
    }),
    { maxLength: 40 },
  )
  .map((list) =>
    list.map((token, index): Token => ({ ...token, id: index + 1, mint: `${token.mint}${index}` })),
  );

it('paging through search results returns every match once, best first, at any page size', {
  tags: ['scaled'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(tokens, text, fc.integer({ min: 1, max: 7 }), async (list, query, limit) => {
      const { store, add } = database();
      for (const token of list) add(token);
      const seen: number[] = [];
      let cursor: SearchCursor | null = null;
      for (let pages = 0; pages < 60; pages++) {
        const page = await store.search(query, cursor, limit);
        expect(page.tokens.length).toBeLessThanOrEqual(limit);
        seen.push(...page.tokens.map(({ tokenId }) => tokenId));
        cursor = page.next;
        if (!cursor) break;
        expect(page.tokens).toHaveLength(limit);
      }
      expect(cursor).toBeNull();
      expect(seen).toEqual(expected(list, query));
    }),
    { numRuns: cases(400, 80) },
  );
});

it('a search returns each row once while other tokens are being listed', { tags: ['scaled'] }, async () => {
  await fc.assert(
    fc.asyncProperty(
      tokens,
      tokens,
      text,
      fc.integer({ min: 1, max: 5 }),
      async (list, more, query, limit) => {
        const { store, add } = database();
        for (const token of list) add(token);
        const later = more.map((token) => ({ ...token, id: token.id + 100, mint: `${token.mint}later` }));
        const seen: number[] = [];
        let cursor: SearchCursor | null = null;
        do {
          const page = await store.search(query, cursor, limit);
          seen.push(...page.tokens.map(({ tokenId }) => tokenId));
          cursor = page.next;
          const next = later.shift();
          if (next) add(next);
        } while (cursor);
        expect(new Set(seen).size).toBe(seen.length);
        for (const id of expected(list, query)) expect(seen).toContain(id);
      },
    ),
    { numRuns: cases(200, 40) },
  );
});

const QUERIES = `%|_%|"|""|'; DROP TABLE tokens; --|a OR b|NEAR(a b)|name:x|*|x*|^a|(|\u0000ab|😀😀😀|-|a AND NOT b`;
it.each(QUERIES.split('|'))('treats the search query %j as plain text', async (query) => {
  const { store, add } = database();
  const token = { symbol: 'ODD', creator: null, listed: true };
  add({ ...token, id: 1, name: 'plain', mint: 'm1' });
  add({ ...token, id: 2, name: `odd ${query} name`, mint: 'm2' });
  const found = (await store.search(query, null, 10)).tokens.map(({ tokenId }) => tokenId);
  expect(found).not.toContain(1);
  if ([...query].length >= 3 && !query.includes('\u0000')) expect(found).toEqual([2]);
});
