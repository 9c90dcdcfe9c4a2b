import type { AbsrTransactions, ProofHistory } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useAnswer } from '../api/use-answer.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { fromUnixSeconds, sats, usd } from './format.ts';
import { Age } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';

const PROOF_POLL_MS = 60_000;
const SHOWN = 6;

type Event = {
  readonly kind: 'swap' | 'mint' | 'proof';
  readonly at: string | null;
  readonly title: string;
  readonly amount: string;
  readonly signature: string | null;
};

export function timelineOf(
  transactions: AbsrTransactions['transactions'],
  proofs: ProofHistory['proofs'],
): Event[] {
  const moved = transactions.map(
    (row): Event => ({
      kind: row.type === 'mint' ? 'mint' : 'swap',
      at: row.blockTime === null ? null : fromUnixSeconds(row.blockTime),
      title: row.type === 'mint' ? 'ABSR minted' : 'Swap finished',
      amount: `${sats(row.amountSatoshis)} ${row.type === 'mint' ? 'ABSR' : 'sats'}${row.amountUsd === null ? '' : `, ${usd(row.amountUsd)}`}`,
      signature: row.signature,
    }),
  );
  const signed = proofs.slice(0, 1).map(
    ({ timestamp, figures }): Event => ({
      kind: 'proof',
      at: timestamp,
      title: 'Proof signed',
      amount: `${sats(figures.reserveSatoshis)} sats`,
      signature: null,
    }),
  );
  // Unconfirmed rows have no time yet and come first.
  return [...moved, ...signed].sort((a, b) => (b.at ?? '9').localeCompare(a.at ?? '9')).slice(0, SHOWN);
}

const ICONS = {
  swap: 'M5 9h12l-4-4M19 15H7l4 4',
  mint: 'M12 5v14M5 12h14',
  proof: 'M5 12.500l4.500 4.500L19 7.500',
} as const;

export function RecentEvents() {
  const events = useAnswer('listAbsrTransactions', {}, FIGURES_POLL_MS);
  const history = useAnswer('listProofs', { limit: 100 }, PROOF_POLL_MS);
  if (events.value === null && events.failure !== null)
    return <Failed failure={events.failure} retry={events.refresh} />;
  if (events.value === null) return <Waiting what="Reading the last events." />;
  const rows = timelineOf(events.value.transactions, history.value?.proofs ?? []);
  if (rows.length === 0)
    return <p class="empty">Nothing yet. The first finished swap or daily mint appears here.</p>;
  return (
    <ol class="timeline" aria-label="Last events, newest first">
      {rows.map((row) => (
        <li class={row.kind}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={ICONS[row.kind]} />
          </svg>
          <span>
            <strong>{row.title}</strong> <span class="number">{row.amount}</span>
            <span class="fine detail">
              {row.at === null ? 'not yet in a block' : <Age iso={row.at} />}
              {row.signature === null ? (
                <>
                  {' · '}
                  <a href="/reserves#verify">verify</a>
                </>
              ) : (
                <>
                  {' · '}
                  <SolanaTransaction signature={row.signature} />
                </>
              )}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}
