import { useEffect } from 'hono/jsx';
import type { SwapStatus } from '../../packages/client/src/index.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { BitcoinTransaction, SolanaTransaction } from './explorer-links.tsx';
import { amountOf, sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Notice, Waiting } from './notice.tsx';
import { type Step, Steps } from './steps.tsx';

const POLL_MS = 2500;

/** Label of each detail of a swap and, for a failed swap, its outcome. */
export const SWAP_DETAILS: Readonly<Record<string, readonly [words: string, outcome?: string]>> = {
  signed: ['signed, about to be sent'],
  sent: ['sent to Solana'],
  landed: ['in a Solana block'],
  settling: ['the bridge pays the BTC'],
  refunding: ['the bridge returns the SOL'],
  held: ['awaiting the operator'],
  done: ['BTC arrived'],
  refunded: [
    'refunded by the bridge',
    'The SOL is back in the reserve, less the bridge’s fee. This swap brings no BTC.',
  ],
  partial: ['only partly paid', 'Less BTC arrived than the bridge had guaranteed.'],
  bridge_failed: [
    'the bridge gave up',
    'The bridge has not returned the SOL yet. The operator must contact the bridge.',
  ],
  written_off: ['written off', 'The bridge has not paid, and the operator no longer expects a payment.'],
  late: ['the BTC arrived late', 'The swap had failed, and the BTC arrived afterwards.'],
  expired: ['expired', 'The transaction did not reach a Solana block. No SOL was spent.'],
  rejected: ['rejected by Solana', 'No SOL was swapped. Only the network fee was spent.'],
};

export const detailText = (detail: string): string =>
  SWAP_DETAILS[detail]?.[0] ?? detail.replaceAll('_', ' ');

/** Details of swaps whose SOL has not left the reserve. */
const UNSENT = ['signed', 'sent', 'expired', 'rejected'];

export function swapSteps(swap: SwapStatus): Step[] {
  const left = !UNSENT.includes(swap.detail);
  const arrived = swap.status === 'finished' || swap.detail === 'late';
  const lost = swap.status === 'failed' || swap.detail === 'refunding';
  return [
    {
      name: 'SOL sent',
      state: left ? 'done' : lost ? 'failed' : 'now',
      detail: <SolanaTransaction signature={swap.id} />,
    },
    {
      name: 'Bridge pays BTC',
      state: arrived ? 'done' : lost ? 'failed' : left ? 'now' : 'open',
      detail: [
        swap.expectedSatoshis === null ? '' : `about ${amountOf(swap.expectedSatoshis, 'sat')}`,
        swap.status === 'waiting' && !lost ? 'minutes to hours' : '',
      ]
        .filter(Boolean)
        .join(', '),
    },
    {
      name: 'BTC confirmed in the reserve',
      state: arrived ? 'done' : lost ? 'failed' : 'open',
      detail:
        swap.txId === null ? (
          'confirmed by the Bitcoin indexes that the service reads'
        ) : (
          <BitcoinTransaction txid={swap.txId} />
        ),
    },
  ];
}

export function SwapProgress({ id }: { id: string }) {
  const status = useQuery('getSwapStatus', { id }, POLL_MS, ({ status }) => status !== 'waiting');
  const swap = status.value;
  const phase = swap?.detail;
  useEffect(() => {
    if (phase !== undefined) announceChange();
  }, [phase]);
  return <Loaded query={status} waiting="Reading the swap." show={(value) => <SwapState swap={value} />} />;
}

const SwapState = ({ swap }: { swap: SwapStatus }) => (
  <div class="stack">
    <p class="row" role="status">
      <strong class="number">{sol(swap.amountLamports)} SOL</strong>
      <span
        class={`mark ${swap.status === 'finished' ? 'good' : swap.status === 'failed' ? 'bad' : 'warn'}`}
        data-swap-status={swap.status}
      >
        {swap.status}
      </span>
      <span>{detailText(swap.detail)}</span>
    </p>
    <Steps label="Progress of the swap" steps={swapSteps(swap)} />
    {swap.status === 'waiting' ? (
      <Waiting
        what="You may close this page: the swap continues, and this address shows it again."
        usualSeconds={null}
      />
    ) : null}
    {swap.status === 'finished' && swap.btcSatoshis !== null ? (
      <Notice kind="good">
        <p>
          <strong>{amountOf(swap.btcSatoshis, 'sat')} arrived.</strong> They count for ABSR after enough
          confirmations.
        </p>
      </Notice>
    ) : null}
    {swap.status === 'failed' ? (
      <Notice kind="warn" title={`The swap did not finish: ${detailText(swap.detail)}.`}>
        <p>{SWAP_DETAILS[swap.detail]?.[1] ?? swap.reason?.replaceAll('_', ' ')}</p>
      </Notice>
    ) : null}
  </div>
);
