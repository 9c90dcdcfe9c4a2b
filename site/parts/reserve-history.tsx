import { useEffect, useState } from 'hono/jsx';
import type { AbsrSummary, ProofHistory } from '../../packages/client/src/index.ts';
import { allProofs } from '../api/proofs.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Chart } from './chart.tsx';
import { Choices } from './choices.tsx';
import { amountOf, changeSince, count, counted, fromUnixSeconds, instant } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Awaited, Ground } from './verdict.tsx';

type Proofs = ProofHistory['proofs'];
type Period = 'day' | 'month' | 'all';
type View = 'headroom' | 'both';

const PERIODS = [
  ['day', '24 h'],
  ['month', '30 days'],
  ['all', 'All'],
] as const;
const VIEWS = [
  ['both', 'Both'],
  ['headroom', 'Headroom'],
] as const;
const POLL_MS = 60_000;
const DAY_MS = 86_400_000;
/** A line through fewer points shows no life, only the order in which the first proofs came. */
const FEWEST = 3;
/** One more than a day has hours, so that the line reaches back to its beginning. */
const HOURS = 25;
const DAYS = 31;

const reserveOf = ({ figures }: Proofs[number]): number => Number(figures.reserveSatoshis);
const supplyOf = ({ figures }: Proofs[number]): number | null =>
  figures.absrSupplyAtoms === null
    ? null
    : Number(figures.absrSupplyAtoms) / 10 ** (figures.absrDecimals ?? 0);

/** Null before the first ABSR. */
function headroomOf(proof: Proofs[number]): number | null {
  const supply = supplyOf(proof);
  return supply ? reserveOf(proof) - supply : null;
}

/**
 * The headroom that was signed last, and its change since; empty before the first ABSR.
 * @param coverage the present comparison; a change is told only if it is younger than the proof
 */
export function captionOf(
  proof: Proofs[number],
  coverage: Pick<AbsrSummary['coverage'], 'gapSatoshis' | 'as_of'> | null,
): string {
  const headroom = headroomOf(proof);
  if (headroom === null) return '';
  const signed = BigInt(Math.floor(headroom));
  const since = changeSince(signed, proof.timestamp, coverage?.gapSatoshis, coverage?.as_of);
  return `At the last signed proof: ${amountOf(signed, 'sat')} of headroom${since}.`;
}

const useNewest = () => useQuery('listProofs', { limit: HOURS }, POLL_MS);
const useMonth = () => useQuery('listProofs', { every: 'day', limit: DAYS });

/** How many of these proofs with ABSR signed a reserve that covers it, and the day of the first; null without one. */
export function coveredAmong(
  proofs: Proofs,
): { readonly covered: number; readonly all: number; readonly since: string } | null {
  const distinct = [...new Map(proofs.map((proof) => [proof.hash, proof])).values()];
  const rows = distinct.flatMap((proof) => headroomOf(proof) ?? []);
  const times = distinct.filter((proof) => headroomOf(proof) !== null).map(({ timestamp }) => timestamp);
  const [first] = times.sort();
  if (first === undefined) return null;
  return { covered: rows.filter((sats) => sats >= 0).length, all: rows.length, since: first.slice(0, 10) };
}

/** Since when ABSR was covered, by the proofs that the chart of the page has read. A shortage now makes it no good news. */
export function CoveredSince() {
  const [newest, month] = [useNewest(), useMonth()];
  const isShort = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS).value?.coverage.state === 'short';
  if (newest.failure ?? month.failure) return <Ground>Earlier proofs cannot be read.</Ground>;
  if (newest.value === null || month.value === null) return <Awaited about="Since when ABSR was covered" />;
  const found = coveredAmong([...newest.value.proofs, ...month.value.proofs]);
  if (found === null) return <Ground>No proof of an ABSR supply is signed yet.</Ground>;
  const { covered, all, since } = found;
  const isAll = covered === all;
  const which = isAll
    ? all === 1
      ? 'the only proof'
      : `all ${count(all)} proofs`
    : `${count(covered)} of ${count(all)} proofs`;
  return (
    <Ground {...(isAll && isShort ? {} : { isGood: isAll })}>
      Covered in {which} that this page has read, since {since}.
    </Ground>
  );
}

