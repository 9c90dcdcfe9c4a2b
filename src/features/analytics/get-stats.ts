import { z } from '@hono/zod-openapi';
import { DAY_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import { component } from '../../http/router.ts';
import type { PageViewsApi } from './page-views-object.ts';
import { type Count, dayOf, hourOf, type Period } from './page-views-store.ts';

export type GetStatsDeps = { pageViews: () => readonly Pick<PageViewsApi, 'read'>[]; now: () => number };

const TOP = 100;
const RECENT = 50;
const SERIES_DAYS = 30;
const SERIES_HOURS = 48;
const HOURS_A_WEEK = 7 * 24;
/** `00` to `23`. */
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
const NONE: Period = { pageviews: 0, visitors: 0, bots: 0 };

const count = z.int();
export const StatsBody = component('AnalyticsStats', {
  ok: z.literal(true),
  totals: z.object({
    pageviews: count,
    last_24h: count.describe('The current UTC hour and the 23 before it'),
    last_7d: count.describe('The current UTC hour and the 167 before it'),
    visitors_24h: count.describe('Distinct visitors since 00:00 UTC, at most 1,000,000'),
    filtered_bots: count.describe('Views of crawlers; no other figure includes them'),
  }),
  by_path: z
    .array(z.object({ path: z.string(), count: count }))
    .describe('The 100 most viewed; `other` sums paths beyond 1,000 new ones a day'),
  by_referrer: z
    .array(z.object({ host: z.string(), count: count }))
    .describe('The 100 hosts that sent the most views; `other` sums hosts beyond 1,000 new ones a day'),
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
    .array(z.object({ day: z.iso.date(), pageviews: count, visitors: count }))
    .describe('The last 30 UTC days, oldest first'),
  series_hourly: z
    .array(z.object({ hour: z.iso.datetime(), pageviews: count }))
    .describe('The last 48 UTC hours, oldest first'),
  as_of: z.iso.datetime(),
});

export type Stats = z.infer<typeof StatsBody>;

/**
 * The sums of all objects. Each object returns only its most frequent names, so a name's sum omits the views in objects
 * where it is rare.
 * @throws AppError ANALYTICS_READ_FAILED
 */
export async function getStats({ pageViews, now }: GetStatsDeps): Promise<Stats> {
  const at = now();
  const days = Array.from({ length: SERIES_DAYS }, (_, ago) => dayOf(at - ago * DAY_MS)).reverse();
  const hoursOfDay = days.slice(-8).flatMap((day) => HOURS.map((hour) => `${day}T${hour}`));
  const hours = hoursOfDay.slice(0, hoursOfDay.indexOf(hourOf(at)) + 1).slice(-HOURS_A_WEEK);
  const bounds = { firstDay: days[0] ?? '', firstHour: hours[0] ?? '', top: TOP, recent: RECENT };
  const parts = await Promise.all(
    pageViews().map(async (object) => (await object.read(bounds).catch(unreadable)) ?? unreadable()),
  );
  const sums = new Map<string, Period>();
  for (const { period, ...more } of parts.flatMap((part) => part.periods)) {
    const { pageviews, visitors, bots } = sums.get(period) ?? NONE;
    sums.set(period, {
      pageviews: pageviews + more.pageviews,
      visitors: visitors + more.visitors,
      bots: bots + more.bots,
    });
  }
  const sumOf = (period: string): Period => sums.get(period) ?? NONE;
  const hourly = hours.map((hour) => ({
    hour: `${hour}:00:00.000Z`,
    pageviews: sumOf(`hour ${hour}`).pageviews,
  }));
  const viewsOf = (list: typeof hourly): number => list.reduce((all, { pageviews }) => all + pageviews, 0);
  return {
    ok: true,
    totals: {
      pageviews: sumOf('total').pageviews,
      last_24h: viewsOf(hourly.slice(-24)),
      last_7d: viewsOf(hourly),
      visitors_24h: sumOf(`day ${dayOf(at)}`).visitors,
      filtered_bots: sumOf('total').bots,
    },
    by_path: topOf(parts.map(({ paths }) => paths)).map(({ value, count }) => ({ path: value, count })),
    by_referrer: topOf(parts.map(({ referrers }) => referrers)).map(({ value, count }) => ({
      host: value,
      count,
    })),
    recent: parts
      .flatMap((part) => part.recent)
      .toSorted((a, b) => Number(a.t < b.t) - Number(a.t > b.t))
      .slice(0, RECENT),
    series: days.map((day) => {
      const { pageviews, visitors } = sumOf(`day ${day}`);
      return { day, pageviews, visitors };
    }),
    series_hourly: hourly.slice(-SERIES_HOURS),
    as_of: new Date(at).toISOString(),
  };
}

function unreadable(cause?: unknown): never {
  throw new AppError('ANALYTICS_READ_FAILED', 'The page-view counters cannot be read.', { cause });
}

/** The names with the highest counts; names with equal counts are ordered by name. */
function topOf(lists: readonly (readonly Count[])[]): Count[] {
  const counts = new Map<string, number>();
  for (const { value, count } of lists.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, TOP);
}
