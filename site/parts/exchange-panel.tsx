import { useEffect, useState } from 'hono/jsx';
import type { ExchangeEstimate } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Check, Choice, Field, Form } from './field.tsx';
import { grouped, roundedUp, significant } from './format.ts';
import { later } from './later.tsx';
import { Failed, Waiting } from './notice.tsx';
import { keepOpen, openExchange } from './open-exchange.ts';
import { useDraft } from './use-draft.ts';

const ExchangeProgress = later(async () => (await import('./exchange-progress.tsx')).ExchangeProgress);

const COINS = [
  ['sol', 'SOL, Solana'],
  ['btc', 'BTC, Bitcoin'],
  ['eth', 'ETH, Ethereum'],
  ['xmr', 'XMR, Monero'],
] as const;
/** Digits shown of a limit; the exact minimum is rounded up, so that it is always sufficient. */
const BOUND_DIGITS = 4;
const MAX_DECIMALS = 18;

const EMPTY = { from: 'sol', to: 'btc', amount: '1', payout: '', refund: '' };

/** Exchanges the visitor's own coins at a provider; this service only forwards the order. */
export function ExchangePanel() {
  const [id, setId] = useState<string | null>(null);
  useEffect(() => setId(fromAddressBar('exchange') ?? openExchange()), []);
  const show = (next: string | null): void => {
    keepOpen(next);
    toAddressBar('exchange', next);
    setId(next);
  };
  if (id === null) return <ExchangeForm created={show} />;
  return (
    <div class="card stack">
      <ExchangeProgress id={id} />
      <button type="button" class="quiet start" onClick={() => show(null)}>
        Another exchange
      </button>
    </div>
  );
}

type Draft = typeof EMPTY;
type SetDraft = (name: keyof Draft) => (text: string) => void;

/** The provider's limits of the amount. */
function Range({ draft: { from, to } }: { draft: Draft }) {
  const { value, failure } = useQuery('getExchangeMinimum', from === to ? null : { from, to });
  if (value === null) return <>{failure?.text ?? 'ChangeNOW sets the limits.'}</>;
  const { minAmountExact: least, maxAmountExact: most } = value;
  return (
    <>
      {least ? `At least ${roundedUp(least, BOUND_DIGITS)}` : 'No minimum is known'}
      {most ? `, at most ${grouped(significant(most, BOUND_DIGITS))}` : ''} {from.toUpperCase()}
    </>
  );
}

/** Coins and amount, with the provider's limits as a hint. */
function Terms({ draft, set }: { draft: Draft; set: SetDraft }) {
  const { from, to, amount } = draft;
  const unit = from.toUpperCase();
  return (
    <>
      <div class="pair">
        <Choice id="exchange-from" label="You pay" value={from} set={set('from')} options={COINS} />
        <Choice id="exchange-to" label="You receive" value={to} set={set('to')} options={COINS} />
      </div>
      <Field
        id="exchange-amount"
        label="Amount"
        unit={unit}
        keys="decimal"
        value={amount}
        set={set('amount')}
        wrong={from === to ? 'Choose two different coins.' : amountFault(amount, MAX_DECIMALS, unit)}
        hint={<Range draft={draft} />}
      />
    </>
  );
}

/** What a visitor must know about the provider. @param minutes expected duration; null while it is not known */
const Facts = ({ draft, minutes }: { draft: Draft; minutes: string | null }) => (
  <div class="stack">
    <h2 class="minor">Read this before you pay</h2>
    <dl class="facts">
      <dt>Who exchanges</dt>
      <dd>ChangeNOW (changenow.io), not Sluice</dd>
      <dt>Who holds your coins</dt>
      <dd>ChangeNOW, from your payment to its payout. Sluice never has them and cannot return them</dd>
      <dt>Amount</dt>
      <dd>
        <Range draft={draft} />
      </dd>
      <dt>Fee</dt>
      <dd>In ChangeNOW’s rate. Sluice adds none</dd>
      <dt>Rate</dt>
      <dd>Not locked: more or less than the estimate may arrive</dd>
      <dt>Time</dt>
      <dd>{minutes === null ? 'Shown with the estimate' : `${minutes} minutes, according to ChangeNOW`}</dd>
      <dt>If it fails</dt>
      <dd>
        ChangeNOW returns your coins to your refund address. It may first hold them and ask for documents
      </dd>
    </dl>
  </div>
);

type OrderProps = {
  readonly draft: Draft;
  readonly set: SetDraft;
  readonly busy: boolean;
  readonly create: () => unknown;
};

const Estimated = ({ estimate }: { estimate: ExchangeEstimate }) => (
  <p>
    About{' '}
    <strong>
      {estimate.estimatedAmountExact} {estimate.to.toUpperCase()}
    </strong>
    {estimate.minutes === null ? '' : `, in ${estimate.minutes} minutes`}.
  </p>
);

/** Both addresses, and the consent of the visitor. */
function Order({ draft, set, busy, create }: OrderProps) {
  const [agreed, setAgreed] = useState(false);
  const { from, to, payout, refund } = draft;
  const isComplete = agreed && payout.trim() !== '' && refund.trim() !== '';
  return (
    <Form label="Start the exchange" submit={create}>
      <Field
        id="exchange-payout"
        label={`Your ${to.toUpperCase()} address`}
        value={payout}
        set={set('payout')}
        hint="Receives the coins. Check the address twice."
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
      <button type="submit" disabled={!isComplete || busy}>
        Create exchange
      </button>
    </Form>
  );
}

function ExchangeForm({ created }: { created: (id: string) => void }) {
  const [draft, setDraft, forget] = useDraft('exchange', EMPTY);
  const { from, to, amount, payout, refund } = draft;
  const [estimate, setEstimate] = useState<ExchangeEstimate | null>(null);
  const { busy, failure, attempt } = useAttempt<'quote' | 'create'>();
  const quote = () =>
    attempt('quote', async () => {
      setEstimate((await call('getExchangeEstimate', { from, to, amount: amount.trim() })).value);
    });
  const create = () =>
    attempt('create', async () => {
      const [payoutAddress, refundAddress] = [payout.trim(), refund.trim()];
      const order = { from, to, amount: amount.trim(), payoutAddress, refundAddress };
      const { value } = await call('createExchange', order);
      forget();
      created(value.id);
    });
  const set: SetDraft = (name) => (text) => {
    setDraft({ ...draft, [name]: text });
    if (name !== 'payout' && name !== 'refund') setEstimate(null);
  };
  const ready = isAmount(amount, MAX_DECIMALS, from) && from !== to && busy === null;
  const outcome = busy === null ? <Failed failure={failure} /> : <Waiting what="Waiting for the provider." />;
  return (
    <div class="split exchange">
      <div class="card stack">
        <Form label="Exchange" submit={quote}>
          <Terms {...{ draft, set }} />
          <button type="submit" class={estimate === null ? '' : 'quiet'} disabled={!ready}>
            Estimate
          </button>
        </Form>
        {estimate === null ? null : <Estimated estimate={estimate} />}
        {estimate === null ? outcome : null}
      </div>
      <Facts draft={draft} minutes={estimate?.minutes ?? null} />
      {estimate === null ? null : (
        <div class="card stack">
          <Order {...{ draft, set, create }} busy={busy !== null} />
          {outcome}
        </div>
      )}
    </div>
  );
}
