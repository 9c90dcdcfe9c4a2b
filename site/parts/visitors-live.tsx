import type { AnalyticsStats } from '../../packages/client/src/index.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Chart } from './chart.tsx';
import { count, fromUnixSeconds } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

const POLL_MS = 20_000;
const TOP = 12;

const seconds = (iso: string): number => Math.floor(Date.parse(iso) / 1000);

export function VisitorReport({ stats }: { stats: AnalyticsStats }) {
  const { totals, by_path: paths, by_referrer: referrers, recent, series } = stats;
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
        <h2>By day</h2>
        <div class="card">
          <Chart
            title="Page views and visitors by day"
            xName="Day"
            xIs="time"
            x={series.map(({ day }) => seconds(`${day}T00:00:00Z`))}
            lines={[
              { name: 'Page views', asset: 'absr', values: series.map(({ pageviews }) => pageviews) },
              { name: 'Visitors', asset: 'sol', values: series.map(({ visitors }) => visitors ?? null) },
            ]}
            show={count}
            showX={(at) => fromUnixSeconds(at).slice(0, 10)}
          />
        </div>
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
            empty="No view was counted yet."
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
            empty="No visit came from a link yet."
          />
        </section>
      </div>
      <section>
        <h2>Last views</h2>
        <Table
          label="Last views"
          columns={[{ name: 'When' }, { name: 'Page' }, { name: 'From' }, { name: 'Network' }]}
          rows={recent
            .slice(0, TOP)
            .map((view) => [
              <Moment iso={view.t} />,
              <Foreign text={view.path} />,
              view.referrer === '' ? 'direct' : <Foreign text={view.referrer} />,
              <code>{view.ip}</code>,
            ])}
          empty="No view was counted yet."
        />
      </section>
      <AsOf at={stats.as_of} />
    </>
  );
}

export function Visitors() {
  const answer = useAnswer('getAnalyticsStats', {}, POLL_MS);
  return (
    <>
      {answer.failure === null ? null : <Failed failure={answer.failure} retry={answer.refresh} />}
      {answer.value === null ? (
        answer.failure === null ? (
          <div class="card">
            <Waiting what="Counting." />
          </div>
        ) : null
      ) : (
        <VisitorReport stats={answer.value} />
      )}
    </>
  );
}
