import type { Status } from '../../packages/client/src/index.ts';
import { useAnswer } from '../api/use-answer.ts';
import { sol } from './format.ts';
import { AsOf } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';

const POLL_MS = 20_000;

export function ServiceState() {
  const status = useAnswer('getStatus', {}, POLL_MS);
  const reserves = useAnswer('getReserves', {});
  if (status.value === null)
    return status.failure === null ? (
      <Waiting what="Reading the service status." />
    ) : (
      <Failed failure={status.failure} retry={status.refresh} />
    );
  return (
    <ServiceFacts
      status={status.value}
      lamports={reserves.value?.solana.balanceLamports ?? null}
      away={status.failure !== null}
    />
  );
}

const swapsState = (custody: Status['custody']): string => {
  if (!custody) return 'unknown';
  return custody.frozen ? 'frozen' : custody.paused ? 'paused' : 'open';
};

export function ServiceFacts({
  status,
  lamports,
  away,
}: {
  status: Status;
  lamports: string | null;
  away: boolean;
}) {
  const { custody } = status;
  const today = custody?.limits?.find(({ name }) => name === 'day');
  return (
    <>
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {status.ok ? (
            <span class="mark good">all well</span>
          ) : (
            <span class="mark warn">needs attention</span>
          )}{' '}
          <a href="/status">Details</a>
        </dd>
        <dt>SOL for swaps</dt>
        <dd>{lamports ? `${sol(lamports)} SOL` : 'unknown'}</dd>
        <dt>Left for swaps today</dt>
        <dd>{today ? `${sol(today.left)} of ${sol(today.maximum)} SOL` : 'unknown'}</dd>
        <dt>Swaps</dt>
        <dd>{swapsState(custody)}</dd>
      </dl>
      <AsOf at={status.as_of} stale={status.stale} away={away} />
    </>
  );
}
