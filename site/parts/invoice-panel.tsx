import { useEffect, useState } from 'hono/jsx';
import type { Invoice } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { CopyButton } from './copyable.tsx';
import { CreatedToken } from './created-token.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { Field, Form } from './field.tsx';
import { grouped, shortened, sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { OrderPayment } from './order-payment.tsx';
import { PriceParts, partsOf } from './order-price.tsx';
import { forgetOrder, forgetPayment } from './own-payment.ts';
import { OwnPicture } from './own-picture.tsx';
import { type SolRequest, solPayment } from './payment-card.tsx';
import { Refunds } from './refunds.tsx';
import { type Step, Steps } from './steps.tsx';
import { TokenLine } from './token-line.tsx';

const POLL_MS = 2000;
/** `seen`: a payment was reported and is not final, or less than the price has arrived. */
const ORDER = ['awaiting_payment', 'seen', 'paid', 'creating', 'completed'];
const PAID = ORDER.indexOf('paid');

export function invoiceSteps(invoice: Invoice): Step[] {
  const at = ORDER.indexOf(invoice.detail);
  const over = at < 0;
  const state = (from: number, to: number): Step['state'] =>
    over ? 'failed' : at >= to ? 'done' : at >= from ? 'now' : 'open';
  const isPaid = at >= PAID;
  return [
    {
      name: 'Payment',
      state: invoice.detail === 'refund_due' ? 'done' : state(0, PAID),
      detail: invoice.payment_tx_signature ? (
        <SolanaTransaction signature={invoice.payment_tx_signature} />
      ) : invoice.reported_tx_signature ? (
        <SolanaTransaction signature={invoice.reported_tx_signature} />
      ) : (
        'found automatically'
      ),
    },
    {
      name: 'Final on the chain',
      state: isPaid ? 'done' : over ? 'failed' : 'open',
      detail: 'about 15 seconds after you pay',
    },
    {
      name: 'Token created',
      state: state(PAID, 4),
      detail: 'mint, name, supply and rights in one transaction',
    },
    { name: 'Listed', state: at >= 4 ? 'done' : over ? 'failed' : 'open', detail: 'included' },
  ];
}

/** The unpaid rest of an invoice, with the same reference. */
export function restOf(invoice: Invoice): SolRequest {
  const missing = BigInt(invoice.fee_lamports) - BigInt(invoice.received_lamports);
  const amount = formatAmount(missing, SOL_DECIMALS);
  const url = invoice.solana_pay_url.replace(/([?&]amount=)[^&]*/, `$1${amount}`);
  return { ...invoice, amount, solana_pay_url: url };
}

/** Less than the price has arrived; a payment that is only reported has not. */
const isPartlyPaid = ({ detail, received_lamports: received }: Invoice): boolean =>
  detail === 'seen' && received !== '0';

const Missing = ({ amount, received }: { amount: string; received: string }) => (
  <Notice kind="warn" title={`${amount} SOL are missing.`}>
    <p>{sol(received)} SOL have arrived, which is less than the price.</p>
  </Notice>
);

/** The order's address is the only way to it from another browser. */
const ComeBack = () => (
  <p class="row fine">
    <span>
      You may close this page. To come back in this browser, open <a href="/tokens">Tokens</a>; in another
      one, open the order's link.
    </span>
    <CopyButton text={location.href} label="order link" name="Copy order link" />
  </p>
);

export function WhatToPay({ invoice }: { invoice: Invoice }) {
  const { invoice_id: id, reported_tx_signature: reported } = invoice;
  const isPartly = isPartlyPaid(invoice);
  const asked = isPartly ? restOf(invoice) : invoice;
  return (
    // The rest is a payment of its own: the first one is known to the service.
    <OrderPayment
      id={isPartly ? `${id}:${invoice.received_lamports}` : id}
      reported={reported}
      confirm={(signature) => confirmWith(id, signature)}
      payment={solPayment(asked)}
      byHand={!isPartly}
      unpaid={isPartly ? <Missing amount={asked.amount} received={invoice.received_lamports} /> : null}
    >
      <ComeBack />
      <Progress invoice={invoice} />
    </OrderPayment>
  );
}

const confirmWith = (id: string, signature: string) =>
  call('confirmInvoice', { invoice_id: id, tx_signature: signature });

const ENDS = ['completed', 'expired', 'refund_due'];
const isSettled = ({ detail, refunds, stale }: Invoice): boolean =>
  !stale && ENDS.includes(detail) && refunds.every(({ status }) => status === 'paid');

/** The outcome, once there is one. */
export function InvoiceNotice({ invoice }: { invoice: Invoice }) {
  if (invoice.status === 'completed') return <CreatedToken invoice={invoice} />;
  if (invoice.detail === 'expired')
    return (
      <Notice kind="warn" title="The order has expired.">
        <p>Do not pay it any more. A new order is free.</p>
      </Notice>
    );
  if (invoice.detail !== 'refund_due') return null;
  const isBack = invoice.refunds.every(({ status }) => status === 'paid');
  return (
    <Notice kind="warn" title={isBack ? 'Your payment was returned.' : 'Your payment will be returned.'}>
      <p>{invoice.reason?.replaceAll('_', ' ') ?? 'It could not be used for this token.'}</p>
    </Notice>
  );
}

/** For wallets whose payments lack the reference; usually no signature is needed. */
function ReportPayment({ id }: { id: string }) {
  const [signature, setSignature] = useState('');
  const { busy, failure, attempt } = useAttempt<'confirm'>();
  const confirm = () =>
    attempt('confirm', async () => {
      await confirmWith(id, signature.trim());
    });
  return (
    <details>
      <summary>Paid, but nothing happens?</summary>
      <Form label="Report the payment" submit={confirm}>
        <Field
          id="payment-signature"
          label="Signature of your payment"
          value={signature}
          set={setSignature}
          hint="Your wallet shows it with the transaction."
        />
        <button type="submit" class="quiet start" disabled={busy !== null || signature.trim() === ''}>
          Check payment
        </button>
        {busy === null ? null : <Waiting what="Reading the payment from the chain." />}
        <Failed failure={failure} />
        {failure?.code === 'PAYMENT_NOT_BOUND' && failure.details.receivedLamports !== undefined ? (
          <Notice kind="info" title="Your payment has arrived, but it matches no order.">
            <p>
              It will be returned. Send its signature to the <a href="/trust#operator">operator</a>, and do
              not pay again before the operator responds.
            </p>
          </Notice>
        ) : null}
      </Form>
    </details>
  );
}

type InvoicePanelProps = {
  readonly id: string;
  /** Called once the token exists. */
  readonly created: () => void;
  /** Called when the creator leaves the order. */
  readonly leave: (isCreated: boolean) => void;
};

export function InvoicePanel({ id, created, leave }: InvoicePanelProps) {
  const answer = useQuery('getInvoice', { id }, POLL_MS, isSettled);
  const detail = answer.value?.detail;
  const isCreated = detail === 'completed';
  useEffect(() => {
    if (isCreated) {
      announceChange();
      created();
    }
    if (detail === undefined || !ENDS.includes(detail)) return;
    forgetPayment(id);
    forgetOrder(id);
  }, [detail]);
  useEffect(() => {
    const { title } = document;
    document.title = 'Your order · Sluice';
    return () => {
      document.title = title;
    };
  }, []);
  return (
    <div class="stack">
      {answer.failure?.code === 'NOT_FOUND' ? (
        <Notice kind="warn" title="There is no order at this link.">
          <p>Compare the link with the one that you saved.</p>
        </Notice>
      ) : (
        <Loaded
          query={answer}
          waiting="Reading the order."
          show={(invoice) => <InvoiceState invoice={invoice} />}
        />
      )}
      {answer.value === null && answer.failure === null ? null : (
        <button type="button" class="quiet start" onClick={() => leave(isCreated)}>
          {isCreated ? 'Create another token' : 'Back to the form'}
        </button>
      )}
    </div>
  );
}

const Progress = ({ invoice }: { invoice: Invoice }) => (
  <div role="status">
    <Steps label="What happens to the order" steps={invoiceSteps(invoice)} />
  </div>
);

const Price = ({ invoice }: { invoice: Invoice }) => (
  <details class="more">
    <summary>What the price includes</summary>
    <PriceParts breakdown={partsOf(invoice)} />
    <p class="fine">
      A refund returns the whole amount; the reserve pays its network fee. A late payment is returned too.
    </p>
  </details>
);

const isOpen = ({ detail }: Invoice): boolean => detail === 'awaiting_payment' || detail === 'seen';

/** What the order buys. */
export const Ordered = ({ invoice }: { invoice: Invoice }) => {
  const { name, symbol, image, supply_ui: supply, creator_address: creator } = invoice;
  return (
    <TokenLine
      does={isOpen(invoice) ? 'Pay for' : undefined}
      name={name ?? ''}
      symbol={symbol ?? ''}
      picture={<OwnPicture symbol={symbol ?? ''} seed={symbol ?? ''} image={image} />}
    >
      {supply === null || creator === null ? null : (
        <span>
          {grouped(supply)} tokens to <code title={creator}>{shortened(creator, 4)}</code>
        </span>
      )}
      <span class="fine">
        {invoice.revoke_update_authority
          ? 'Name, symbol and picture link locked for ever'
          : 'Name and picture can be changed by its creator'}
      </span>
    </TokenLine>
  );
};

function InvoiceState({ invoice }: { invoice: Invoice }) {
  const open = isOpen(invoice);
  if (invoice.status === 'completed')
    return (
      <div key="completed" class="stack" data-invoice={invoice.detail}>
        <InvoiceNotice invoice={invoice} />
        <Refunds refunds={invoice.refunds} />
        <details class="more">
          <summary>How it was paid and made</summary>
          <Progress invoice={invoice} />
        </details>
        <Price invoice={invoice} />
      </div>
    );
  return (
    <div key="order" class="stack" data-invoice={invoice.detail}>
      <Ordered invoice={invoice} />
      {invoice.stale ? (
        <Notice kind="warn" title="This state may be old: the custodian does not respond.">
          <p>If you have paid, do not pay again. A payment is found once the custodian responds.</p>
        </Notice>
      ) : null}
      {open ? <WhatToPay invoice={invoice} /> : <Progress invoice={invoice} />}
      <InvoiceNotice invoice={invoice} />
      <Refunds refunds={invoice.refunds} />
      <Price invoice={invoice} />
      {open ? <ReportPayment id={invoice.invoice_id} /> : null}
    </div>
  );
}
