import { useAnswer } from '../api/use-answer.ts';
import { Basins } from './canal.tsx';
import { sats } from './format.ts';
import { Age } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { ReserveChart } from './reserve-chart.tsx';

const POLL_MS = 60_000;

export function OverviewChart() {
  const history = useAnswer('listProofs', { limit: 100 }, POLL_MS);
  if (history.value === null && history.failure !== null)
    return <Failed failure={history.failure} retry={history.refresh} />;
  if (history.value === null)
    return (
      <div class="chart awaited">
        <div class="plot">
          <Waiting what="Reading the archive of proofs." />
        </div>
      </div>
    );
  const { proofs } = history.value;
  if (proofs.length < 2)
    return (
      <div class="empty">
        <Basins waters={[['btc', proofs[0] === undefined ? 0 : 0.8]]} />
        {proofs[0] === undefined ? (
          <p>No proof has been signed yet. The first one is due within a minute.</p>
        ) : (
          <p>
            One proof so far: {sats(proofs[0].figures.reserveSatoshis)} sats,{' '}
            <Age iso={proofs[0].timestamp} />. The chart starts with the second proof; a proof is signed every
            hour.
          </p>
        )}
      </div>
    );
  return <ReserveChart proofs={proofs} />;
}
