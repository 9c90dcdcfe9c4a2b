/**
 * Deletes what the page-view log keeps for a limited time.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import { dayOf, hourOf } from './analytics-store.ts';

type PurgeStore = ReturnType<typeof createPurgeStore>;

export const createPurgeStore = (db: D1Database) => ({
  /** Deletes the salts of earlier days, after which their visitor keys identify no visitor. */
  async deleteSalts(now: number): Promise<number> {
    const { meta } = await db.prepare('DELETE FROM pageview_salts WHERE day < ?').bind(dayOf(now)).run();
    return meta.changes;
  },

  /**
   * Deletes the ids of messages whose views are older than a time. Also deletes whole hours of the oldest ids while
   * more than `most` newer ones exist. At most `limit` per call.
   */
  async deleteMessages(before: number, most: number, limit: number): Promise<number> {
    const { meta } = await db
      .prepare(
        `DELETE FROM pageview_messages WHERE (hour, id) IN (
           SELECT hour, id FROM pageview_messages WHERE hour < max(?1, coalesce((
             SELECT max(hour) FROM (
               SELECT substr(period, 6) AS hour, sum(pageviews + bots) OVER (ORDER BY period DESC) AS newer
               FROM pageview_periods WHERE period >= 'hour ' || ?1 AND period < 'hour ~')
             WHERE newer > ?2), '')) LIMIT ?3)`,
      )
      .bind(hourOf(before), most, limit)
      .run();
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
      db.prepare(`UPDATE pageviews SET ip = NULL WHERE id > ${from} AND id <= ? AND ip IS NOT NULL`).bind(id),
      db
        .prepare(
          'INSERT INTO pageview_ip_mark (one, last_id) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET last_id = max(last_id, ?1)',
        )
        .bind(id),
    ]);
    return passed;
  },
});

export type PurgeAnalyticsDeps = {
  analytics: PurgeStore;
  /** Days for which a raw address is stored. */
  ipRetentionDays: number;
  now: () => number;
};

/** Rows per statement, well below D1's limit. */
const CHUNK = 5_000;
/** 50,000 per run: with one run per minute it keeps up with 800 views per second. */
const MAX_CHUNKS = 10;

/**
 * The log keeps views for 90 days, and at most 1,000,000: 0.6 GB if each view has the longest path and
 * referrer.
 */
const LOG_DAYS = 90;
const LOG_ROWS = { least: 50, most: 1_000_000 };
/** A view may reach the database from the queue this long after its day ended. */
const LATE_MS = HOUR_MS;
/** The queue keeps a message for four days. At most 5,000,000 ids, and those of the current hour: 0.3 GB. */
const MESSAGE_DAYS = 5;
const MAX_MESSAGES = 5_000_000;

export type Purged = {
  readonly salts: number;
  readonly messages: number;
  readonly visitors: number;
  /** Views whose address was removed. */
  readonly views: number;
  /** Views deleted from the log. */
  readonly deleted: number;
};

/**
 * Deletes salts and visitor keys of earlier days, ids of counted messages, addresses past their retention, and
 * the oldest views of the log. Safe to repeat.
 */
export async function purgeAnalytics({
  analytics,
  ipRetentionDays,
  now,
}: PurgeAnalyticsDeps): Promise<Purged> {
  const at = now();
  const salts = await analytics.deleteSalts(at);
  const messages = await inChunks((limit) =>
    analytics.deleteMessages(at - MESSAGE_DAYS * DAY_MS, MAX_MESSAGES, limit),
  );
  const visitors = await inChunks((limit) => analytics.deleteVisitors(at - LATE_MS, limit));
  const views = await inChunks((limit) => analytics.dropIps(at - ipRetentionDays * DAY_MS, limit));
  const deleted = await inChunks((limit) => analytics.deleteViews(at - LOG_DAYS * DAY_MS, LOG_ROWS, limit));
  return { salts, messages, visitors, views, deleted };
}

async function inChunks(step: (limit: number) => Promise<number>): Promise<number> {
  let done = 0;
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const count = await step(CHUNK);
    done += count;
    if (count < CHUNK) break;
  }
  return done;
}
