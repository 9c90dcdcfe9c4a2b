import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import type { AnalyticsStore } from './analytics-store.ts';

export type PurgeAnalyticsDeps = {
  analytics: Pick<
    AnalyticsStore,
    'deleteSalts' | 'deleteMessages' | 'deleteVisitors' | 'dropIps' | 'deleteViews'
  >;
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
