import { useNow } from './clock.ts';
import { CopyButton, Identifier } from './copyable.tsx';
import { clock, grouped } from './format.ts';
import { Moment } from './freshness.tsx';
import { QrCode } from './qr-code.tsx';

export type Payment = {
  readonly amount: string;
  readonly treasury_address: string;
  readonly reference: string;
  readonly solana_pay_url: string;
  readonly expires_at: string;
};

/** What to pay and where: by camera, by wallet link, or by hand. The payment is found without being told. */
export function PaymentCard({ payment }: { payment: Payment }) {
  const now = useNow(1000);
  const left = now === null ? null : (Date.parse(payment.expires_at) - now) / 1000;
  const url = payment.solana_pay_url;
  return (
    <div class="payment">
      <QrCode text={url} label={`QR code to pay ${payment.amount} SOL with a Solana wallet`} />
      <div class="stack">
        <p class="tile-value number">{grouped(payment.amount)} SOL</p>
        <p>
          Scan the code with a Solana wallet, or open the link on this device. Pay exactly this amount: its
          last digits tell your payment from all others.
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
          <dt>Time left</dt>
          <dd>
            {left === null ? (
              ''
            ) : left > 0 ? (
              <span class="number">{clock(left)}</span>
            ) : (
              <span class="mark bad">over</span>
            )}{' '}
            <span class="fine">
              until <Moment iso={payment.expires_at} />
            </span>
          </dd>
        </dl>
      </div>
    </div>
  );
}
