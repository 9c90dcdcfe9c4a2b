import type { SwapStatus } from '../api/answers.ts';
import { useAnswer } from '../api/use-answer.ts';
import { BitcoinTransaction, SolanaTransaction } from './explorer-links.tsx';
import { sats, sol } from './format.ts';
import { Failed, Notice, Waiting } from './notice.tsx';
import { type Step, Steps } from './steps.tsx';

const POLL_MS = 2500;

/** Details of a swap, in words. */
export const SWAP_DETAILS: Readonly<Record<string, string>> = {
  intent: 'accepted',
  quoted: 'quote checked',
  signed: 'signed',
  sent: 'sent to Solana',
  landed: 'final on Solana',
  settling: 'the bridge pays the BTC',
  done: 'BTC arrived',
  refunded: 'refunded by the bridge',
  partial: 'only partly paid',
  expired: 'expired, nothing was spent',
  held: 'held for the operator',
};

export const detailText = (detail: string): string => SWAP_DETAILS[detail] ?? detail.replaceAll('_', ' ');

const LANDED = ['landed', 'settling', 'done', 'refunded', 'partial', 'delivered'];

export function swapSteps(swap: SwapStatus): Step[] {
  const landed = LANDED.includes(swap.detail) || swap.status === 'finished';
  const failed = swap.status === 'failed';
  return [
    {
      name: 'SOL sent',
      state: landed ? 'done' : failed ? 'failed' : 'now',
      detail: <SolanaTransaction signature={swap.id} />,
    },
    {
      name: 'Bridge pays BTC',
      state:
        swap.status === 'finished' ? 'done' : failed ? (landed ? 'failed' : 'open') : landed ? 'now' : 'open',
      detail: [
        swap.expectedSatoshis === null ? '' : `about ${sats(swap.expectedSatoshis)} sats`,
        swap.status === 'waiting' ? 'minutes to hours' : '',
      ]
        .filter(Boolean)
        .join(', '),
    },
    {
      name: 'BTC confirmed in the reserve',
      state: swap.status === 'finished' ? 'done' : failed ? 'failed' : 'open',
      detail:
        swap.txId === null ? 'seen by our own view of the chain' : <BitcoinTransaction txid={swap.txId} />,
    },
  ];
}

export function SwapProgress({ id }: { id: string }) {
  const status = useAnswer<SwapStatus>(`/api/swap/status/${encodeURIComponent(id)}`, POLL_MS);
  const swap = status.value;
  if (swap === null)
    return status.failure === null ? (
      <Waiting what="Looking up the swap." />
    ) : (
      <Failed failure={status.failure} retry={status.refresh} />
    );
  return (
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
        <Waiting what="You may close this page: the swap goes on, and this address shows it again." />
      ) : null}
      {swap.status === 'finished' && swap.btcSatoshis !== null ? (
        <Notice kind="good">
          <p>
            <strong>{sats(swap.btcSatoshis)} sats arrived.</strong> They count for ABSR once they are deep
            enough.
          </p>
        </Notice>
      ) : null}
      {swap.status === 'failed' ? (
        <Notice kind="warn" title={`It did not finish: ${detailText(swap.detail)}.`}>
          <p>{swap.reason ?? 'The SOL is still in the reserve, or came back to it.'}</p>
        </Notice>
      ) : null}
      {status.failure === null ? null : <Failed failure={status.failure} retry={status.refresh} />}
    </div>
  );
}
