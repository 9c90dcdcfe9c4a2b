import type { Child } from 'hono/jsx';
import { useState } from 'hono/jsx';
import { useNow } from './clock.ts';
import {
  forgetPayment,
  LANDS_WITHIN_MS,
  noteAsked,
  noteSent,
  type OwnPayment,
  useOwnPayment,
} from './own-payment.ts';
import { type Payment, PaymentCard } from './payment-card.tsx';
import { AskedPayment, SentPayment } from './sent-payment.tsx';

const CLOCK_MS = 5_000;

/** Whether a wallet may still pay. It may while the time is unknown, so that no second payment is offered too early. */
const isAsked = (payment: OwnPayment | null, now: number | null): payment is OwnPayment =>
  payment?.step === 'asked' && (now === null || now - payment.at < LANDS_WITHIN_MS);

type OrderPaymentProps = {
  readonly id: string;
  /** What is still to pay. */
  readonly payment: Payment;
  /** Signature that the service was told and that is not final. */
  readonly reported: string | null;
  readonly confirm: (signature: string) => Promise<unknown>;
  /** Whether the amount alone identifies the payment. */
  readonly byHand?: boolean;
  /** Shown above the terms, only while no payment is on its way. */
  readonly unpaid?: Child;
  /** The stages of the order. */
  readonly children?: Child;
};

/**
 * The payment of an order: its terms, or what became of a payment. This browser has sent that payment, or a different one
 * has reported it to the service.
 */
export function OrderPayment(props: OrderPaymentProps) {
  const { id, payment, reported, confirm, byHand = true, unpaid, children } = props;
  const own = useOwnPayment(id);
  const now = useNow(CLOCK_MS);
  const [isPaying, setPaying] = useState(false);
  const [expired, setExpired] = useState<string | null>(null);
  const others = reported === expired ? null : reported;
  const signature = own?.step === 'sent' ? own.signature : others;
  // Each state has an element of its own. When a component was removed, hono/jsx may draw it again into the element
  // that held it. That element has then left the page; otherwise a second button to pay would appear.
  if (signature !== null)
    return (
      <div key="sent" class="stack">
        <SentPayment
          signature={signature}
          sentAt={own?.step === 'sent' ? own.at : null}
          confirm={confirm}
          payAgain={() => {
            forgetPayment(id);
            setExpired(signature);
          }}
        />
        {children}
      </div>
    );
  // On the page that asked the wallet, the wallet button shows the progress.
  if (!isPaying && isAsked(own, now))
    return (
      <div key="asked" class="stack">
        <AskedPayment orderId={id} payment={own} />
        {children}
      </div>
    );
  return (
    <div key="unpaid" class="stack">
      {unpaid}
      <PaymentCard
        payment={payment}
        byHand={byHand}
        lock={id}
        asked={() => {
          setPaying(true);
          noteAsked(id);
        }}
        unpaid={() => {
          setPaying(false);
          forgetPayment(id);
        }}
        sent={(sentSignature) => {
          setPaying(false);
          noteSent(id, sentSignature);
        }}
      >
        {children}
      </PaymentCard>
    </div>
  );
}
