import { useEffect } from 'hono/jsx';
import type { ExchangeStatus } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { Away } from './explorer-links.tsx';
import { Loaded } from './loaded.tsx';
import { Notice } from './notice.tsx';
import { keepOpen, openExchange } from './open-exchange.ts';
import { OrderPayment } from './order-payment.tsx';
import { forgetPayment } from './own-payment.ts';
import type { Payment } from './payment-card.tsx';

const POLL_MS = 10_000;

const STATES: Readonly<Record<string, string>> = {
  waiting: 'waiting for your payment',
  confirming: 'your payment is being confirmed',
  exchanging: 'the provider exchanges',
  sending: 'the provider pays out',
  finished: 'paid out',
  failed: 'failed',
  refunded: 'refunded to you',
  verifying: 'held: the provider asks for documents',
  expired: 'expired',
};

/** Text that wallets of the coin read from a QR code: only the address if they share no other format. */
function codeOf(coin: string, address: string, amount: string): string {
  if (coin === 'sol') return `solana:${address}?amount=${amount}`;
  if (coin === 'btc') return `bitcoin:${address}?amount=${amount}`;
  return coin === 'xmr' ? `monero:${address}?tx_amount=${amount}` : address;
}

/** What to pay to the provider; null once nothing can be paid any more, or while a part of it is unknown. */
export function exchangePayment(exchange: ExchangeStatus): Payment | null {
  const { providerStatus, payinAddress, payinExtraId, expectedAmountFrom: amount, from } = exchange;
  const isPayable = providerStatus === 'waiting' || providerStatus === 'new';
  if (!isPayable || !payinAddress || amount === null) return null;
  return {
    currency: from.toUpperCase(),
    amount,
    address: payinAddress,
    memo: payinExtraId,
    reference: null,
    url: codeOf(from, payinAddress, amount),
    expiresAt: null,
    ifDifferent: (
      <p>
        The provider exchanges a different amount at its own rate, and may hold a payment below its minimum.
        Only the provider can return that payment.
      </p>
    ),
  };
}

const isOver = ({ status }: ExchangeStatus): boolean => status !== 'waiting' && status !== 'pending';

export function ExchangeProgress({ id }: { id: string }) {
  const status = useQuery('getExchangeStatus', { id }, POLL_MS, isOver);
  const hasEnded = status.value !== null && isOver(status.value);
  useEffect(() => {
    if (!hasEnded) return;
    forgetPayment(id);
    if (openExchange() === id) keepOpen(null);
  }, [hasEnded, id]);
  return (
    <Loaded query={status} waiting="Waiting for the provider." show={(now) => <ExchangeState now={now} />} />
  );
}

export function ExchangeState({ now }: { now: ExchangeStatus }) {
  const kind = now.status === 'finished' ? 'good' : now.hold || now.status === 'failed' ? 'bad' : 'warn';
  const payment = exchangePayment(now);
  return (
    <>
      <p class="row" role="status">
        <span class={`mark ${kind}`}>{now.status}</span>
        <span>{STATES[now.providerStatus] ?? now.providerStatus}</span>
      </p>
      {now.hold ? (
        <Notice kind="warn" title="The provider has put this exchange on hold.">
          <p>It may ask for documents. Only the provider can release it; this service cannot.</p>
        </Notice>
      ) : null}
      {payment === null ? null : (
        <OrderPayment
          id={now.id}
          payment={payment}
          reported={null}
          // The provider finds the payment by its address.
          confirm={async () => undefined}
        />
      )}
      <dl class="facts">
        {payment === null ? (
          <>
            <dt>Payment</dt>
            <dd>
              {now.amountFrom === null ? 'no longer payable' : `${now.amountFrom} ${now.from.toUpperCase()}`}
            </dd>
          </>
        ) : null}
        <dt>You receive about</dt>
        <dd>
          {now.amountTo ?? now.expectedAmountTo ?? 'unknown'} {now.to.toUpperCase()}
        </dd>
        <dt>At the provider</dt>
        <dd>
          <Away href={now.statusUrl}>Follow it there</Away>
        </dd>
      </dl>
    </>
  );
}
