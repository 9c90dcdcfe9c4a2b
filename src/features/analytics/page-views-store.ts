/**
 * The page views of one Durable Object: the log of the newest views, and the sums of all views. Reading the sums reads
 * the same number of rows at any size of the log. The sums include views that the log has deleted.
 * @module
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { ipv6Prefix } from '../../core/client-network.ts';
import { DAY_MS } from '../../core/durations.ts';

export type View = {
  readonly path: string;
  readonly referrer: string;
  readonly referrerHost: string | undefined;
  readonly ip: string | null;
  /** From `visitorOf`; only its hash with the day's salt is stored. */
  readonly visitor: string;
};

/** Views of one UTC hour that are written in one transaction. */
export type Batch = {
  /** Such as `2026-11-20T16`. */
  readonly hour: string;
  readonly views: readonly (View & { readonly at: number })[];
  /** Views of crawlers, which are only counted. */
  readonly bots: number;
};

export type Count = { readonly value: string; readonly count: number };
export type Period = { readonly pageviews: number; readonly visitors: number; readonly bots: number };
export type Counters = {
  /** `total`, `day 2026-11-20` and `hour 2026-11-20T16`, all UTC; periods without views are absent. */
  readonly periods: readonly (Period & { readonly period: string })[];
  readonly paths: readonly Count[];
  readonly referrers: readonly Count[];
  /** The newest first; `t` is ISO 8601, and the address is redacted. */
  readonly recent: readonly (Pick<View, 'path' | 'referrer' | 'ip'> & { readonly t: string })[];
};

export type StatsBounds = {
  readonly firstDay: string;
  readonly firstHour: string;
  readonly top: number;
  readonly recent: number;
};

type Row = Readonly<Record<string, string | number | null>>;

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
export const hourOf = (at: number): string => new Date(at).toISOString().slice(0, 13);

const SCHEMA = `
CREATE TABLE IF NOT EXISTS views (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,              -- Unix milliseconds
  path TEXT NOT NULL,
  referrer TEXT NOT NULL,              -- without credentials, query and fragment; may be empty
  ip TEXT                              -- null after the retention time
);
-- The last row of views whose ip was removed.
CREATE TABLE IF NOT EXISTS ip_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  last_id INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS periods (
  period TEXT PRIMARY KEY,
  pageviews INTEGER NOT NULL,
  visitors INTEGER NOT NULL,           -- distinct visitors, counted for days only
  bots INTEGER NOT NULL                -- views of crawlers, in no other column
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
  kind TEXT NOT NULL CHECK (kind IN ('path', 'referrer')),
  value TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS names_by_count ON names (kind, count DESC, value);
-- How many names were added on the latest day with a new one.
CREATE TABLE IF NOT EXISTS new_names (
  kind TEXT PRIMARY KEY,               -- as in names
  day TEXT NOT NULL,
  count INTEGER NOT NULL
) WITHOUT ROWID;
-- Visitors of the current day. Salt and keys are deleted after the day.
CREATE TABLE IF NOT EXISTS salts (
  day TEXT PRIMARY KEY,
  salt TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS visitors (
  day TEXT NOT NULL,
  visitor TEXT NOT NULL,
  PRIMARY KEY (day, visitor)
) WITHOUT ROWID;`;

/** Maximum new names of each kind in one day. Views with further names are counted as `other`. */
const MAX_NEW_NAMES = 1_000;
const MAX_VISITORS = 1_000_000;
/** The log keeps views for 90 days, and at most 1,000,000: 0.6 GB if each view has the longest path and referrer. */
const LOG_MS = 90 * DAY_MS;
const IP_RETENTION_MS = 30 * DAY_MS;
const LOG_ROWS = { least: 50, most: 1_000_000 };
/** Maximum rows that each step of a purge deletes or changes. */
const MAX_PURGED = 5_000;

