/**
 * Between a wallet's approval and the end of the purchase: what the page shows, and the call that confirms the
 * payment.
 * @module
 */
import { useEffect } from 'hono/jsx';
import { useAttempt } from '../api/use-attempt.ts';
import { SolanaTransaction } from './explorer-links.tsx';
import { Failed, Waiting } from './notice.tsx';
import { useDraft } from './use-draft.ts';

/** Seconds that the service waits for finality and for the purchased work before it answers. */
export const CONFIRM_WAIT_SECONDS = 50;
/** Not failures: the service goes on without the page. */
const PENDING = ['PAYMENT_NOT_FINAL', 'INVOICE_IN_PROGRESS'];

/** Signature of the payment for one request, kept for this tab: a reload does not offer to pay again. */
export function useSentPayment(requestId: string) {
  const [{ signature }, setDraft] = useDraft(`payment-${requestId}`, { signature: '' });
  return [signature === '' ? null : signature, (sent: string) => setDraft({ signature: sent })] as const;
}

/**
 * @param confirm asks the service to book the payment and waits for the work that it pays for
 * @param showAgain returns to the payment options
 */
export function SentPayment({
  signature,
  confirm,
  showAgain,
}: {
  signature: string;
  confirm: (signature: string) => Promise<unknown>;
  showAgain: () => void;
}) {
  const { failure, attempt } = useAttempt<'confirm'>();
  useEffect(() => {
    void attempt('confirm', async () => {
      await confirm(signature);
    });
  }, [signature]);
  const refused = failure !== null && !PENDING.includes(failure.code) ? failure : null;
  return (
    <>
      <p class="row">
        <span class="mark good">sent</span> <SolanaTransaction signature={signature} />
      </p>
      {refused === null ? (
        <Waiting what="Your wallet has sent the payment. It counts once it is final." usualSeconds={30} />
      ) : (
        <Failed failure={refused} />
      )}
      <button type="button" class="quiet small start" onClick={showAgain}>
        Show the payment options again
      </button>
    </>
  );
}
