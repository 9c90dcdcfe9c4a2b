import { useEffect, useState } from 'hono/jsx';
import type { ProofHistory } from '../../packages/client/src/index.ts';
import { allProofs } from '../api/proofs.ts';
import { useQuery } from '../api/query.ts';
import { Basins } from './canal.tsx';
import { Chart } from './chart.tsx';
import { amountOf, count, fromUnixSeconds, instant } from './format.ts';
import { Age } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Periods } from './periods.tsx';

type Proofs = ProofHistory['proofs'];
type Period = 'day' | 'month' | 'all';

const PERIODS = [
  ['day', '24 hours'],
  ['month', '30 days'],
  ['all', 'All'],
] as const;
const POLL_MS = 60_000;
const DAY_MS = 86_400_000;

/** Reserve and supply, as signed in each proof. */
function ReserveChart({ proofs }: { proofs: Proofs }) {
  const rows = [...proofs].reverse();
  return (
    <Chart
      title="Sats in the reserve and ABSR supply at each signed proof"
      xName="Proof signed"
      xIs="time"
      x={rows.map(({ timestamp }) => Math.floor(Date.parse(timestamp) / 1000))}
      lines={[
        {
          name: 'Reserve, sats',
          asset: 'btc',
          values: rows.map(({ figures }) => Number(figures.reserveSatoshis)),
        },
        {
          name: 'ABSR supply',
          asset: 'absr',
          values: rows.map(({ figures }) =>
            figures.absrSupplyAtoms === null
              ? null
              : Number(figures.absrSupplyAtoms) / 10 ** (figures.absrDecimals ?? 0),
          ),
        },
      ]}
      show={count}
      showX={(at) => instant(fromUnixSeconds(at))}
      stepped
    />
  );
}

/** The last proof of every UTC day; null until all are read. */
function useDays(isWanted: boolean): Proofs | null {
  const [days, setDays] = useState<Proofs | null>(null);
  useEffect(() => {
    if (!isWanted || days !== null) return;
    const read = async (): Promise<void> => {
      const found: Proofs = [];
      for await (const proof of allProofs({ every: 'day' })) found.push(proof);
      setDays(found);
    };
    // Without them the chart keeps the proofs that it has.
    read().catch(() => undefined);
  }, [isWanted]);
  return days;
}

/** @param newest the newest proofs, one per hour */
function History({ newest }: { newest: Proofs }) {
  const [period, setPeriod] = useState<Period>('day');
  const days = useDays(period !== 'day');
  const [first] = newest;
  if (first === undefined || newest.length < 2)
    return (
      <div class="empty">
        <Basins waters={[['btc', first === undefined ? 0 : 0.8]]} />
        {first === undefined ? (
          <p>No proof has been signed yet. The first one is due within a minute.</p>
        ) : (
          <p>
            One proof so far: {amountOf(first.figures.reserveSatoshis, 'sat')}, <Age iso={first.timestamp} />.
            The chart starts with the second proof. One is signed every hour and after each mint.
          </p>
        )}
      </div>
    );
  const since = Date.parse(first.timestamp) - (period === 'day' ? DAY_MS : 30 * DAY_MS);
  const rows = period === 'day' || days === null || days.length < 2 ? newest : days;
  const shown = period === 'all' ? rows : rows.filter(({ timestamp }) => Date.parse(timestamp) >= since);
  return (
    <div class="stack">
      <Periods choices={PERIODS} value={period} set={setPeriod} />
      <ReserveChart proofs={shown} />
    </div>
  );
}

export function ReserveHistory() {
  // One more than a day has hours, so that the line reaches back to its beginning.
  const newest = useQuery('listProofs', { limit: 25 }, POLL_MS);
  return (
    <Loaded
      query={newest}
      waiting="Reading the archive of proofs."
      show={({ proofs }) => <History newest={proofs} />}
    />
  );
}
