import type { SwapHistory as SwapHistoryAnswer } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { BitcoinTransaction, SolanaTransaction } from './explorer-links.tsx';
import { fromUnixSeconds, sats, sol } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { detailText } from './swap-progress.tsx';
import { Table } from './table.tsx';

const MARKS = { finished: 'good', failed: 'bad', waiting: 'warn' } as const;

export function SwapHistory() {
  const history = useQuery('listSwaps', {}, FIGURES_POLL_MS);
  return (
    <Loaded
      query={history}
      waiting="Reading the history."
      card
      show={({ transactions }) => <Swaps swaps={transactions} />}
    />
  );
}

const Swaps = ({ swaps }: { swaps: SwapHistoryAnswer['transactions'] }) => (
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
    rows={swaps.slice(0, 25).map((swap) => [
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
