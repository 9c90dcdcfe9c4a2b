import { useNow } from './clock.ts';
import { CopyButton, Identifier } from './copyable.tsx';
import { clock, grouped } from './format.ts';
import { Moment } from './freshness.tsx';
import { Notice } from './notice.tsx';
import { QrCode } from './qr-code.tsx';

export type Payment = {
  readonly amount: string;
  readonly treasury_address: string;
  readonly reference: string;
  readonly solana_pay_url: string;
  readonly expires_at: string;
};

type PaymentProps = {
  readonly payment: Payment;
  /** Whether its amount alone tells the payment from others. */
  readonly byHand?: boolean;
};

/** What to pay and where: by camera, by wallet link, or by hand. The payment is found without being told. */
export function PaymentCard({ payment, byHand = true }: PaymentProps) {
  const now = useNow(1000);
  const left = now === null ? null : (Date.parse(payment.expires_at) - now) / 1000;
  return <PaymentTerms payment={payment} byHand={byHand} left={left} />;
}

/** @param left seconds; null while there is no clock */
export function PaymentTerms({ payment, byHand = true, left }: PaymentProps & { left: number | null }) {
  const url = payment.solana_pay_url;
  if (left !== null && left <= 0)
    return (
      <Notice kind="warn" title="The time to pay is over.">
        <p>Do not pay it any more. What was paid in time is still found.</p>
      </Notice>
    );
  return (
    <div class="payment">
      <QrCode text={url} label={`QR code to pay ${payment.amount} SOL with a Solana wallet`} />
      <div class="stack">
        <p class="tile-value number">{grouped(payment.amount)} SOL</p>
        <p>
          Scan the code with a Solana wallet, or open the link on this device.{' '}
          {byHand
            ? 'Pay exactly this amount: its last digits tell your payment from all others.'
            : 'Pay in no other way: they carry the reference by which it is found.'}
        </p>
        <p class="row">
          {url.startsWith('solana:') ? (
            <a class="button" href={url}>
              Open in a wallet
            </a>
          ) : null}
          <CopyButton text={url} label="the payment link" />
        </p>
        <dl class="facts">
          {byHand ? (
            <>
              <dt>Amount</dt>
              <dd>
                <span class="identifier">
                  <code>{payment.amount}</code>
                  <CopyButton text={payment.amount} label="the amount" />
                </span>
              </dd>
              <dt>To</dt>
              <dd>
                <Identifier text={payment.treasury_address} label="the address to pay" ends={8} />
              </dd>
            </>
          ) : null}
          <dt>Time left</dt>
          <dd>
            {left === null ? '' : <span class="number">{clock(left)}</span>}{' '}
            <span class="fine">
              until <Moment iso={payment.expires_at} />
            </span>
          </dd>
        </dl>
      </div>
    </div>
  );
}
