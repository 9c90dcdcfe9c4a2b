/** Lists that the isolate keeps: each is as current as a list that is read again, and costs no rows while nothing changes. */
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import { createSearchStore } from '../../src/features/tokens/search-store.ts';
import { createTokenStore } from '../../src/features/tokens/token-store.ts';
import { createListStore, MIRROR_VERSION } from '../../src/http/list-store.ts';
import type { D1Reads } from '../../src/http/read-session.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

/** Calls of D1, and the rows that each has read. */
let calls: number[] = [];
beforeEach(() => {
  calls = [];
});
function count<T>(results: D1Result<T>[]): D1Result<T>[] {
  calls.push(results.reduce((sum, { meta }) => sum + meta.rows_read, 0));
  return results;
}
const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
/** @param statement whose `all` is counted; the stores call no other method of a bound statement */
function countedStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const wrapped = {
    bind: (...values: unknown[]) => countedStatement(statement.bind(...values)),
    all: async <T>() => count([await statement.all<T>()])[0],
  } as Partial<D1PreparedStatement> as D1PreparedStatement;
  originals.set(wrapped, statement);
  return wrapped;
}
const counted: D1Reads = {
  prepare: (query) => countedStatement(env.DB.prepare(query)),
  batch: async <T>(statements: D1PreparedStatement[]) =>
    count(await env.DB.batch<T>(statements.map((one) => originals.get(one) ?? one))),
};

const mirror = createD1Mirror(env.DB);
const mintOf = (id: number) => encodeBase58(new Uint8Array(32).fill(id));

/** Writes a token as the custodian's outbox does. */
const list = (id: number, mark: number, name = `moon ${id}`) =>
  mirror.apply(
    [
      {
        entity: 'tokens',
        id: String(id),
        revision: mark,
        columns: {
          token_id: id,
          mint_address: mintOf(id),
          creator_address: null,
          name,
          symbol: `m${id}`,
          listed_at: '2026-01-01T00:00:00.000Z',
          created_at: '2026-01-01T00:00:00.000Z',
          journal: JSON.stringify({
            tokenId: id,
            mint: mintOf(id),
            name,
            symbol: `M${id}`,
            decimals: 9,
            supply: '1',
            program: 'token',
            createdAt: 0,
            listedAt: 0,
          }),
        },
      },
    ],
    mark,
  );
const rename = (id: number, name: string) =>
  env.DB.prepare(`UPDATE tokens SET journal = json_set(journal, '$.name', ?) WHERE token_id = ?`)
    .bind(name, id)
    .run();
const namesOf = (tokens: readonly { readonly name: string }[]) => tokens.map(({ name }) => name);

describe('a list of the mirror', () => {
  it('is the same object, for one call and no row of the list, while the custodian writes nothing', async () => {
    for (let id = 1; id <= 30; id += 1) await list(id, id);
    const store = createTokenStore(counted, counted);
    const first = await store.list(20);
    expect(first).toHaveLength(20);
    expect(await store.list(20)).toBe(first);
    expect(calls).toHaveLength(2);
    expect(calls[0]).toBeGreaterThanOrEqual(20);
    // The mark is read twice: as the version, and in the condition.
    expect(calls[1]).toBeLessThanOrEqual(2);
  });

  it('shows a row of the outbox at the next read', async () => {
    const store = createTokenStore(counted, counted);
    for (let id = 1; id <= 5; id += 1) {
      await list(id, id);
      expect(namesOf(await store.list(9))[0]).toBe(`moon ${id}`);
    }
    await list(3, 9, 'renamed');
    expect(namesOf(await store.list(9))).toEqual(['moon 5', 'moon 4', 'renamed', 'moon 2', 'moon 1']);
  });

  it('shows the older rows of a restored database or of a replica that is behind', async () => {
    const store = createTokenStore(counted, counted);
    await list(1, 5);
    await list(2, 6);
    expect(namesOf(await store.list(9))).toEqual(['moon 2', 'moon 1']);
    await env.DB.batch([
      env.DB.prepare('DELETE FROM tokens WHERE token_id = 2'),
      env.DB.prepare('UPDATE mirror_marks SET revision = 5'),
    ]);
    expect(namesOf(await store.list(9))).toEqual(['moon 1']);
  });

  it('is read again each time before the custodian has written its first batch', async () => {
    const store = createTokenStore(counted, counted);
    await list(1, 1);
    await env.DB.exec('DELETE FROM mirror_marks');
    expect(namesOf(await store.list(9))).toEqual(['moon 1']);
    await rename(1, 'changed');
    expect(namesOf(await store.list(9))).toEqual(['changed']);
  });

  it('keeps each page, search and creator apart', async () => {
    for (let id = 1; id <= 4; id += 1) await list(id, id);
    const store = createTokenStore(counted, counted);
    const search = createSearchStore(counted);
    for (let again = 0; again < 2; again += 1) {
      expect(namesOf(await store.list(2))).toEqual(['moon 4', 'moon 3']);
      expect(namesOf(await store.list(2, 3))).toEqual(['moon 2', 'moon 1']);
      expect(await store.ofCreator(mintOf(9), 2)).toEqual([]);
      expect(namesOf((await search.search('m3', null, 9)).tokens)).toEqual(['moon 3']);
      const first = await search.search('moon', null, 3);
      expect(namesOf(first.tokens)).toEqual(['moon 1', 'moon 2', 'moon 3']);
      expect(namesOf((await search.search('moon', first.next, 3)).tokens)).toEqual(['moon 4']);
    }
  });

  it('of a search costs one statement while nothing changes, and one more call after a change', async () => {
    const search = createSearchStore(counted);
    await list(1, 1);
    const first = await search.search('moon', null, 9);
    expect(await search.search('moon', null, 9)).toBe(first);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toBe(1);
    await list(2, 2);
    expect(namesOf((await search.search('moon', null, 9)).tokens)).toEqual(['moon 1', 'moon 2']);
    expect(calls).toHaveLength(4);
  });

  it('without rows is empty at each read', async () => {
    const store = createTokenStore(counted, counted);
    await list(1, 1);
    expect(await store.list(9, 1)).toEqual([]);
    expect(await store.list(9, 1)).toEqual([]);
    await env.DB.exec('DELETE FROM mirror_marks');
    expect(await store.list(9, 1)).toEqual([]);
    expect(calls).toHaveLength(3);
  });

  it('is evicted when 32 other lists were read since', async () => {
    await list(1, 1);
    const store = createTokenStore(counted, counted);
    const first = await store.list(1);
    for (let limit = 2; limit <= 32; limit += 1) await store.list(limit);
    expect(await store.list(1)).toBe(first);
    for (let limit = 2; limit <= 33; limit += 1) await store.list(limit + 100);
    expect(await store.list(1)).not.toBe(first);
  });

  it('shows a row that was changed by hand after a minute', async () => {
    await list(1, 1);
    let now = 0;
    const lists = createListStore(counted, MIRROR_VERSION, { now: () => now });
    const query = [{ sql: 'SELECT journal FROM tokens LIMIT ?', columns: ['journal'], params: [1] }];
    const read = () =>
      lists.read(query, ([rows = []]: readonly (readonly { journal: string }[])[]) =>
        rows.map(({ journal }) => (JSON.parse(journal) as { name: string }).name),
      );
    expect(await read()).toEqual(['moon 1']);
    await rename(1, 'by hand');
    now = 59_999;
    expect(await read()).toEqual(['moon 1']);
    now = 60_000;
    expect(await read()).toEqual(['by hand']);
  });
});
