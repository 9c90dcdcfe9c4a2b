import { z } from '@hono/zod-openapi';
import { lazily } from '#answers';
import { AppError } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import { component } from '../../http/router.ts';
import { redactIp } from './count-pageview.ts';
import type { PageViewsApi } from './page-views-object.ts';
import type { Count, Counters } from './page-views-store.ts';

export type GetStatsDeps = { pageViews: () => readonly Pick<PageViewsApi, 'read'>[]; now: () => number };

const TOP = 100;
const RECENT = 50;
const SERIES_DAYS = 30;
const SERIES_HOURS = 48;
const HOURS_A_WEEK = 7 * 24;

const count = lazily(() => z.int());
export const StatsBody = lazily(() =>
  component('AnalyticsStats', {
    ok: z.literal(true),
    totals: z.object({
      pageviews: count(),
      last_24h: count().describe('The current UTC hour and the 23 before it'),
      last_7d: count().describe('The current UTC hour and the 167 before it'),
      visitors_24h: count().describe('Distinct visitors since 00:00 UTC, at most 1,000,000'),
      filtered_bots: count().describe('Views of crawlers; no other figure includes them'),
    }),
    by_path: z
      .array(z.object({ path: z.string(), count: count() }))
      .describe('The 100 most viewed; `other` sums paths beyond 1,000 new ones a day'),
    by_referrer: z
      .array(z.object({ host: z.string(), count: count() }))
      .describe('The 100 hosts that sent most views; `other` sums hosts beyond 1,000 new ones a day'),
    recent: z
      .array(
        z.object({
          t: z.iso.datetime(),
          path: z.string(),
          referrer: z.string(),
          ip: z.string().nullable().openapi({
            example: '203.0.113.0/24',
            description: 'The /24 or /48 of the visitor; null when unknown or deleted',
          }),
        }),
      )
      .describe('The last 50 views'),
    series: z
      .array(z.object({ day: z.iso.date(), pageviews: count(), visitors: count() }))
      .describe('The last 30 UTC days, oldest first'),
    series_hourly: z
      .array(z.object({ hour: z.iso.datetime(), pageviews: count() }))
      .describe('The last 48 UTC hours, oldest first'),
    as_of: z.iso.datetime(),
  }),
);

export type Stats = z.infer<ReturnType<typeof StatsBody>>;

/**
 * The sums of all objects. A name that is not among the first of an object is missing from that object's share.
 * @throws AppError ANALYTICS_READ_FAILED
 */
export async function getStats({ pageViews, now }: GetStatsDeps): Promise<Stats> {
  const at = now();
  const days = latest(at, DAY_MS, SERIES_DAYS).map((start) => start.slice(0, 10));
  const hours = latest(at, HOUR_MS, HOURS_A_WEEK).map((start) => start.slice(0, 13));
  const bounds = { firstDay: days[0] ?? '', firstHour: hours[0] ?? '', top: TOP, recent: RECENT };
  let parts: readonly Counters[];
  try {
    parts = await Promise.all(pageViews().map((object) => object.read(bounds)));
  } catch (cause) {
    throw new AppError('ANALYTICS_READ_FAILED', 'The page-view counters cannot be read.', { cause });
  }
  const periods = Map.groupBy(
    parts.flatMap((part) => part.periods),
    ({ period }) => period,
  );
  const sum = (figure: 'pageviews' | 'visitors' | 'bots', ...names: string[]): number =>
    names.flatMap((name) => periods.get(name) ?? []).reduce((total, period) => total + period[figure], 0);
  const ofHours = (count: number): number =>
    sum('pageviews', ...hours.slice(-count).map((hour) => `hour ${hour}`));
  return {
    ok: true,
    totals: {
      pageviews: sum('pageviews', 'total'),
      last_24h: ofHours(24),
      last_7d: ofHours(HOURS_A_WEEK),
      visitors_24h: sum('visitors', `day ${days.at(-1)}`),
      filtered_bots: sum('bots', 'total'),
    },
    by_path: topOf(parts.map(({ paths }) => paths)).map(({ value, count }) => ({ path: value, count })),
    by_referrer: topOf(parts.map(({ referrers }) => referrers)).map(({ value, count }) => ({
      host: value,
      count,
    })),
    recent: parts
      .flatMap((part) => part.recent)
      .toSorted((a, b) => b.at - a.at)
      .slice(0, RECENT)
      .map(({ at, path, referrer, ip }) => ({
        t: new Date(at).toISOString(),
        path,
        referrer,
        ip: ip === null ? null : redactIp(ip),
      })),
    series: days.map((day) => ({
      day,
      pageviews: sum('pageviews', `day ${day}`),
      visitors: sum('visitors', `day ${day}`),
    })),
    series_hourly: hours.slice(-SERIES_HOURS).map((hour) => ({
      hour: `${hour}:00:00.000Z`,
      pageviews: sum('pageviews', `hour ${hour}`),
    })),
    as_of: new Date(at).toISOString(),
  };
}

/** The names with the highest counts; equal counts by name. */
function topOf(lists: readonly (readonly Count[])[]): Count[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, TOP);
}

/**
 * Starts of the last `length` periods, the current one last, as ISO text. UTC days and hours are multiples of
 * Unix time.
 */
const latest = (at: number, periodMs: number, length: number): string[] =>
  Array.from({ length }, (_, index) =>
    new Date((Math.floor(at / periodMs) - (length - 1 - index)) * periodMs).toISOString(),
  );
