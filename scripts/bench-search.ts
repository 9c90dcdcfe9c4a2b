/**
 * Search over BENCH_TOKENS (1,000,000) listed tokens, in workerd with Miniflare's D1, against LIKE over the same rows
 * and a read by primary key, all asked in turns in one run. Goals, as ratios of medians:
 *   1. a rare term (at most 20 hits) at least 30 times faster than LIKE
 *   2. a term without a hit at least 50 times faster than LIKE
 *   3. a common term at most 3 times a read by primary key
 *   4. walking the cursor returns each row once while rows are inserted
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_splitSqlQuery } from 'wrangler';

const ROOT = join(import.meta.dirname, '..');
const TOKENS = Number(process.env.BENCH_TOKENS ?? 1_000_000);
const CHUNK = 50_000;
const LIMIT = 20;
const QUICK_READS = 200;
/** LIKE reads every row: a few of them are enough. */
const SLOW_READS = 9;

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const bundle = join(folder, 'worker.js');
await build({
  entryPoints: [join(ROOT, 'scripts/bench-search-worker.ts')],
  bundle: true,
  format: 'esm',
  outfile: bundle,
  logLevel: 'error',
});
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    log: new Log(LogLevel.NONE),
    defaultPersistRoot: folder,
    handleStructuredLogs: () => undefined,
    workers: [
      {
        name: 'bench',
        compatibilityDate: '2026-10-01',
        compatibilityFlags: ['nodejs_compat'],
        d1Databases: { DB: 'bench' },
        modulesRoot: folder,
        modules: [{ type: 'ESModule', path: bundle, contents: readFileSync(bundle, 'utf8') }],
      },
    ],
  }),
);
const { origin } = await miniflare.ready;
const db = await miniflare.getD1Database('DB');
const schema = unstable_splitSqlQuery(readFileSync(join(ROOT, 'schema.sql'), 'utf8'));
await db.batch(schema.map((statement) => db.prepare(statement)));

/** Names of two of 200 and one of 5,000 words; every tenth symbol begins with MOON, every thousandth is it. */
const ROWS = `INSERT INTO tokens (id, revision, token_id, mint_address, creator_address, name, symbol, listed_at, created_at, journal)
  WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2),
  made AS (SELECT i, 'word' || char(97 + i % 26) || char(97 + (i / 7) % 8) || ' ' || CASE WHEN i % 10 = 3 THEN 'moonlight ' ELSE 'plain ' END
    || 'x' || (i % 5000) AS name,
    CASE WHEN i % 1000 = 0 THEN 'moon' WHEN i % 10 = 0 THEN 'moon' || (i % 977) ELSE 'sym' || i END AS symbol FROM n)
  SELECT CAST(i AS TEXT), i, i, 'Mint' || printf('%07d', i) || 'abcdefghijkmnopqrstuvwxyz1234567', 'Creator' || (i % 9000), name, symbol,
    '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z',
    json_object('tokenId', i, 'mint', 'Mint' || printf('%07d', i), 'name', name, 'symbol', symbol, 'decimals', 9, 'supply', '1',
      'creator', 'Creator' || (i % 9000), 'program', 'token-2022', 'createdAt', 0, 'listedAt', 0) FROM made`;

const insert = (from: number, to: number) => db.prepare(ROWS).bind(from, to).run();

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
type Answer = { readonly ids: readonly number[]; readonly next?: unknown };

