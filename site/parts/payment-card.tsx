import type { Child } from 'hono/jsx';
import { parseAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { useNow } from './clock.ts';
import { CopyButton, Whole } from './copyable.tsx';
import { clock, grouped, instant } from './format.ts';
import { Moment } from './freshness.tsx';
import { InDollars } from './in-dollars.tsx';
import { Notice } from './notice.tsx';
import { useHasWallet, useIsPhone } from './phone.ts';
import { QrCode } from './qr-code.tsx';
import { WalletPayment } from './wallet.tsx';

export type Payment = {
  /** `SOL`, or another coin, which no wallet of this browser pays. */
  readonly currency: string;
  /** Whole coins, as decimal text. */
  readonly amount: string;
  readonly address: string;
  /** The receiver cannot assign a payment without its memo; null if no memo is needed. */
  readonly memo: string | null;
  /** Account by which the service finds a payment of SOL; null if the address alone identifies it. */
  readonly reference: string | null;
  /** Text of the QR code; a wallet link if it begins with `solana:`. */
  readonly url: string;
  /** ISO 8601; null if the receiver names no limit. */
  readonly expiresAt: string | null;
  /** What happens to a payment of another amount. */
  readonly ifDifferent: Child;
};

/** What the service asks for an invoice or a listing. */
export type SolRequest = {
  readonly amount: string;
  readonly treasury_address: string;
  readonly reference: string;
  readonly solana_pay_url: string;
  readonly expires_at: string;
};

/** @param owed where the payer sees what is owed back */
export const solPayment = (request: SolRequest): Payment => ({
  currency: 'SOL',
  amount: request.amount,
  address: request.treasury_address,
  memo: null,
  reference: request.reference,
  url: request.solana_pay_url,
  expiresAt: request.expires_at,
  ifDifferent: (
    <>
      <p>
        <strong>Too little by wallet or QR code?</strong> Send the rest in the same way before the time is
        over. <strong>Too much, too late or twice?</strong> The operator returns it to the paying account by
        hand, without a fixed date. This page shows what is owed to you.
      </p>
      <p>
        <strong>Just paid?</strong> It shows here within 30 seconds. If no order is found for it,{' '}
        <a href="/trust#operator">contact the operator</a> with its signature.
      </p>
    </>
  ),
});

type PaymentProps = {
  readonly payment: Payment;
  /** Whether the payment can be identified without its reference. */
  readonly byHand?: boolean;
  readonly lock: string;
  readonly asked?: () => void;
  readonly unpaid?: () => void;
  /** Called with the signature of a payment that a wallet in this browser has sent. */
  readonly sent?: (signature: string) => void;
  /** The stages of the order, below the wallet. */
  readonly children?: Child;
};

/** What to pay, to whom, and how: by wallet, by code or by hand. The receiver finds the payment itself. */
export function PaymentCard(props: PaymentProps) {
  const now = useNow(1000);
  const { expiresAt } = props.payment;
  const left = now === null || expiresAt === null ? null : (Date.parse(expiresAt) - now) / 1000;
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
    to: payment.address,
    lamports: parsed.atoms,
    reference: payment.reference,
  });
}

const isWalletUrl = (url: string): boolean => url.startsWith('solana:');

/** For a wallet app of this device, and for a chat with another one. */
const PayLinks = ({ url }: Pick<Payment, 'url'>) => (
  <p class="row">
    {isWalletUrl(url) ? (
      <a class="button quiet" href={url}>
        Another wallet
      </a>
    ) : null}
    <CopyButton text={url} label="payment link" name="Copy payment link" />
  </p>
);

/** Amount, address and memo in full, to copy or to compare with the wallet. */
const Terms = ({ payment: { amount, currency, address, memo } }: { payment: Payment }) => (
  <dl class="facts">
    <dt>Amount</dt>
    <dd>
      <Whole text={amount} label="the amount" unit={currency} />
    </dd>
    <dt>To</dt>
    <dd>
      <Whole text={address} label="the address to pay" />
    </dd>
    {memo === null ? null : (
      <>
        <dt>With the memo</dt>
        <dd>
          <Whole text={memo} label="memo" /> <span class="fine">Without it the payment is lost.</span>
        </dd>
      </>
    )}
  </dl>
);

/** Without the reference, the service finds an order only by its exact amount. */
const HandRules = () => (
  <p class="fine">
    <strong>From your own wallet, not an exchange:</strong> only exactly this amount matches your order, so do
    not round it. The fee of an exchange changes the amount, and a refund goes to the paying account, which is
    the exchange's.
  </p>
);

/** In the time zone of the visitor once the page has a clock. */
const TimeLeft = ({ at, left }: { at: string; left: number | null }) => (
  <p class="fine">
    {left === null ? (
      <>
        To pay until <Moment iso={at} />
      </>
    ) : (
      <>
        Time left: <strong class="number">{clock(left)}</strong>, until{' '}
        <time dateTime={at} title={instant(at)}>
          {new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })}
        </time>{' '}
        on your clock
      </>
    )}
  </p>
);

/** A wallet's transfer carries no memo. */
const isWalletPayment = ({ currency, memo }: Payment): boolean => currency === 'SOL' && memo === null;

/** The payment without a wallet button. It is folded where a wallet of this browser or an app of this phone can pay. */
function PayByHand({ payment, byHand }: { payment: Payment; byHand: boolean }) {
  const hasWallet = useHasWallet();
  const isPhone = useIsPhone();
  const isFolded = (hasWallet || isPhone) && isWalletPayment(payment);
  return (
    <details class="by-hand" {...(isFolded ? {} : { open: true })}>
      <summary>{byHand ? 'Pay by hand or QR code' : 'Pay by QR code'}</summary>
      <div class="payment">
        <div class="stack">
          {byHand ? (
            <>
              {payment.reference === null ? null : <HandRules />}
              <Terms payment={payment} />
            </>
          ) : (
            <p class="fine">The wallet or the code carries the reference that identifies the payment.</p>
          )}
        </div>
        <QrCode
          text={payment.url}
          label={`QR code to pay ${payment.amount} ${payment.currency} with a wallet`}
        />
      </div>
    </details>
  );
}

/** @param left seconds; null while there is no clock or no limit */
export function PaymentTerms({
  payment,
  byHand = true,
  lock,
  asked,
  unpaid,
  sent = () => undefined,
  left,
  children,
}: PaymentProps & { left: number | null }) {
  if (left !== null && left <= 0)
    return (
      <Notice kind="warn" title="The time to pay is over.">
        <p>Do not pay it any more. A payment that was made in time is still found.</p>
      </Notice>
    );
  return (
    <>
      <p class="sum price number">
        {grouped(payment.amount)} {payment.currency}
        <InDollars amount={payment.amount} currency={payment.currency} />
      </p>
      {payment.expiresAt === null ? null : <TimeLeft at={payment.expiresAt} left={left} />}
      <p>
        <strong>Pay once, exactly this amount.</strong> A wallet fills it in.
      </p>
      {isWalletPayment(payment) ? (
        <WalletPayment
          label={`Pay ${payment.amount} SOL`}
          run={(connected) => payWith(payment, connected)}
          {...{ sent, lock, asked, unpaid }}
        />
      ) : null}
      <PayLinks url={payment.url} />
      <div class="stack fine">{payment.ifDifferent}</div>
      <PayByHand payment={payment} byHand={byHand} />
      {children}
    </>
  );
}
