import { z } from '@hono/zod-openapi';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { lazily } from '#answers';
import { AppError } from '../../core/errors.ts';
import { DAY_MS, HOUR_MS } from '../../core/limits.ts';
import { component } from '../../http/router.ts';
import type { AnalyticsStore, Counters } from './analytics-store.ts';
import { redactIp } from './count-pageview.ts';

export type GetStatsDeps = { analytics: Pick<AnalyticsStore, 'read'>; now: () => number };

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
type Aggregates = Omit<Stats, 'as_of'>;

/**
 * The aggregates as JSON without the closing brace, by their counters: while no view is added, only `as_of` differs
 * between answers.
 */
const aggregates = new WeakMap<Counters, Uint8Array>();

/** The body of the answer, in the form of `StatsBody`. @throws AppError ANALYTICS_READ_FAILED */
export async function statsJson({ analytics, now }: GetStatsDeps): Promise<Uint8Array<ArrayBuffer>> {
  const at = now();
  const { days, hours } = periodsAt(at);
  let counters: Counters;
  try {
    counters = await analytics.read({
      firstDay: days[0] ?? '',
      firstHour: hours[0] ?? '',
      top: TOP,
      recent: RECENT,
    });
  } catch (cause) {
    throw new AppError('ANALYTICS_READ_FAILED', 'The page-view counters cannot be read.', { cause });
  }
  const known =
    aggregates.get(counters) ?? utf8ToBytes(JSON.stringify(aggregatesOf(counters, days, hours)).slice(0, -1));
  aggregates.set(counters, known);
  const asOf = utf8ToBytes(`,"as_of":"${new Date(at).toISOString()}"}`);
  const body = new Uint8Array(known.length + asOf.length);
  body.set(known);
  body.set(asOf, known.length);
  return body;
}

/** @param days, hours of the series, which begin where the counters begin */
function aggregatesOf(counters: Counters, days: readonly string[], hours: readonly string[]): Aggregates {
  const hourly = hours.map((hour) => ({
    hour: `${hour}:00:00.000Z`,
    pageviews: counters.hours.get(hour)?.pageviews ?? 0,
  }));
  const sum = (list: typeof hourly) => list.reduce((total, { pageviews }) => total + pageviews, 0);
  const series = days.map((day) => ({
    day,
    pageviews: counters.days.get(day)?.pageviews ?? 0,
    visitors: counters.days.get(day)?.visitors ?? 0,
  }));
  return {
    ok: true,
    totals: {
      pageviews: counters.total.pageviews,
      last_24h: sum(hourly.slice(-24)),
      last_7d: sum(hourly),
      visitors_24h: series.at(-1)?.visitors ?? 0,
      filtered_bots: counters.total.bots,
    },
    by_path: counters.paths.map(({ value, count }) => ({ path: value, count })),
    by_referrer: counters.referrers.map(({ value, count }) => ({ host: value, count })),
    recent: counters.recent.map(({ at, path, referrer, ip }) => ({
      t: new Date(at).toISOString(),
      path,
      referrer,
      ip: ip === null ? null : redactIp(ip),
    })),
    series,
    series_hourly: hourly.slice(-SERIES_HOURS),
  };
}

type Periods = { readonly hour: number; readonly days: readonly string[]; readonly hours: readonly string[] };
let lastPeriods: Periods | undefined;

/** The days and hours of the series, which are the same during an hour. */
function periodsAt(at: number): Periods {
  const hour = Math.floor(at / HOUR_MS);
  if (lastPeriods?.hour !== hour)
    lastPeriods = {
      hour,
      days: latest(at, DAY_MS, SERIES_DAYS).map((start) => start.slice(0, 10)),
      hours: latest(at, HOUR_MS, HOURS_A_WEEK).map((start) => start.slice(0, 13)),
    };
  return lastPeriods;
}

/**
 * Starts of the last `length` periods, the current one last, as ISO text. UTC days and hours are multiples of
 * Unix time.
 */
const latest = (at: number, periodMs: number, length: number): string[] =>
  Array.from({ length }, (_, index) =>
    new Date((Math.floor(at / periodMs) - (length - 1 - index)) * periodMs).toISOString(),
  );
