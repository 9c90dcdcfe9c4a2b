import type { AbsrSummary } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, type Query, retryFailed, useOutages, useQuery } from '../api/query.ts';
import { amountOf } from './format.ts';
import { Age } from './freshness.tsx';

/** A bar on top of every page while more ABSR exists than the reserve holds sats. It stays while that cannot be compared again. */
export function ShortfallBar({ value, failure }: Pick<Query<AbsrSummary>, 'value' | 'failure'>) {
  const { state, gapSatoshis: gap = null, as_of: at = null, stale } = value?.coverage ?? {};
  if (state !== 'short' || gap === null) return null;
  return (
    <div class="shortfall" role="alert">
      <p class="wide">
        <strong>The ABSR supply exceeds the reserve by {amountOf(-BigInt(gap), 'sat')}.</strong>{' '}
        {at === null ? null : (
          <>
            Compared <Age iso={at} />
            {stale || failure !== null ? ', and not again since' : ''}.{' '}
          </>
        )}
        <a href="/reserves">See both figures</a>
      </p>
    </div>
  );
}

/** That the service does not respond, in one place. A source that fails is named where its figures are missing. */
function Outages() {
  const outages = useOutages();
  if (outages.length === 0) return null;
  return (
    <div class="wide">
      <div class="notice bad" role="alert">
        {outages.map(({ text, next }) => (
          <p>
            <strong>{text}</strong> {next} Figures that are shown were read before. The chains do not depend
            on this service.
          </p>
        ))}
        <button type="button" class="quiet" onClick={retryFailed}>
          Try again
        </button>
      </div>
    </div>
  );
}

export const Alerts = () => (
  <>
    <ShortfallBar {...useQuery('getAbsrSummary', {}, FIGURES_POLL_MS)} />
    <Outages />
  </>
);
