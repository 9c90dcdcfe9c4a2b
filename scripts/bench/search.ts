/**
 * Search over BENCH_TOKENS (1,000,000) listed tokens, compared with LIKE over the same rows and with a read
 * by primary key, all in the same D1. The cursor is walked to the end while rows are inserted: each row must
 * appear once.
 */
import { median, type Row, roundsWithin } from './row.ts';
import { ownBundle, startRuntime } from './runtime.ts';

const TOKENS = Number(process.env.BENCH_TOKENS ?? 1_000_000);
/** Larger chunks take longer than their connection lasts on a slow machine. */
const CHUNK = 10_000;
/** LIKE reads every row, so a few runs are enough. */
const SLOW = { rounds: 9, calls: 1 };
const QUICK = { rounds: 30, calls: 7 };
const PAGES = 400;

/** Medians of milliseconds per call, measured in turns, so that other load affects both. */
async function inTurns(
  ours: () => Promise<unknown>,
  limit: () => Promise<unknown>,
  { rounds, calls }: typeof SLOW,
): Promise<{ readonly ours: number; readonly limit: number }> {
  async function time(work: () => Promise<unknown>): Promise<number> {
    const started = performance.now();
    for (let call = 0; call < calls; call += 1) await work();
    return (performance.now() - started) / calls;
  }
  const pairs = await roundsWithin(rounds, Number.POSITIVE_INFINITY, async () => ({
    ours: await time(ours),
    limit: await time(limit),
  }));
  return { ours: median(pairs.map((pair) => pair.ours)), limit: median(pairs.map((pair) => pair.limit)) };
}

/**
 * Names consist of one of 208 words, `plain` or `moonlight`, and one of 5,000 endings. Every tenth symbol begins with
 * MOON, and every thousandth is MOON.
 */
const ROWS = `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
  WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2),
  made AS (SELECT i, 'word' || char(97 + i % 26) || char(97 + (i / 7) % 8) || ' ' || CASE WHEN i % 10 = 3 THEN 'moonlight ' ELSE 'plain ' END
    || 'x' || (i % 5000) AS name,
    CASE WHEN i % 1000 = 0 THEN 'moon' WHEN i % 10 = 0 THEN 'moon' || (i % 977) ELSE 'sym' || i END AS symbol FROM n)
  SELECT CAST(i AS TEXT), i, i, 'Mint' || printf('%07d', i) || 'abcdefghijkmnopqrstuvwxyz1234567', 'Creator' || (i % 9000), name, symbol,
    '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z',
    json_object('tokenId', i, 'mint', 'Mint' || printf('%07d', i), 'name', name, 'symbol', symbol, 'decimals', 9, 'supply', '1',
      'creator', 'Creator' || (i % 9000), 'program', 'token-2022', 'createdAt', 0, 'listedAt', 0) FROM made`;

type Answer = { readonly ids: readonly number[]; readonly next?: unknown };

type Ask = (path: string, params: Readonly<Record<string, string>>) => Promise<Answer>;

const milliseconds = (value: number) => `${value.toFixed(2)} ms`;

async function againstLike(ask: Ask, what: string, q: string): Promise<Row> {
  const [found, liked] = [await ask('search', { q }), await ask('like', { q })];
  if (found.ids.length !== liked.ids.length)
    throw new Error(`${q}: ${found.ids.length} found, ${liked.ids.length} by LIKE`);
  const { ours, limit } = await inTurns(
    () => ask('search', { q }),
    () => ask('like', { q }),
    SLOW,
  );
  return {
    what: `search of ${TOKENS.toLocaleString('en')} tokens: ${what} (${found.ids.length} found)`,
    ours: milliseconds(ours),
    limit: `LIKE, ${milliseconds(limit)}`,
    ratio: limit / ours,
    target: { least: 30 },
  };
}

async function againstKey(ask: Ask, what: string, q: string): Promise<Row> {
  const { ours, limit } = await inTurns(
    () => ask('search', { q }),
    () => ask('key', { q: String(1 + Math.floor(Math.random() * (TOKENS - 1))) }),
    QUICK,
  );
  return {
    what: `search of ${TOKENS.toLocaleString('en')} tokens: ${what}`,
    ours: milliseconds(ours),
    limit: `one read by key, ${milliseconds(limit)}`,
    ratio: ours / limit,
    target: { most: 4 },
  };
}

type Insert = (from: number, to: number) => Promise<unknown>;

/** Reads the pages of a term. After each page it inserts rows, some of which match the term as well. */
async function walk(ask: Ask, insert: Insert, q: string): Promise<void> {
  const seen: number[] = [];
  let from: unknown = null;
  for (let page = 0, made = TOKENS + 1; page < PAGES; page += 1, made += 30) {
    const answer = await ask('search', { q, limit: '100', from: JSON.stringify(from) });
    seen.push(...answer.ids);
    from = answer.next;
    if (!from) break;
    await insert(made, made + 30);
  }
  if (new Set(seen).size !== seen.length) throw new Error(`${q}: a row occurred twice`);
}

export async function search(): Promise<Row[]> {
  const runtime = await startRuntime({ search: await ownBundle('search') });
  try {
    const db = await runtime.database('search');
    const insert: Insert = (from, to) => db.prepare(ROWS).bind(from, to).run();
    for (let from = 1; from < TOKENS; from += CHUNK) await insert(from, Math.min(from + CHUNK, TOKENS));

    const ask: Ask = async (path, params) => {
      const answer = await fetch(
        `${runtime.url('search')}/${path}?${new URLSearchParams({ limit: '20', ...params })}`,
      );
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    };
    const middle = Math.floor(TOKENS / 2);
    const rows = [
      await againstLike(ask, 'a rare symbol', `sym${middle + 1}`),
      await againstLike(ask, 'a rare part of a symbol', `m${middle + 11}`),
      await againstLike(ask, 'no hit', 'zzqqxxyy'),
      await againstLike(ask, 'words that no token has together', 'wordaz plain'),
      await againstKey(ask, 'a common symbol', 'moon'),
      await againstKey(ask, 'a common name', 'wordaa'),
      await againstKey(ask, 'a common part of a name', 'light'),
    ];
    await walk(ask, insert, 'moon');
    return rows;
  } finally {
    await runtime.stop();
  }
}