function ask(path: string, params: Record<string, string>): Promise<Answer> {
  const url = `${origin}${path}?${new URLSearchParams({ limit: String(LIMIT), ...params })}`;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve(JSON.parse(text) as Answer) : reject(new Error(text)),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Median milliseconds of each question, all of them in turns. */
async function inTurns(
  rounds: number,
  questions: Readonly<Record<string, () => Promise<Answer>>>,
): Promise<Record<string, { ms: number; hits: number }>> {
  const times: Record<string, number[]> = {};
  const hits: Record<string, number> = {};
  for (let round = -2; round < rounds; round++) {
    for (const [name, question] of Object.entries(questions)) {
      const started = performance.now();
      hits[name] = (await question()).ids.length;
      // The first rounds warm up.
      if (round >= 0) times[name] = [...(times[name] ?? []), performance.now() - started];
    }
  }
  return Object.fromEntries(
    Object.entries(times).map(([name, list]) => [name, { ms: median(list), hits: hits[name] ?? 0 }]),
  );
}

const results: boolean[] = [];
function goal(name: string, ratio: number, isMet: boolean, wanted: string): void {
  results.push(isMet);
  console.log(`${name}: ratio ${ratio.toFixed(1)} (goal: ${wanted})${isMet ? '' : ' MISSED'}`);
}

async function againstLike(name: string, q: string, wanted: number): Promise<void> {
  const told = await inTurns(SLOW_READS, {
    search: () => ask('/search', { q }),
    like: () => ask('/like', { q }),
  });
  const [search, like] = [told.search, told.like];
  if (!search || !like) throw new Error('nothing was measured');
  console.log(
    `${name} ${JSON.stringify(q)}: search ${search.ms.toFixed(2)} ms (${search.hits} hits), LIKE ${like.ms.toFixed(1)} ms (${like.hits})`,
  );
  if (search.hits !== like.hits) results.push(false);
  goal(name, like.ms / search.ms, like.ms >= wanted * search.ms, `at least ${wanted}`);
}

async function againstKey(name: string, q: string): Promise<void> {
  const told = await inTurns(QUICK_READS, {
    search: () => ask('/search', { q }),
    key: () => ask('/key', { q: String(1 + Math.floor(Math.random() * (TOKENS - 1))) }),
  });
  const [search, key] = [told.search, told.key];
  if (!search || !key) throw new Error('nothing was measured');
  console.log(
    `${name} ${JSON.stringify(q)}: search ${search.ms.toFixed(2)} ms (${search.hits} hits), key ${key.ms.toFixed(2)} ms`,
  );
  goal(name, search.ms / key.ms, search.ms <= 3 * key.ms, 'at most 3');
}

/** Walks pages of a term with hits in every step while tokens are listed that it finds as well. */
async function walk(q: string, pages: number): Promise<void> {
  const seen: number[] = [];
  let from: unknown = null;
  let made = TOKENS + 1;
  let walked = 0;
  for (; walked < pages; walked++) {
    const page: Answer = await ask('/search', { q, limit: '100', from: JSON.stringify(from) });
    seen.push(...page.ids);
    from = page.next;
    if (!from) break;
    await insert(made, made + 30);
    made += 30;
  }
  const once = new Set(seen).size === seen.length;
  results.push(once);
  console.log(
    `walk ${JSON.stringify(q)}: ${seen.length} rows in ${walked} pages, ${once ? 'each once' : 'some TWICE'}, ${made - TOKENS - 1} listed meanwhile`,
  );
}

const started = performance.now();
for (let from = 1; from < TOKENS; from += CHUNK) await insert(from, Math.min(from + CHUNK, TOKENS));
console.log(`filled ${TOKENS} tokens in ${((performance.now() - started) / 1_000).toFixed(0)} s`);

await againstLike('rare symbol', `sym${Math.floor(TOKENS / 2) + 1}`, 30);
await againstLike('rare substring', `m${Math.floor(TOKENS / 2) + 11}`, 30);
await againstLike('no hit', 'zzqqxxyy', 50);
await againstLike('no hit, words that occur', 'wordaz plain', 50);
await againstKey('common symbol', 'moon');
await againstKey('common name', 'wordaa');
await againstKey('common substring', 'light');
await walk('moon', 400);
await miniflare.dispose();
agent.destroy();
process.exitCode = results.every(Boolean) ? 0 : 1;
