/**
 * Between a wallet's approval and the end of the purchase: what the page shows, and the call that confirms the
 * payment.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';
import type { Failure } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { useNow } from './clock.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { Age } from './freshness.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { forgetPayment, LANDS_WITHIN_MS, type OwnPayment } from './own-payment.ts';

/** Not failures: the service goes on without the page. */
const PENDING = ['PAYMENT_NOT_FINAL', 'INVOICE_IN_PROGRESS'];
const CLOCK_MS = 5_000;

const isUnknownToChain = (failure: Failure | null): boolean =>
  failure?.code === 'PAYMENT_NOT_FINAL' && failure.details.chain === 'unknown';

/**
 * @param signature from this browser's wallet, or the one that the service was told
 * @param sentAt    Unix milliseconds; null when another browser sent it
 * @param confirm   asks the service to book the payment and waits for the work that it pays for
 */
export function SentPayment({
  signature,
  sentAt,
  confirm,
  payAgain,
}: {
  signature: string;
  sentAt: number | null;
  confirm: (signature: string) => Promise<unknown>;
  /** Called by the visitor after the payment has expired. */
  payAgain: () => void;
}) {
  const { failure, attempt } = useAttempt<'confirm'>();
  const now = useNow(CLOCK_MS);
  const isLate = now !== null && sentAt !== null && now - sentAt > LANDS_WITHIN_MS;
  const [isExpired, setExpired] = useState(false);
  useEffect(() => {
    const ask = async (): Promise<void> => {
      const failed = await attempt('confirm', async () => {
        await confirm(signature);
      });
      // If no node has the transaction after the time in which it could land, it never lands.
      if (isLate) setExpired(isUnknownToChain(failed));
    };
    void ask();
  }, [signature, isLate]);
  if (isExpired) return <ExpiredPayment payAgain={payAgain} />;
  const refused = failure !== null && !PENDING.includes(failure.code) ? failure : null;
  return (
    <>
      <p class="row">
        <span class="mark good">{sentAt === null ? 'seen' : 'sent'}</span>{' '}
        <SolanaTransaction signature={signature} />
        {sentAt === null ? null : (
          <span class="fine">
            <Age iso={new Date(sentAt).toISOString()} />
          </span>
        )}
      </p>
      {refused === null ? (
        <Waiting
          what={
            sentAt === null
              ? 'Payment seen; waiting until it is final on Solana. Do not pay again.'
              : 'The payment was sent. Do not pay again: it counts once it is final on Solana.'
          }
          usualSeconds={30}
        />
      ) : (
        <Failed failure={refused} />
      )}
    </>
  );
}

/** A wallet was asked to pay, and this page does not know its response. */
export function AskedPayment({ orderId, payment }: { orderId: string; payment: OwnPayment }) {
  return (
    <Notice kind="warn" title="Your wallet was asked to pay this order.">
      <p>
        That was <Age iso={new Date(payment.at).toISOString()} />. If you approved it, the payment appears
        here within a minute. Do not pay again.
      </p>
      <button type="button" class="quiet" onClick={() => forgetPayment(orderId)}>
        I did not approve it
      </button>
    </Notice>
  );
}

const ExpiredPayment = ({ payAgain }: { payAgain: () => void }) => (
  <Notice kind="warn" title="Your payment has expired and was not made.">
    <p>The transaction never reached the chain, and can no longer do so.</p>
    <button type="button" onClick={payAgain}>
      Pay again
    </button>
  </Notice>
);
