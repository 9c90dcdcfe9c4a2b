import { retryFailed, useOutages, useQuery } from '../api/query.ts';
import { coverageOf } from './coverage.tsx';
import { amountOf } from './format.ts';

const POLL_MS = 60_000;

/** A bar on top of every page while more ABSR exists than the reserve holds sats. */
function Shortfall() {
  const covered = coverageOf(useQuery('getAbsrSummary', {}, POLL_MS));
  if (covered === null || covered.supply <= covered.reserve) return null;
  return (
    <div class="shortfall" role="alert">
      <p class="wide">
        <strong>
          The ABSR supply exceeds the reserve by {amountOf(covered.supply - covered.reserve, 'sat')}.
        </strong>{' '}
        <a href="/reserves">See both figures</a>
      </p>
    </div>
  );
}

/** Every distinct outage among the reads of this page, in one place. */
function Outages() {
  const outages = useOutages();
  if (outages.length === 0) return null;
  return (
    <div class="wide">
      <div class="notice bad" role="alert">
        {outages.map(({ text, next, code, requestId }) => (
          <p>
            <strong>{text}</strong> {next}{' '}
            <span class="fine">
              <code>{code}</code>
              {requestId === null ? null : (
                <>
                  {' '}
                  · request <code>{requestId}</code>
                </>
              )}
            </span>
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
    <Shortfall />
    <Outages />
  </>
);
