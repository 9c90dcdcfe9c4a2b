/**
 * The page-view routes on the real Durable Object, with a clock that a test moves.
 * @module
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Stats } from '../../src/features/analytics/get-stats.ts';
import { PageViewsObject } from '../../src/features/analytics/page-views-object.ts';
import { PageViewStore } from '../../src/features/analytics/page-views-store.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { floodGate, OPEN_GATE } from '../kit/flood-gate.ts';
import { msOf } from '../kit/scenes.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** In the future, so that no alarm fires by itself. */
export const NOON = Date.parse('2100-11-20T12:00:00.000Z');

export const object = () => env.PAGE_VIEWS.getByName('0');
export const inStorage = <T>(work: (storage: DurableObjectStorage) => T): Promise<T> =>
  runInDurableObject(object(), (_instance, { storage }) => work(storage));
export const rows = <T extends Record<string, SqlStorageValue>>(sql: string): Promise<T[]> =>
  inStorage(({ sql: database }) => database.exec<T>(sql).toArray());

/** Rows that the platform bills for the work of a store on the object's storage. */
export async function billed(
  work: (store: PageViewStore) => unknown,
): Promise<{ readonly read: number; readonly written: number }> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  await inStorage((storage) => {
    const sql = {
      exec(...query: Parameters<SqlStorage['exec']>) {
        const cursor = storage.sql.exec(...query);
        cursors.push(cursor);
        return cursor;
      },
    };
    const metered = { sql, transactionSync: (run: () => unknown) => storage.transactionSync(run) };
    const store = new PageViewStore(metered as Partial<DurableObjectStorage> as DurableObjectStorage);
    cursors.length = 0;
    return work(store);
  });
  const sum = (rows: 'rowsRead' | 'rowsWritten') => cursors.reduce((all, cursor) => all + cursor[rows], 0);
  return { read: sum('rowsRead'), written: sum('rowsWritten') };
}

/** Runs the object's alarm, which deletes what is due. @returns milliseconds until the next one */
export async function purge(): Promise<number> {
  expect(await runDurableObjectAlarm(object())).toBe(true);
  const next = await inStorage((storage) => storage.getAlarm());
  return (next ?? Number.NaN) - Date.now();
}

/**
 * Stops the clock, so that every view after the first waits. `arrived` waits until the object has that many views, and
 * `write` lets the timer of the commit end.
 */
export function holdCommits() {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.now() });
  const add = vi.spyOn(PageViewsObject.prototype, 'add');
  return {
    async arrived(count: number): Promise<void> {
      while (add.mock.calls.length < count) await scheduler.wait(1);
    },
    write: () => runInDurableObject(object(), () => void vi.runOnlyPendingTimers()),
  };
}

export const moveClock = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** For each test of a file: empty storage, the clock at noon, and a service that keeps addresses for 30 days. */
export function pageViewService() {
  freshStorageForEachTest();
  let app: ReturnType<typeof createApp>;
  const used = new Map<string, number>();
  const limited = floodGate((limiter, key) => {
    used.set(key, (used.get(key) ?? 0) + 1);
    return limiter !== 'LIMITER' || (used.get(key) ?? 0) <= 600;
  });
  const settings = { isLimited: true };

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOON });
    vi.spyOn(console, 'log').mockImplementation(() => undefined);
    used.clear();
    settings.isLimited = true;
    const { analytics, ...deps } = await apiDeps(env);
    app = createApp(() => ({
      ...deps,
      log: () => undefined,
      analytics: {
        ...analytics,
        siteHost: 'sluice.test',
        now: () => Date.now(),
      },
    }));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const view = async (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    app.request(
      '/api/analytics/pageview',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'cf-connecting-ip': '203.0.113.9', ...headers },
        body: JSON.stringify(body),
      },
      { ...env, ...(settings.isLimited ? limited : OPEN_GATE) },
    );
  const readStats = async (): Promise<Response> => app.request('/api/analytics/stats', {}, env);
  return {
    settings,
    view,
    /** Sends views at the same time, all of which are counted. */
    async views(count: number, viewOf: (n: number) => Promise<Response>): Promise<void> {
      const sent = await Promise.all(Array.from({ length: count }, (_, n) => viewOf(n)));
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([204]));
    },
    readStats,
    async stats(): Promise<Stats> {
      const response = await readStats();
      expect(response.status).toBe(200);
      return response.json();
    },
  };
}

const list = (texts: readonly unknown[]): string => texts.join(', ') || 'none';
const column = async (query: string) => list((await rows(query)).flatMap((row) => Object.values(row)));

/** The steps of scenes: views, time, purges, and what the object has and shows. */
export function pageViewVerbs({ view, views, stats }: ReturnType<typeof pageViewService>) {
  const viewOf = (path = '/', browser = 'one', referrer = '') =>
    view(
      { path, referrer },
      { 'user-agent': browser === 'crawler' ? 'Googlebot/2.1' : `Mozilla/5.0 (browser ${browser})` },
    );
  return {
    view: async (path?: string, browser?: string, referrer?: string) =>
      (await viewOf(path, browser, referrer)).status,
    /** Views of new visitors. */
    views: (count: string) => views(Number(count), (n) => viewOf(`/${n}`, String(n))),
    wait: (length: string) => moveClock(msOf(length)),
    /** Milliseconds until the next purge. */
    purge,
    /** Stores views at noon, and one with this id. */
    fill: (count: string, last = count) =>
      inStorage(({ sql }) =>
        sql.exec(
          `INSERT INTO views (id, at_ms, path, referrer, ip) WITH RECURSIVE n(i) AS
           (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) SELECT i, ?, '/', '', '203.0.113.9' FROM n
           UNION ALL SELECT ?, ?, '/', '', '203.0.113.9'`,
          ...[Number(count), NOON, Number(last), NOON],
        ),
      ),
    'visitors-so-far': (count: string) =>
      inStorage(({ sql }) => sql.exec('UPDATE periods SET visitors = ?', Number(count))),
    'views-away': () => inStorage(({ sql }) => sql.exec('ALTER TABLE views RENAME TO away')),
    'views-back': () => inStorage(({ sql }) => sql.exec('ALTER TABLE away RENAME TO views')),
    'with-address': () => column('SELECT path FROM views WHERE ip IS NOT NULL'),
    addresses: () => column('SELECT count(ip) FROM views'),
    /** First and last id and number of the views in the log. */
    log: () => column('SELECT min(id), max(id), count(*) FROM views'),
    salts: () => column('SELECT day FROM salts'),
    'visitor-keys': () => column('SELECT day FROM visitors'),
    counted: () => column("SELECT sum(count) FROM names WHERE kind = 'path'"),
    day: () => column("SELECT pageviews, visitors FROM periods WHERE period = 'day 2100-11-20'"),
    /** All views, those of a day and a week, the visitors of a day, and the views of crawlers. */
    totals: async () => list(Object.values((await stats()).totals)),
    'last-days': async () => list((await stats()).series.slice(-2).map(({ visitors }) => visitors)),
    paths: async () => list((await stats()).by_path.map(({ path, count }) => `${path} ${count}`)),
    referrers: async () => list((await stats()).by_referrer.map(({ host }) => host)),
    recent: async () => list((await stats()).recent.map(({ referrer, ip }) => `${referrer} ${ip}`.trim())),
  };
}
