import type { AbsrTransactions, CurrentProof } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { amountOf, fromUnixSeconds, sats, usd } from './format.ts';
import { Age } from './freshness.tsx';
import { Loaded } from './loaded.tsx';

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
  proof: Pick<CurrentProof, 'timestamp' | 'figures'> | null,
): Event[] {
  const moved = transactions.map(
    (row): Event => ({
      kind: row.type === 'mint' ? 'mint' : 'swap',
      at: row.blockTime === null ? null : fromUnixSeconds(row.blockTime),
      title: row.type === 'mint' ? 'ABSR minted' : 'Swap finished',
      // ABSR has no price: it counts sats, and is no claim on them.
      amount:
        row.type === 'mint'
          ? `${sats(row.amountSatoshis)} ABSR`
          : [
              amountOf(row.amountSatoshis, 'sat'),
              ...(row.amountUsd === null ? [] : [usd(row.amountUsd)]),
            ].join(', '),
      signature: row.signature,
    }),
  );
  const signed: Event[] = [];
  if (proof !== null)
    signed.push({
      kind: 'proof',
      at: proof.timestamp,
      title: 'Proof signed',
      amount: amountOf(proof.figures.reserveSatoshis, 'sat'),
      signature: null,
    });
  // Unconfirmed rows have no time yet and come first.
  return [...moved, ...signed].sort((a, b) => (b.at ?? '9').localeCompare(a.at ?? '9')).slice(0, SHOWN);
}

const ICONS = {
  swap: 'M5 9h12l-4-4M19 15H7l4 4',
  mint: 'M12 5v14M5 12h14',
  proof: 'M5 12.500l4.500 4.500L19 7.500',
} as const;

export function RecentEvents() {
  const events = useQuery('listAbsrTransactions', {}, FIGURES_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS);
  return (
    <Loaded
      query={events}
      waiting="Reading the last events."
      show={({ transactions }) => <Timeline rows={timelineOf(transactions, proof.value)} />}
    />
  );
}

const Timeline = ({ rows }: { rows: readonly Event[] }) =>
  rows.length === 0 ? (
    <p class="empty">Nothing yet. The first finished swap or daily mint appears here.</p>
  ) : (
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
              {' · '}
              {row.signature === null ? (
                <a href="/reserves#verify">check it</a>
              ) : (
                <SolanaTransaction signature={row.signature} />
              )}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
