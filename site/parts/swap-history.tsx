import { FIGURES_POLL_MS, useAnswer } from '../api/use-answer.ts';
import { BitcoinTransaction, SolanaTransaction } from './explorer-links.tsx';
import { fromUnixSeconds, sats, sol } from './format.ts';
import { Moment } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { detailText } from './swap-progress.tsx';
import { Table } from './table.tsx';

const MARKS = { finished: 'good', failed: 'bad', waiting: 'warn' } as const;

export function SwapHistory() {
  const history = useAnswer('listSwaps', {}, FIGURES_POLL_MS);
  if (history.value === null)
    return history.failure === null ? (
      <div class="card">
        <Waiting what="Reading the history." />
      </div>
    ) : (
      <Failed failure={history.failure} retry={history.refresh} />
    );
  return (
    <Table
      label="Swaps that landed, newest first"
      columns={[
        { name: 'When' },
        { name: 'SOL', right: true },
        { name: 'Sats', right: true },
        { name: 'State' },
        { name: 'Solana' },
        { name: 'Bitcoin' },
      ]}
      rows={history.value.transactions.slice(0, 25).map((swap) => [
        swap.blockTime === null ? 'not yet' : <Moment iso={fromUnixSeconds(swap.blockTime)} />,
        sol(swap.amountLamports),
        swap.btcSatoshis === null ? 'not yet' : sats(swap.btcSatoshis),
        <span>
          <span class={`mark ${MARKS[swap.status]}`}>{swap.status}</span>{' '}
          {swap.detail === 'done' ? '' : detailText(swap.detail)}
        </span>,
        <SolanaTransaction signature={swap.signature} />,
        swap.txId === null ? 'none' : <BitcoinTransaction txid={swap.txId} />,
      ])}
      empty="No swap has landed yet."
    />
  );
}
