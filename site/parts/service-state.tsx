import type { Status } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { statusKind, swapsText } from './status-sentence.ts';

const POLL_MS = 20_000;

export function ServiceState() {
  const status = useQuery('getStatus', {}, POLL_MS);
  const reserves = useQuery('getReserves', {});
  return (
    <Loaded
      query={status}
      waiting="Reading the state of the service."
      show={(value) => (
        <ServiceFacts status={value} lamports={reserves.value?.solana.balanceLamports ?? null} />
      )}
    />
  );
}

const STATES = {
  good: 'all well',
  warn: 'needs attention',
  bad: 'the reserve does NOT cover all ABSR',
} as const;

export function ServiceFacts({ status, lamports }: { status: Status; lamports: string | null }) {
  const { custody } = status;
  const kind = statusKind(status);
  const today = custody?.limits?.find(({ name }) => name === 'day');
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <span class={`mark ${kind}`}>{STATES[kind]}</span> <a href="/status">Details</a>
      </dd>
      <dt>SOL for swaps</dt>
      <dd>{lamports ? `${sol(lamports)} SOL` : 'unknown'}</dd>
      <dt>Left for swaps today</dt>
      <dd>{today ? `${sol(today.left)} of ${sol(today.maximum)} SOL` : 'unknown'}</dd>
      <dt>Swaps</dt>
      <dd>{swapsText(custody)}</dd>
    </dl>
  );
}
