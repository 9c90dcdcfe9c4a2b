/**
 * The page-view log and its counters. Each view is one statement; a trigger in schema.sql updates log and
 * counters in one transaction. Reading the counters costs the same number of rows at any size of the log, and
 * they still count views that the log has deleted.
 * @module
 */
import { inGroups } from './in-groups.ts';

export type View = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly path: string;
  readonly referrer: string;
  readonly referrerHost: string | undefined;
  readonly ip: string | null;
  readonly visitor: string;
};

export type Count = { readonly value: string; readonly count: number };
export type Period = { readonly pageviews: number; readonly visitors: number; readonly bots: number };
export type Counters = {
  readonly total: Period;
  /** By UTC day (`2026-11-20`) and by UTC hour (`2026-11-20T16`); periods without views are absent. */
  readonly days: ReadonlyMap<string, Period>;
  readonly hours: ReadonlyMap<string, Period>;
  readonly paths: readonly Count[];
  readonly referrers: readonly Count[];
  readonly recent: readonly Pick<View, 'at' | 'path' | 'referrer' | 'ip'>[];
};

/** First day and first hour to read, and the length of the lists. */
export type StatsBounds = {
  readonly firstDay: string;
  readonly firstHour: string;
  readonly top: number;
  readonly recent: number;
};

type PeriodRow = Period & { period: string };
type ViewRow = { at_ms: number; path: string; referrer: string; ip: string | null };

const EMPTY: Period = { pageviews: 0, visitors: 0, bots: 0 };
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const hourOf = (at: number) => new Date(at).toISOString().slice(0, 13);
/** The rows in `pageview_periods` that count a view of this time. */
const periodsOf = (at: number) => ['total', `day ${dayOf(at)}`, `hour ${hourOf(at)}`] as const;

const ADD_PERIODS = `ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + excluded.pageviews,
  visitors = visitors + excluded.visitors, bots = bots + excluded.bots`;
const READ_PERIODS = `SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period = 'total'
  UNION ALL SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period >= ? AND period < 'day ~'
  UNION ALL SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period >= ? AND period < 'hour ~'`;
const TOP =
  'SELECT kind, value, count FROM pageview_sources WHERE kind = ? ORDER BY count DESC, value LIMIT ?';
/** SQLite runs the parts in order, so each part keeps its own order. */
const READ_TOPS = `SELECT * FROM (${TOP}) UNION ALL SELECT * FROM (${TOP})`;

export type AnalyticsStore = ReturnType<typeof createAnalyticsStore>;

