import { useEffect, useState } from 'hono/jsx';
import type { ExchangeEstimate, ExchangeStatus } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { useQuery } from '../api/query.ts';
import { readStored, store } from '../api/stored.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Identifier } from './copyable.tsx';
import { Away } from './explorer-links.tsx';
import { Check, Choice, Field, Form } from './field.tsx';
import { grouped, roundedUp, significant } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { useDraft } from './use-draft.ts';

const COINS = [
  ['sol', 'SOL, Solana'],
  ['btc', 'BTC, Bitcoin'],
  ['eth', 'ETH, Ethereum'],
  ['xmr', 'XMR, Monero'],
] as const;
/** Digits shown of a limit; the exact minimum is rounded up, so that it is always sufficient. */
const BOUND_DIGITS = 4;
const MAX_DECIMALS = 18;
const POLL_MS = 10_000;

const STATES: Readonly<Record<string, string>> = {
  waiting: 'waiting for your payment',
  confirming: 'your payment is being confirmed',
  exchanging: 'the provider exchanges',
  sending: 'the provider pays out',
  finished: 'paid out',
  failed: 'failed',
  refunded: 'refunded to you',
  verifying: 'held: the provider asks for documents',
  expired: 'expired',
};

/** The address is shown only while it can be paid. */
export function PayInTo({ exchange }: { exchange: Pick<ExchangeStatus, 'providerStatus' | 'payinAddress'> }) {
  const { providerStatus, payinAddress } = exchange;
  if (providerStatus !== 'waiting' && providerStatus !== 'new') return <span>no longer payable</span>;
  return payinAddress === null ? (
    <span>unknown</span>
  ) : (
    <Identifier text={payinAddress} label="pay-in address" ends={10} />
  );
}

/** The open exchange of this browser. The service has no record of it, so a closed tab would lose its address. */
const OPEN = 'exchange';
const readOpen = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? value.id
    : null;

const isOver = ({ status }: ExchangeStatus): boolean => status !== 'waiting' && status !== 'pending';

function Progress({ id }: { id: string }) {
  const status = useQuery('getExchangeStatus', { id }, POLL_MS, isOver);
  const hasEnded = status.value !== null && isOver(status.value);
  useEffect(() => {
    if (hasEnded && readStored(OPEN, readOpen) === id) store(OPEN, null);
  }, [hasEnded, id]);
  return (
    <Loaded query={status} waiting="Waiting for the provider." show={(now) => <ExchangeState now={now} />} />
  );
}

const ExchangeState = ({ now }: { now: ExchangeStatus }) => (
  <>
    <p class="row" role="status">
      <span
        class={`mark ${now.status === 'finished' ? 'good' : now.hold || now.status === 'failed' ? 'bad' : 'warn'}`}
      >
        {now.status}
      </span>
      <span>{STATES[now.providerStatus] ?? now.providerStatus}</span>
    </p>
    {now.hold ? (
      <Notice kind="warn" title="The provider holds this exchange.">
        <p>It may ask for documents. Only the provider can release it; this service cannot.</p>
      </Notice>
    ) : null}
    <dl class="facts">
      <dt>Pay exactly</dt>
      <dd>
        <strong>
          {now.expectedAmountFrom ?? 'unknown'} {now.from.toUpperCase()}
        </strong>
      </dd>
      <dt>To</dt>
      <dd>
        <PayInTo exchange={now} />
      </dd>
      {now.payinExtraId === null ? null : (
        <>
          <dt>With the memo</dt>
          <dd>
            <Identifier text={now.payinExtraId} label="memo" />
          </dd>
        </>
      )}
      <dt>You receive about</dt>
      <dd>
        {now.amountTo ?? now.expectedAmountTo ?? 'unknown'} {now.to.toUpperCase()}
      </dd>
      <dt>At the provider</dt>
      <dd>
        <Away href={now.statusUrl}>Follow it there</Away>
      </dd>
    </dl>
  </>
);

const EMPTY = { from: 'sol', to: 'btc', amount: '', payout: '', refund: '' };

