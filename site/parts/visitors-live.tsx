import { useState } from 'hono/jsx';
import type { AnalyticsStats } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { Chart } from './chart.tsx';
import { Choices } from './choices.tsx';
import { count, counted, fromUnixSeconds, instant } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

const POLL_MS = 20_000;
const TOP = 12;

const seconds = (iso: string): number => Math.floor(Date.parse(iso) / 1000);

type Period = 'day' | 'month';
const PERIODS = [
  ['day', '24 hours'],
  ['month', '30 days'],
] as const;

/** Fewer views draw a line on the floor of the chart. */
const FEWEST_VIEWS = 5;

/** Views by hour of the last day, or views and visitors by day. Visitors are counted only per day. */
function Views({ stats: { series, series_hourly: hourly } }: { stats: AnalyticsStats }) {
  const [period, setPeriod] = useState<Period>('month');
  const hours = hourly.slice(-24);
  const inMonth = series.reduce((sum, { pageviews }) => sum + pageviews, 0);
  const views = (rows: readonly { readonly pageviews: number }[]) =>
    ({ name: 'Page views', asset: 'absr', values: rows.map(({ pageviews }) => pageviews) }) as const;
  if (inMonth < FEWEST_VIEWS)
    return <p class="card empty">{counted(inMonth, 'page view')} in 30 days: too few for a chart.</p>;
  return (
    <div class="stack">
      <Choices legend="Period" choices={PERIODS} value={period} set={setPeriod} />
      {period === 'day' ? (
        <Chart
          title="Page views by hour"
          xName="Hour"
          xIs="time"
          x={hours.map(({ hour }) => seconds(hour))}
          lines={[views(hours)]}
          show={count}
          showX={(at) => instant(fromUnixSeconds(at))}
        />
      ) : (
        <Chart
          title="Page views and visitors by day"
          xName="Day"
          xIs="time"
          x={series.map(({ day }) => seconds(`${day}T00:00:00Z`))}
          lines={[
            views(series),
            { name: 'Visitors', asset: 'sol', values: series.map(({ visitors }) => visitors ?? null) },
          ]}
          show={count}
          showX={(at) => fromUnixSeconds(at).slice(0, 10)}
        />
      )}
    </div>
  );
}

export function VisitorReport({ stats }: { stats: AnalyticsStats }) {
  const { totals, by_path: paths, by_referrer: referrers } = stats;
  return (
    <>
      <div class="tiles">
        <Tile name="Page views in 24 hours" value={count(totals.last_24h)} />
        <Tile name="Visitors today" value={count(totals.visitors_24h)}>
          since 00:00 UTC
        </Tile>
        <Tile name="Page views in 7 days" value={count(totals.last_7d)} />
        <Tile name="Bots left out" value={count(totals.filtered_bots)}>
          counted separately
        </Tile>
      </div>
      <section>
        <h2>Over time</h2>
        <Views stats={stats} />
      </section>
      <div class="columns">
        <section>
          <h2>Pages</h2>
          <Table
            label="Views by page"
            columns={[{ name: 'Page' }, { name: 'Views', right: true }]}
            rows={paths
              .slice(0, TOP)
              .map(({ path, count: views }) => [<Foreign text={path} />, count(views)])}
            empty="No view has been counted yet."
          />
        </section>
        <section>
          <h2>Where they came from</h2>
          <Table
            label="Views by referring site"
            columns={[{ name: 'Site' }, { name: 'Views', right: true }]}
            rows={referrers
              .slice(0, TOP)
              .map(({ host, count: views }) => [<Foreign text={host} />, count(views)])}
            empty="No visit has come from a link yet."
          />
        </section>
      </div>
    </>
  );
}

export const Visitors = () => (
  <Loaded
    query={useQuery('getAnalyticsStats', {}, POLL_MS)}
    waiting="Reading the counters."
    card
    show={(stats) => <VisitorReport stats={stats} />}
  />
);
