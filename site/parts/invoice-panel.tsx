import { useEffect, useState } from 'hono/jsx';
import type { Invoice } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Identifier } from './copyable.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { Field, Form } from './field.tsx';
import { sol } from './format.ts';
import { Failed, Notice, Waiting } from './notice.tsx';
import { type Payment, PaymentCard } from './payment-card.tsx';
import { CONFIRM_WAIT_SECONDS, SentPayment, useSentPayment } from './sent-payment.tsx';
import { type Step, Steps } from './steps.tsx';
import { PriceParts } from './token-price.tsx';
import { Foreign } from './token-text.tsx';

const POLL_MS = 2000;
/** `seen` means that less than the price has arrived. */
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
export function restOf(invoice: Invoice): Payment {
  const missing = BigInt(invoice.fee_lamports) - BigInt(invoice.received_lamports);
  const amount = formatAmount(missing, SOL_DECIMALS);
  const url = invoice.solana_pay_url.replace(/([?&]amount=)[^&]*/, `$1${amount}`);
  return { ...invoice, amount, solana_pay_url: url };
}

function WhatToPay({ invoice, sent }: { invoice: Invoice; sent: (signature: string) => void }) {
  if (invoice.detail === 'awaiting_payment') return <PaymentCard payment={invoice} sent={sent} />;
  const rest = restOf(invoice);
  return (
    <>
      <Notice kind="warn" title={`${rest.amount} SOL are missing.`}>
        <p>{sol(invoice.received_lamports)} SOL have arrived, which is less than the price.</p>
      </Notice>
      <PaymentCard payment={rest} byHand={false} sent={sent} />
    </>
  );
}

const confirmWith = (id: string, signature: string) =>
  call('confirmInvoice', { invoice_id: id, tx_signature: signature }, { wait: CONFIRM_WAIT_SECONDS });

const ENDS = ['completed', 'expired', 'refund_due'];
const isSettled = ({ detail, refunds }: Invoice): boolean =>
  ENDS.includes(detail) && refunds.every(({ status }) => status === 'paid');

/** The outcome, once there is one. */
export function InvoiceNotice({ invoice }: { invoice: Invoice }) {
  if (invoice.status === 'completed')
    return (
      <Notice kind="good" title="Your token is created and listed.">
        <p class="row">
          <a class="button" href={`/token?id=${invoice.token_id}`}>
            Open its page
          </a>
          {invoice.mint_address === null ? null : (
            <Identifier text={invoice.mint_address} label="mint address" ends={8} />
          )}
        </p>
      </Notice>
    );
  if (invoice.detail === 'expired')
    return (
      <Notice kind="warn" title="The invoice has expired.">
        <p>Do not pay it any more. A new invoice costs nothing.</p>
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
        {failure === null ? null : <Failed failure={failure} />}
      </Form>
    </details>
  );
}

export function InvoicePanel({ id }: { id: string }) {
  const answer = useQuery('getInvoice', { id }, POLL_MS, isSettled);
  const invoice = answer.value;
  const [sent, setSent] = useSentPayment(id);
  const detail = invoice?.detail;
  useEffect(() => {
    if (detail === 'completed') announceChange();
  }, [detail]);
  if (invoice === null)
    return answer.failure === null ? (
      <Waiting what="Reading the invoice." />
    ) : (
      <Failed failure={answer.failure} retry={answer.refresh} />
    );
  const open = invoice.detail === 'awaiting_payment' || invoice.detail === 'seen';
  return (
    <div class="stack" data-invoice={invoice.detail}>
      <p class="row">
        <strong>
          <Foreign text={invoice.name ?? ''} />
        </strong>
        <span class="fine">
          <Foreign text={invoice.symbol ?? ''} />
        </span>
      </p>
      <div class="invoice">
        <div class="stack">
          {open && sent === null ? <WhatToPay invoice={invoice} sent={setSent} /> : null}
          {open && sent !== null ? (
            <SentPayment
              signature={sent}
              confirm={(signature) => confirmWith(id, signature)}
              showAgain={() => setSent('')}
            />
          ) : null}
          <InvoiceNotice invoice={invoice} />
        </div>
        <div role="status">
          <Steps label="What happens with the invoice" steps={invoiceSteps(invoice)} />
        </div>
      </div>
      {invoice.refunds.length === 0 ? null : (
        <ul>
          {invoice.refunds.map((refund) => (
            <li>
              {sol(refund.lamports)} SOL: {refund.status === 'paid' ? 'returned' : 'to be returned'} (
              {refund.reason})
            </li>
          ))}
        </ul>
      )}
      {answer.failure === null ? null : <Failed failure={answer.failure} retry={answer.refresh} />}
      <details>
        <summary>What the price is made of</summary>
        <PriceParts breakdown={invoice.fee_breakdown ?? {}} />
        <p class="fine">
          You can add what is missing until the time is over; otherwise the payment is returned, less the
          network fee. An excess and a late payment are returned.
        </p>
      </details>
      {open ? <ReportPayment id={id} /> : null}
    </div>
  );
}
