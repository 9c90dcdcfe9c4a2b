import { DAY_MS } from '../../core/limits.ts';
import type { AnalyticsStore } from './analytics-store.ts';

export type PurgeAnalyticsDeps = {
  analytics: Pick<AnalyticsStore, 'deleteSalts' | 'deleteVisitors' | 'dropIps'>;
  /** Days that a raw address is kept. */
  ipRetentionDays: number;
  now: () => number;
};

/** A statement stays far below what D1 lets one take. */
const CHUNK = 5_000;
/** 50,000 a run: called each minute it keeps up with 800 views a second. */
const MAX_CHUNKS = 10;

export type Purged = { readonly salts: number; readonly visitors: number; readonly views: number };

/** Forgets who viewed what: yesterday's salt and visitor keys, and addresses past their time. Safe to repeat. */
export async function purgeAnalytics({
  analytics,
  ipRetentionDays,
  now,
}: PurgeAnalyticsDeps): Promise<Purged> {
  const at = now();
  const salts = await analytics.deleteSalts(at);
  const visitors = await inChunks((limit) => analytics.deleteVisitors(at, limit));
  const views = await inChunks((limit) => analytics.dropIps(at - ipRetentionDays * DAY_MS, limit));
  return { salts, visitors, views };
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