export class PageViewStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    storage.sql.exec(SCHEMA);
  }

  #rows<T extends Row>(query: string, ...params: (string | number | null)[]): T[] {
    return this.#storage.sql.exec<T>(query, ...params).toArray();
  }

  /** Logs and counts all views of a batch, or none. */
  add({ hour, views, bots }: Batch): void {
    const day = hour.slice(0, 10);
    this.#storage.transactionSync(() => {
      for (const { at, path, referrer, ip } of views)
        this.#rows(
          'INSERT INTO views (at_ms, path, referrer, ip) VALUES (?, ?, ?, ?)',
          at,
          path,
          referrer,
          ip,
        );
      const visitors = this.#addVisitors(day, views);
      this.#addPeriod('total', { pageviews: views.length, visitors: 0, bots });
      this.#addPeriod(`day ${day}`, { pageviews: views.length, visitors, bots });
      this.#addPeriod(`hour ${hour}`, { pageviews: views.length, visitors: 0, bots });
      this.#addNames(
        'path',
        day,
        Map.groupBy(views, ({ path }) => path),
      );
      const withReferrer = views.filter(({ referrerHost }) => referrerHost !== undefined);
      this.#addNames(
        'referrer',
        day,
        Map.groupBy(withReferrer, ({ referrerHost = '' }) => referrerHost),
      );
    });
  }

  #addPeriod(period: string, { pageviews, visitors, bots }: Period): void {
    this.#rows(
      `INSERT INTO periods (period, pageviews, visitors, bots) VALUES (?, ?, ?, ?)
       ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + excluded.pageviews,
         visitors = visitors + excluded.visitors, bots = bots + excluded.bots`,
      period,
      pageviews,
      visitors,
      bots,
    );
  }

  /** @returns the number of visitors that are new on this day */
  #addVisitors(day: string, views: Batch['views']): number {
    if (views.length === 0) return 0;
    const salt = this.#saltOf(day);
    const [counted] = this.#rows<{ visitors: number }>(
      'SELECT visitors FROM periods WHERE period = ?',
      `day ${day}`,
    );
    const room = MAX_VISITORS - (counted?.visitors ?? 0);
    let added = 0;
    for (const visitor of new Set(views.map(({ visitor }) => visitor))) {
      if (added >= room) break;
      added += this.#rows(
        'INSERT INTO visitors (day, visitor) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING 1',
        day,
        visitorKey(salt, visitor),
      ).length;
    }
    return added;
  }

  #saltOf(day: string): string {
    const [stored] = this.#rows<{ salt: string }>('SELECT salt FROM salts WHERE day = ?', day);
    if (stored) return stored.salt;
    const salt = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
    this.#rows('INSERT INTO salts (day, salt) VALUES (?, ?)', day, salt);
    return salt;
  }

  #addNames(kind: 'path' | 'referrer', day: string, viewsByName: ReadonlyMap<string, readonly View[]>): void {
    const [added] = this.#rows<{ count: number }>(
      'SELECT count FROM new_names WHERE kind = ? AND day = ?',
      kind,
      day,
    );
    const before = added?.count ?? 0;
    let names = before;
    let others = 0;
    for (const [name, { length }] of viewsByName) {
      const known = this.#rows(
        'UPDATE names SET count = count + ? WHERE kind = ? AND value = ? RETURNING 1',
        length,
        kind,
        name,
      );
      if (known.length > 0) continue;
      if (names < MAX_NEW_NAMES) {
        this.#rows('INSERT INTO names (kind, value, count) VALUES (?, ?, ?)', kind, name, length);
        names += 1;
      } else others += length;
    }
    if (others > 0)
      this.#rows(
        `INSERT INTO names (kind, value, count) VALUES (?, 'other', ?)
         ON CONFLICT (kind, value) DO UPDATE SET count = count + excluded.count`,
        kind,
        others,
      );
    if (names > before)
      this.#rows(
        `INSERT INTO new_names (kind, day, count) VALUES (?, ?, ?)
         ON CONFLICT (kind) DO UPDATE SET day = excluded.day, count = excluded.count`,
        kind,
        day,
        names,
      );
  }

  read({ firstDay, firstHour, top, recent }: StatsBounds): Counters {
    const topOf = (kind: string) =>
      this.#rows<Count>(
        'SELECT value, count FROM names WHERE kind = ? ORDER BY count DESC, value LIMIT ?',
        kind,
        top,
      );
    return {
      periods: this.#rows<Counters['periods'][number]>(
        `SELECT period, pageviews, visitors, bots FROM periods WHERE period = 'total'
         UNION ALL SELECT period, pageviews, visitors, bots FROM periods WHERE period >= ? AND period < 'day ~'
         UNION ALL SELECT period, pageviews, visitors, bots FROM periods WHERE period >= ? AND period < 'hour ~'`,
        `day ${firstDay}`,
        `hour ${firstHour}`,
      ),
      paths: topOf('path'),
      referrers: topOf('referrer'),
      recent: this.#rows<{ at_ms: number; path: string; referrer: string; ip: string | null }>(
        'SELECT at_ms, path, referrer, ip FROM views ORDER BY id DESC LIMIT ?',
        recent,
      ).map(({ at_ms, path, referrer, ip }) => ({
        t: new Date(at_ms).toISOString(),
        path,
        referrer,
        ip: ip === null ? null : redactIp(ip),
      })),
    };
  }

  /**
   * Deletes salts and visitors of earlier days, addresses past their retention, and the oldest views of the log; at
   * most `MAX_PURGED` rows of each.
   * @returns whether all that was due is deleted
   */
  purge(now: number): boolean {
    const today = dayOf(now);
    return this.#storage.transactionSync(() => {
      this.#rows('DELETE FROM salts WHERE day < ?', today);
      const steps = [
        this.#deleteVisitors(today),
        this.#dropIps(now - IP_RETENTION_MS),
        this.#deleteViews(now - LOG_MS),
      ];
      return steps.every((rows) => rows < MAX_PURGED);
    });
  }

  /** Deletes the visitors of earlier days. The row of each day still has their number. */
  #deleteVisitors(today: string): number {
    return this.#rows(
      `DELETE FROM visitors WHERE (day, visitor) IN (SELECT day, visitor FROM visitors WHERE day < ? LIMIT ?)
       RETURNING 1`,
      today,
      MAX_PURGED,
    ).length;
  }

  /**
   * Removes the addresses of views from before a time, the oldest first. `ip_mark` stores the last processed id,
   * because ids grow with time. There is no index on the address, because it would make every view more expensive.
   */
  #dropIps(before: number): number {
    const [mark] = this.#rows<{ last_id: number }>('SELECT last_id FROM ip_mark');
    const from = mark?.last_id ?? 0;
    if (!this.#isOlder(from, before)) return 0;
    const [passed] = this.#rows<{ id: number; views: number }>(
      `SELECT max(id) AS id, count(*) AS views FROM (SELECT id, at_ms FROM views WHERE id > ? ORDER BY id LIMIT ?)
       WHERE at_ms < ?`,
      from,
      MAX_PURGED,
      before,
    );
    if (!passed) return 0;
    this.#rows('UPDATE views SET ip = NULL WHERE id > ? AND id <= ? AND ip IS NOT NULL', from, passed.id);
    this.#rows(
      'INSERT INTO ip_mark (one, last_id) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET last_id = ?1',
      passed.id,
    );
    return passed.views;
  }

  /**
   * Deletes views from before a time, and those beyond the newest `most`. The newest `least` are kept whatever their age, because
   * statistics list them and ids must never be reused.
   */
  #deleteViews(before: number): number {
    const [log] = this.#rows<{ first: number | null; last: number | null }>(
      'SELECT (SELECT min(id) FROM views) AS first, (SELECT max(id) FROM views) AS last',
    );
    const { first = null, last = null } = log ?? {};
    if (first === null || last === null) return 0;
    const surplus = last - LOG_ROWS.most;
    if (first > surplus && !this.#isOlder(0, before)) return 0;
    return this.#rows(
      `DELETE FROM views WHERE id IN (
         SELECT id FROM (SELECT id, at_ms FROM views ORDER BY id LIMIT ?)
         WHERE id <= ? OR (at_ms < ? AND id <= ?))
       RETURNING 1`,
      MAX_PURGED,
      surplus,
      before,
      last - LOG_ROWS.least,
    ).length;
  }

  #isOlder(id: number, before: number): boolean {
    const [next] = this.#rows<{ at_ms: number }>(
      'SELECT at_ms FROM views WHERE id > ? ORDER BY id LIMIT 1',
      id,
    );
    return next !== undefined && next.at_ms < before;
  }
}

/** An address for public display: its IPv4 /24 or IPv6 /48. */
export function redactIp(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').slice(0, 3).join('.')}.0/24`;
  return `${ipv6Prefix(ip).split(':').slice(0, 3).join(':')}::/48`;
}

/** The salt is random and deleted after the day, so that keys cannot be traced to addresses. */
export const visitorKey = (salt: string, visitor: string): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(salt), utf8ToBytes(visitor)).subarray(0, 16));