/** Reserve and supply as signed in each proof, or the sats above the supply. */
function ReserveChart({
  proofs,
  isHeadroom,
  isDaily,
}: {
  proofs: Proofs;
  isHeadroom: boolean;
  isDaily: boolean;
}) {
  const rows = [...proofs].reverse();
  const shared = {
    xName: 'Proof signed',
    xIs: 'time',
    x: rows.map(({ timestamp }) => Math.floor(Date.parse(timestamp) / 1000)),
    show: count,
    showX: (at: number) => instant(fromUnixSeconds(at)),
    stepped: true,
    present: 'signed last, ',
    note: `${counted(rows.length, 'signed proof')}${isDaily ? ', the last of each day' : ''}; times in UTC.`,
  } as const;
  if (isHeadroom)
    return (
      <Chart
        {...shared}
        title="Headroom in sats"
        lines={[
          {
            name: 'Headroom in sats',
            asset: 'btc',
            values: rows.map(headroomOf),
          },
        ]}
      />
    );
  return (
    <Chart
      {...shared}
      title="Sats in the reserve and ABSR supply at each signed proof"
      lines={[
        { name: 'Signed sats', asset: 'btc', values: rows.map(reserveOf) },
        { name: 'ABSR supply', asset: 'absr', values: rows.map(supplyOf) },
      ]}
      isZoomed
    />
  );
}

/** The last proof of every UTC day; null until all are read. */
function useAllDays(isWanted: boolean): Proofs | null {
  const [days, setDays] = useState<Proofs | null>(null);
  useEffect(() => {
    if (!isWanted || days !== null) return;
    const read = async (): Promise<void> => {
      const found: Proofs = [];
      for await (const proof of allProofs({ every: 'day' })) found.push(proof);
      setDays(found);
    };
    // If this read fails, the chart keeps the proofs that it has.
    read().catch(() => undefined);
  }, [isWanted]);
  return days;
}

const NoChart = ({ proofs }: { proofs: Proofs }) => (
  <p class="empty">{counted(proofs.length, 'signed proof')} so far. The chart begins with the third.</p>
);

/** @param newest the newest proofs, one per hour */
function History({ newest }: { newest: Proofs }) {
  const [period, setPeriod] = useState<Period>('month');
  const [view, setView] = useState<View>('both');
  const coverage = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS).value?.coverage ?? null;
  const month = useMonth().value?.proofs ?? [];
  const all = useAllDays(period === 'all') ?? month;
  const [first] = newest;
  if (first === undefined || newest.length < FEWEST) return <NoChart proofs={newest} />;
  const days = period === 'all' ? all : month;
  // The newest proofs of a young reserve are all of them.
  const isDaily = period !== 'day' && newest.length >= HOURS && days.length >= FEWEST;
  const since = period === 'all' ? 0 : Date.parse(first.timestamp) - (period === 'day' ? 1 : 30) * DAY_MS;
  const shown = (isDaily ? days : newest).filter(({ timestamp }) => Date.parse(timestamp) >= since);
  return (
    <div class="stack">
      <div class="row">
        <Choices legend="Period" choices={PERIODS} value={period} set={setPeriod} />
        <Choices legend="Lines" choices={VIEWS} value={view} set={setView} />
      </div>
      {view === 'headroom' ? (
        <p>
          Headroom: sats without an ABSR. <span class="number">{captionOf(first, coverage)}</span>
        </p>
      ) : null}
      <ReserveChart proofs={shown} isHeadroom={view === 'headroom'} isDaily={isDaily} />
    </div>
  );
}

export function ReserveHistory() {
  const newest = useNewest();
  return (
    <Loaded
      query={newest}
      waiting="Reading the archive of proofs."
      show={({ proofs }) => <History newest={proofs} />}
    />
  );
}
