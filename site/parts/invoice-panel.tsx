import { useEffect, useState } from 'hono/jsx';
import type { Invoice } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Identifier } from './copyable.tsx';
import { Away, SolanaTransaction } from './explorer-links.tsx';
import { Field, Form } from './field.tsx';
import { sol } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { OrderPayment } from './order-payment.tsx';
import { forgetOrder, forgetPayment } from './own-payment.ts';
import { type SolRequest, solPayment } from './payment-card.tsx';
import { ShareButton } from './share-button.tsx';
import { type Step, Steps } from './steps.tsx';
import { PriceParts } from './token-price.tsx';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

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
      detail: 'a few seconds after you pay',
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

function WhatToPay({ invoice }: { invoice: Invoice }) {
  const { invoice_id: id, reported_tx_signature: reported } = invoice;
  const confirm = (signature: string) => confirmWith(id, signature);
  if (!isPartlyPaid(invoice))
    return <OrderPayment {...{ id, reported, confirm }} payment={solPayment(invoice)} />;
  const rest = restOf(invoice);
  return (
    <>
      <Notice kind="warn" title={`${rest.amount} SOL are missing.`}>
        <p>{sol(invoice.received_lamports)} SOL have arrived, which is less than the price.</p>
      </Notice>
      {/* The rest is a payment of its own: the first one is known to the service. */}
      <OrderPayment
        id={`${id}:${invoice.received_lamports}`}
        {...{ reported, confirm }}
        payment={solPayment(rest)}
        byHand={false}
      />
    </>
  );
}

const confirmWith = (id: string, signature: string) =>
  call('confirmInvoice', { invoice_id: id, tx_signature: signature });

const ENDS = ['completed', 'expired', 'refund_due'];
const isSettled = ({ detail, refunds }: Invoice): boolean =>
  ENDS.includes(detail) && refunds.every(({ status }) => status === 'paid');

/** The outcome, once there is one. */
export function InvoiceNotice({ invoice }: { invoice: Invoice }) {
  if (invoice.status === 'completed') return <Created invoice={invoice} />;
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

/** The next steps of a creator whose token exists. */
function Created({ invoice }: { invoice: Invoice }) {
  const { mint_address: mint, token_id: id } = invoice;
  return (
    <Notice kind="good" title="Your token is created and listed.">
      <p class="row">
        {id === null ? null : (
          <>
            <a class="button" href={tokenUrl(id)}>
              Open its page
            </a>
            <ShareButton path={tokenUrl(id)} title={invoice.name ?? 'Token'} />
          </>
        )}
        {mint === null ? null : (
          <Away href={`https://www.orca.so/pools?tokens=${encodeURIComponent(mint)}`}>
            Create a pool at Orca
          </Away>
        )}
      </p>
      {mint === null ? null : (
        <dl class="facts">
          <dt>Add to wallet</dt>
          <dd>
            Your wallet shows the token by itself. If it does not, add this address:{' '}
            <Identifier text={mint} label="mint address" ends={8} />
          </dd>
          <dt>Change picture</dt>
          <dd>
            {invoice.revoke_update_authority
              ? 'No key can change name and picture any more.'
              : 'You hold the right to change it, in any tool that updates token metadata.'}
          </dd>
        </dl>
      )}
    </Notice>
  );
}

const REFUND_REASONS: Readonly<Record<string, string>> = {
  double: 'a second payment for the same order',
  overpaid: 'more than the price',
  late: 'arrived after the order had expired',
  underpaid: 'less than the price',
  failed: 'the token could not be created',
};

/** What comes back, to whom, and who sends it. */
export const Refunds = ({ refunds }: Pick<Invoice, 'refunds'>) =>
  refunds.length === 0 ? null : (
    <ul class="holders" aria-label="Refunds">
      {refunds.map((refund) => (
        <li>
          <strong class="number">{sol(refund.lamports)} SOL</strong>{' '}
          {refund.status === 'paid' ? 'came back to' : 'come back to'}{' '}
          {refund.payer === null ? (
            'the payer. Several accounts paid, so the operator asks you first'
          ) : (
            <Identifier text={refund.payer} label="payer" ends={6} />
          )}
          : {REFUND_REASONS[refund.reason] ?? refund.reason}.{' '}
          {refund.status === 'paid' ? (
            refund.refund_signature === null ? null : (
              <SolanaTransaction signature={refund.refund_signature} />
            )
          ) : (
            <span>
              The operator sends it. You need not do anything; if it takes long,{' '}
              <a href="/trust#operator">contact the operator</a>.
            </span>
          )}
        </li>
      ))}
    </ul>
  );

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
          <Notice kind="info" title="Your payment is received, but matches no order.">
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

export function InvoicePanel({ id }: { id: string }) {
  const answer = useQuery('getInvoice', { id }, POLL_MS, isSettled);
  const detail = answer.value?.detail;
  useEffect(() => {
    if (detail === 'completed') announceChange();
    if (detail === undefined || !ENDS.includes(detail)) return;
    forgetPayment(id);
    forgetOrder(id);
  }, [detail]);
  return (
    <Loaded
      query={answer}
      waiting="Reading the invoice."
      show={(invoice) => <InvoiceState invoice={invoice} />}
    />
  );
}

function InvoiceState({ invoice }: { invoice: Invoice }) {
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
          {open ? <WhatToPay invoice={invoice} /> : null}
          <InvoiceNotice invoice={invoice} />
          <Refunds refunds={invoice.refunds} />
        </div>
        <div role="status">
          <Steps label="What happens to the invoice" steps={invoiceSteps(invoice)} />
        </div>
      </div>
      <details>
        <summary>What the price is made of</summary>
        <PriceParts breakdown={invoice.fee_breakdown ?? {}} />
        <p class="fine">
          A refund returns the whole amount; the reserve pays its network fee. A late payment is returned too.
        </p>
      </details>
      {open ? <ReportPayment id={invoice.invoice_id} /> : null}
    </div>
  );
}