/** Exchanges the visitor's own coins at a provider; this service only forwards the order. */
export function ExchangePanel() {
  const [draft, setDraft, forget] = useDraft('exchange', EMPTY);
  const { from, to, amount, payout, refund } = draft;
  const [agreed, setAgreed] = useState(false);
  const [estimate, setEstimate] = useState<ExchangeEstimate | null>(null);
  const { busy, failure, attempt } = useAttempt<'quote' | 'create'>();
  const [id, setId] = useState<string | null>(null);
  const pair = from === to ? null : { from, to };
  const range = useQuery('getExchangeMinimum', pair);
  useEffect(() => setId(fromAddressBar('exchange') ?? readStored(OPEN, readOpen)), []);

  const quote = () =>
    attempt('quote', async () => {
      setEstimate((await call('getExchangeEstimate', { from, to, amount: amount.trim() })).value);
    });
  const create = () =>
    attempt('create', async () => {
      const { value } = await call('createExchange', {
        from,
        to,
        amount: amount.trim(),
        payoutAddress: payout.trim(),
        refundAddress: refund.trim(),
      });
      forget();
      store(OPEN, { id: value.id });
      toAddressBar('exchange', value.id);
      setId(value.id);
    });
  const set =
    (name: keyof typeof EMPTY) =>
    (text: string): void => {
      setDraft({ ...draft, [name]: text });
      if (name !== 'payout' && name !== 'refund') setEstimate(null);
    };
  const fault = amountFault(amount, MAX_DECIMALS, from.toUpperCase());
  const ready = isAmount(amount, MAX_DECIMALS, from) && pair !== null && busy === null;

  if (id !== null)
    return (
      <div class="card stack narrow">
        <Progress id={id} />
        <button
          type="button"
          class="quiet start"
          onClick={() => {
            store(OPEN, null);
            toAddressBar('exchange', null);
            setId(null);
          }}
        >
          Another exchange
        </button>
      </div>
    );
  return (
    <div class="split">
      <div class="card stack">
        <Form label="Exchange" submit={quote}>
          <div class="pair">
            <Choice id="exchange-from" label="You pay" value={from} set={set('from')} options={COINS} />
            <Choice id="exchange-to" label="You receive" value={to} set={set('to')} options={COINS} />
          </div>
          <Field
            id="exchange-amount"
            label="Amount"
            unit={from.toUpperCase()}
            keys="decimal"
            value={amount}
            set={set('amount')}
            wrong={from === to ? 'Choose two different coins.' : fault}
            hint={
              range.value === null
                ? (range.failure?.text ?? 'The provider sets the limits.')
                : `At least ${roundedUp(range.value.minAmountExact ?? '0', BOUND_DIGITS)}${range.value.maxAmountExact === null ? '' : `, at most ${grouped(significant(range.value.maxAmountExact, BOUND_DIGITS))}`} ${from.toUpperCase()}`
            }
          />
          <button type="submit" disabled={!ready}>
            Estimate
          </button>
        </Form>
        {busy === null ? null : <Waiting what="Waiting for the provider." />}
        {estimate === null ? null : (
          <Form label="Start the exchange" submit={create}>
            <p>
              About{' '}
              <strong>
                {estimate.estimatedAmountExact} {to.toUpperCase()}
              </strong>
              {estimate.minutes === null ? '' : `, in ${estimate.minutes} minutes`}.
            </p>
            <Field
              id="exchange-payout"
              label={`Your ${to.toUpperCase()} address`}
              value={payout}
              set={set('payout')}
              hint="Receives the coins. Check it twice."
            />
            <Field
              id="exchange-refund"
              label={`Your ${from.toUpperCase()} address for a refund`}
              value={refund}
              set={set('refund')}
              hint="Used when the exchange cannot be made."
            />
            <Check
              id="exchange-agreed"
              label="I know that the provider may hold coins and ask for documents"
              on={agreed}
              set={setAgreed}
            />
            <button
              type="submit"
              disabled={!agreed || payout.trim() === '' || refund.trim() === '' || busy !== null}
            >
              Create exchange
            </button>
          </Form>
        )}
        <Failed failure={failure} />
      </div>
      <Notice kind="warn" title="Read this before you pay">
        <p>
          ChangeNOW does this exchange, not Sluice. It may hold a payment and ask for documents before it pays
          out or refunds.
        </p>
        <p>Pay from your own wallet, exactly the amount shown, and only once.</p>
      </Notice>
    </div>
  );
}