/** @param defer keeps a background promise alive after the answer has gone */
export function createAnalyticsStore(db: D1Database, defer: (work: Promise<unknown>) => void) {
  let known: { readonly day: string; readonly salt: string } | undefined;

  const insert = (view: View): D1PreparedStatement =>
    db
      .prepare(
        `INSERT INTO pageview_arrivals (at_ms, path, referrer, ip, referrer_host, day, hour, visitor)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        view.at,
        view.path,
        view.referrer,
        view.ip,
        view.referrerHost ?? null,
        dayOf(view.at),
        hourOf(view.at),
        view.visitor,
      );

  const add = inGroups<View>({
    write: async (views) => {
      await db.batch(views.map(insert));
    },
    defer,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });

  return {
    /** The salt of the day that contains `at`; the first caller's `fresh` value becomes the salt. */
    async salt(at: number, fresh: () => string): Promise<string> {
      const day = dayOf(at);
      if (known?.day === day) return known.salt;
      const [, found] = await db.batch<{ salt: string }>([
        db
          .prepare('INSERT INTO pageview_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING')
          .bind(day, fresh()),
        db.prepare('SELECT salt FROM pageview_salts WHERE day = ?').bind(day),
      ]);
      const salt = found?.results[0]?.salt;
      if (salt === undefined) throw new Error('the salt of the day was not stored');
      known = { day, salt };
      return salt;
    },

    /** Appends a view and counts it. */
    add,

    /** Counts a crawler's view; nothing else of it is stored. */
    async addBot(at: number): Promise<void> {
      await db
        .prepare(
          `INSERT INTO pageview_periods (period, pageviews, visitors, bots) VALUES (?, 0, 0, 1), (?, 0, 0, 1), (?, 0, 0, 1)
           ${ADD_PERIODS}`,
        )
        .bind(...periodsOf(at))
        .run();
    },

    async read({ firstDay, firstHour, top, recent }: StatsBounds): Promise<Counters> {
      const [periods, tops, views] = await db.batch([
        db.prepare(READ_PERIODS).bind(`day ${firstDay}`, `hour ${firstHour}`),
        db.prepare(READ_TOPS).bind('path', top, 'referrer', top),
        db.prepare('SELECT at_ms, path, referrer, ip FROM pageviews ORDER BY id DESC LIMIT ?').bind(recent),
      ]);
      const rows = <T>(result: D1Result | undefined) => (result?.results ?? []) as T[];
      const since = (kind: string) =>
        new Map(
          rows<PeriodRow>(periods)
            .filter(({ period }) => period.startsWith(kind))
            .map(({ period, ...counts }) => [period.replace(/^\w+ /, ''), counts]),
        );
      const topOf = (kind: string) =>
        rows<Count & { kind: string }>(tops)
          .filter((row) => row.kind === kind)
          .map(({ value, count }) => ({ value, count }));
      return {
        total: since('total').get('total') ?? EMPTY,
        days: since('day '),
        hours: since('hour '),
        paths: topOf('path'),
        referrers: topOf('referrer'),
        recent: rows<ViewRow>(views).map(({ at_ms, ...view }) => ({ at: at_ms, ...view })),
      };
    },

    /** Deletes the salts of earlier days, after which their visitor keys identify no visitor. */
    async deleteSalts(now: number): Promise<number> {
      const { meta } = await db.prepare('DELETE FROM pageview_salts WHERE day < ?').bind(dayOf(now)).run();
      return meta.changes;
    },

    /** Deletes visitor keys of earlier days, at most `limit`; the day's row keeps their number. */
    async deleteVisitors(now: number, limit: number): Promise<number> {
      const { meta } = await db
        .prepare(
          `DELETE FROM pageview_visitors WHERE (day, visitor) IN
           (SELECT day, visitor FROM pageview_visitors WHERE day < ? LIMIT ?)`,
        )
        .bind(dayOf(now), limit)
        .run();
      return meta.changes;
    },

    /**
     * Deletes the oldest views: those from before a time, and those beyond the newest `most`. The counters
     * keep them. The newest `least` stay at any age, because statistics list them and ids must never be
     * reused.
     *
     * @param limit maximum views deleted per call
     * @returns the number of deleted views
     */
    async deleteViews(
      before: number,
      { least, most }: { least: number; most: number },
      limit: number,
    ): Promise<number> {
      const { meta } = await db
        .prepare(
          `WITH newest AS (SELECT max(id) AS id FROM pageviews)
           DELETE FROM pageviews WHERE id IN (
             SELECT oldest.id FROM (SELECT id, at_ms FROM pageviews ORDER BY id LIMIT ?1) oldest, newest
             WHERE oldest.id <= newest.id - ?3 OR (oldest.at_ms < ?2 AND oldest.id <= newest.id - ?4))`,
        )
        .bind(limit, before, most, least)
        .run();
      return meta.changes;
    },

    /**
     * Removes the addresses of views from before a time, at most `limit` views per call, oldest first. A mark
     * stores the progress: ids grow with time, and an index on the address would make every view more
     * expensive.
     *
     * @returns the number of processed views
     */
    async dropIps(before: number, limit: number): Promise<number> {
      const from = `(SELECT coalesce(max(last_id), 0) FROM pageview_ip_mark)`;
      const chunk = `SELECT id, at_ms FROM pageviews WHERE id > ${from} ORDER BY id LIMIT ?1`;
      const [last] = await db.batch<{ id: number | null; passed: number }>([
        db
          .prepare(`SELECT max(id) AS id, count(*) AS passed FROM (${chunk}) WHERE at_ms < ?2`)
          .bind(limit, before),
      ]);
      const { id = null, passed = 0 } = last?.results[0] ?? {};
      if (id === null) return 0;
      await db.batch([
        db
          .prepare(`UPDATE pageviews SET ip = NULL WHERE id > ${from} AND id <= ? AND ip IS NOT NULL`)
          .bind(id),
        db
          .prepare(
            'INSERT INTO pageview_ip_mark (one, last_id) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET last_id = max(last_id, ?1)',
          )
          .bind(id),
      ]);
      return passed;
    },
  };
}
