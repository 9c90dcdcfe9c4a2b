import { parseAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { useNow } from './clock.ts';
import { CopyButton, Identifier } from './copyable.tsx';
import { clock, grouped } from './format.ts';
import { Moment } from './freshness.tsx';
import { Notice } from './notice.tsx';
import { useHasWallet, useIsPhone } from './phone.ts';
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
  readonly lock: string;
  readonly asked?: () => void;
  readonly unpaid?: () => void;
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

const isWalletUrl = (url: string): boolean => url.startsWith('solana:');

/** Opens this page, with its order, in the browser of a wallet app; or hands the payment to any wallet app. */
function PhoneWallets({ url }: { url: string }) {
  const page = encodeURIComponent(location.href);
  const origin = encodeURIComponent(location.origin);
  return (
    <div class="phone-wallets">
      <a class="button" href={`https://phantom.app/ul/browse/${page}?ref=${origin}`}>
        Open in Phantom
      </a>
      <a class="button" href={`https://solflare.com/ul/v1/browse/${page}?ref=${origin}`}>
        Open in Solflare
      </a>
      {isWalletUrl(url) ? (
        <a class="button quiet" href={url}>
          Other wallet
        </a>
      ) : null}
    </div>
  );
}

/** The code for the camera of another device. */
const Code = ({ url, amount }: { url: string; amount: string }) => (
  <div class="stack">
    <QrCode text={url} label={`QR code to pay ${amount} SOL with a Solana wallet`} />
    <p class="row">
      {isWalletUrl(url) ? (
        <a class="button quiet" href={url}>
          Open in a wallet
        </a>
      ) : null}
      <CopyButton text={url} label="link to pay" name="Copy link" />
    </p>
  </div>
);

/** @param left seconds; null while there is no clock */
export function PaymentTerms({
  payment,
  byHand = true,
  lock,
  asked,
  unpaid,
  sent = () => undefined,
  left,
}: PaymentProps & { left: number | null }) {
  const { amount, solana_pay_url: url } = payment;
  const isPhone = useIsPhone();
  const hasWallet = useHasWallet();
  if (left !== null && left <= 0)
    return (
      <Notice kind="warn" title="The time to pay is over.">
        <p>Do not pay it any more. A payment that was made in time is still found.</p>
      </Notice>
    );
  return (
    <div class="payment">
      <div class="stack">
        <p class="tile-value number">{grouped(amount)} SOL</p>
        {isPhone && !hasWallet ? (
          <PhoneWallets url={url} />
        ) : (
          <WalletPayment
            label={`Pay ${amount} SOL`}
            run={(connected) => payWith(payment, connected)}
            {...{ sent, lock, asked, unpaid }}
          />
        )}
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
                  <code>{amount}</code>
                  <CopyButton text={amount} label="the amount" />
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
        {isPhone ? (
          <details>
            <summary>QR code for another device</summary>
            <Code url={url} amount={amount} />
          </details>
        ) : null}
      </div>
      {isPhone ? null : <Code url={url} amount={amount} />}
    </div>
  );
}
