import { parseAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { useNow } from './clock.ts';
import { CopyButton, Identifier } from './copyable.tsx';
import { clock, grouped } from './format.ts';
import { Moment } from './freshness.tsx';
import { Notice } from './notice.tsx';
import { QrCode } from './qr-code.tsx';
import { WalletPayment } from './wallet.tsx';

export type Payment = {
  /** SOL, as decimal text. */
  readonly amount: string;
  readonly treasury_address: string;
  readonly reference: string;
  readonly solana_pay_url: string;
  readonly expires_at: string;
};

type PaymentProps = {
  readonly payment: Payment;
  /** Whether the amount alone identifies the payment. */
  readonly byHand?: boolean;
  /** Called with the signature of a payment that a wallet in this browser has sent. */
  readonly sent?: (signature: string) => void;
};

/** Payment instructions: wallet first, then a QR code, then by hand. The service finds the payment itself. */
export function PaymentCard(props: PaymentProps) {
  const now = useNow(1000);
  const left = now === null ? null : (Date.parse(props.payment.expires_at) - now) / 1000;
  return <PaymentTerms {...props} left={left} />;
}

async function payWith(
  payment: Payment,
  connected: Parameters<typeof import('../wallet/transfers.ts').paySol>[0],
) {
  const parsed = parseAmount(payment.amount, SOL_DECIMALS);
  if (!parsed.ok) throw new Error('The service sent an amount that cannot be read.');
  const { paySol } = await import('../wallet/transfers.ts');
  return paySol(connected, {
    to: payment.treasury_address,
    lamports: parsed.atoms,
    reference: payment.reference,
  });
}

/** @param left seconds; null while there is no clock */
export function PaymentTerms({
  payment,
  byHand = true,
  sent = () => undefined,
  left,
}: PaymentProps & { left: number | null }) {
  const url = payment.solana_pay_url;
  if (left !== null && left <= 0)
    return (
      <Notice kind="warn" title="The time to pay is over.">
        <p>Do not pay it any more. A payment that was made in time is still found.</p>
      </Notice>
    );
  return (
    <div class="payment">
      <div class="stack">
        <p class="tile-value number">{grouped(payment.amount)} SOL</p>
        <WalletPayment
          label={`Pay ${payment.amount} SOL`}
          run={(connected) => payWith(payment, connected)}
          sent={sent}
        />
        <dl class="facts">
          <dt>Time left</dt>
          <dd>
            {left === null ? '' : <span class="number">{clock(left)}</span>}{' '}
            <span class="fine">
              until <Moment iso={payment.expires_at} />
            </span>
          </dd>
        </dl>
        {byHand ? (
          <details>
            <summary>Pay by hand</summary>
            <dl class="facts">
              <dt>Amount</dt>
              <dd>
                <span class="identifier">
                  <code>{payment.amount}</code>
                  <CopyButton text={payment.amount} label="the amount" />
                </span>
                <br />
                <span class="fine">Pay exactly this amount: its last digits identify your payment.</span>
              </dd>
              <dt>To</dt>
              <dd>
                <Identifier text={payment.treasury_address} label="the address to pay" ends={8} />
              </dd>
            </dl>
          </details>
        ) : (
          <p class="fine">
            Pay by wallet or code only: they carry the reference that identifies the payment.
          </p>
        )}
      </div>
      <div class="stack">
        <QrCode text={url} label={`QR code to pay ${payment.amount} SOL with a Solana wallet`} />
        <p class="row">
          {url.startsWith('solana:') ? (
            <a class="button quiet" href={url}>
              Open in a wallet
            </a>
          ) : null}
          <CopyButton text={url} label="link to pay" name="Copy link" />
        </p>
      </div>
    </div>
  );
}
