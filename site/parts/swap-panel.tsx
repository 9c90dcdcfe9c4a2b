import { useEffect, useState } from 'hono/jsx';
import type { AbsrSummary, SwapEstimate, SwapMinimum } from '../../packages/client/src/index.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { announceChange, type Query, useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Check, Field, Form } from './field.tsx';
import { amountOf, counted, sol } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { SwapProgress } from './swap-progress.tsx';
import { useDraft } from './use-draft.ts';

const POLL_MS = 15_000;

const REASONS: Readonly<Record<string, string>> = {
  SWAPS_PAUSED: 'The operator has paused swaps.',
  SWAP_LIMIT_REACHED: 'A swap limit is used up.',
  INSUFFICIENT_BALANCE: 'The reserve holds too little SOL.',
};

export const SwapBounds = ({ minimum }: { minimum: SwapMinimum }) => (
  <>
    <dl class="facts">
      <dt>Smallest</dt>
      <dd>{sol(minimum.minAmountLamports)} SOL</dd>
      <dt>Largest</dt>
      <dd>{sol(minimum.maxAmountLamports)} SOL</dd>
      <dt>In the reserve</dt>
      <dd>{minimum.balanceLamports === null ? 'unknown' : `${sol(minimum.balanceLamports)} SOL`}</dd>
    </dl>
    {minimum.available ? null : (
      <Notice kind="warn" title="No swap can start.">
        <p>
          {REASONS[minimum.reason ?? ''] ?? minimum.reason}
          {minimum.nextAvailableAt === null ? null : (
            <>
              {' '}
              Next at <Moment iso={minimum.nextAvailableAt} />.
            </>
          )}
        </p>
      </Notice>
    )}
  </>
);

/** The difference between the quote and the market price, in sats and percent; null without prices. */
function costText(estimate: SwapEstimate, summary: AbsrSummary | null): string | null {
  if (!summary?.solPriceUsd || !summary.btcPriceUsd) return null;
  // Prices are floats: this figure is for information; the guaranteed minimum is binding.
  const market = (Number(estimate.amountLamports) / 1e9) * (summary.solPriceUsd / summary.btcPriceUsd) * 1e8;
  const cost = market - Number(estimate.estimatedSatoshis);
  if (market <= 0 || cost < 0) return 'no cost at the present prices';
  return `${amountOf(Math.round(cost).toString(), 'sat')}, ${((100 * cost) / market).toFixed(2)} %`;
}

const ROUTES: Readonly<Record<string, string>> = { 'near-intents': 'NEAR Intents 1Click' };

const Receipt = ({ estimate, summary }: { estimate: SwapEstimate; summary: AbsrSummary | null }) => {
  const cost = costText(estimate, summary);
  return (
    <dl class="receipt" aria-label="Quote">
      <div>
        <dt>
          <span class="dot sol" aria-hidden="true" />
          The reserve gives
        </dt>
        <dd>{sol(estimate.amountLamports)} SOL</dd>
      </div>
      <div class="total">
        <dt>
          <span class="dot btc" aria-hidden="true" />
          It gets about
        </dt>
        <dd>{amountOf(estimate.estimatedSatoshis, 'sat')}</dd>
      </div>
      <div>
        <dt>Guaranteed by the bridge</dt>
        <dd>{amountOf(estimate.minimumSatoshis, 'sat')}</dd>
      </div>
      {cost === null ? null : (
        <div>
          <dt>Cost, compared with the market price</dt>
          <dd>{cost}</dd>
        </div>
      )}
      <div>
        <dt>Arrives in about</dt>
        <dd>
          {estimate.etaSeconds === null
            ? 'minutes to hours'
            : `${counted(Math.ceil(estimate.etaSeconds / 60), 'minute')}, then one confirmation`}
        </dd>
      </div>
      <div>
        <dt>Route</dt>
        <dd>{ROUTES[estimate.source] ?? estimate.source}</dd>
      </div>
    </dl>
  );
};

/** The largest swap that is possible now, in lamports; null if none is possible, or while it is not known. */
const mostOf = (minimum: SwapMinimum | null): bigint | null =>
  minimum?.available ? BigInt(minimum.maxAmountLamports) : null;

/** The amount in whole lamports of each preset that the current limits allow. */
function presets(minimum: SwapMinimum | null): readonly (readonly [name: string, amount: string])[] {
  if (minimum === null) return [];
  const [least, most] = [BigInt(minimum.minAmountLamports), BigInt(minimum.maxAmountLamports)];
  const one = 10n ** BigInt(SOL_DECIMALS);
  const text = (lamports: bigint): string => formatAmount(lamports, SOL_DECIMALS);
  if (most < least) return [];
  return [
    ['Min', text(least)],
    ...(least < one && one < most ? [['1', '1'] as const] : []),
    ['Max', text(most)],
  ];
}

const Presets = ({ minimum, pick }: { minimum: SwapMinimum | null; pick: (amount: string) => void }) => (
  <p class="presets">
    {presets(minimum).map(([name, preset]) => (
      <button
        type="button"
        class="quiet small"
        aria-label={name === preset ? `${preset} SOL` : `${name}, ${preset} SOL`}
        onClick={() => pick(preset)}
      >
        {name}
      </button>
    ))}
  </p>
);

/** The quote, and the button that accepts it. The quote shows whether the service would accept a swap now. */
export function Offer({
  estimate,
  busy,
  start,
}: {
  estimate: SwapEstimate;
  busy: boolean;
  start: () => void;
}) {
  const summary = useQuery('getAbsrSummary', {});
  const [agreed, setAgreed] = useState(false);
  return (
    <>
      <Receipt estimate={estimate} summary={summary.value} />
      <AsOf at={estimate.as_of} stale={estimate.stale} />
      {estimate.creatable ? (
        <>
          <Check
            id="swap-agreed"
            label="This moves the reserve's SOL, not mine."
            hint="The BTC goes to the reserve. I pay nothing and receive nothing."
            on={agreed}
            set={setAgreed}
          />
          <p class="row">
            <button type="button" disabled={!agreed || busy} onClick={start}>
              Start swap
            </button>
          </p>
        </>
      ) : (
        <Notice kind="warn" title="This swap cannot start now.">
          <p>{estimate.error}</p>
        </Notice>
      )}
    </>
  );
}

const Limits = ({ minimum }: { minimum: Query<SwapMinimum> }) => (
  <div class="stack">
    <h2 class="minor">Limits</h2>
    <div class="bounds">
      <Loaded
        query={minimum}
        waiting="Reading the limits."
        show={(value) => <SwapBounds minimum={value} />}
      />
    </div>
  </div>
);

const Before = () => (
  <div class="stack">
    <h2 class="minor">Before you start one</h2>
    <dl class="facts">
      <dt>Who swaps</dt>
      <dd>NEAR Intents 1Click, the bridge</dd>
      <dt>Who holds the coins</dt>
      <dd>The bridge, from when the SOL leaves the reserve until the BTC arrives there</dd>
      <dt>Fee</dt>
      <dd>In the quote, and paid by the reserve. The service refuses a quote that costs too much</dd>
      <dt>If it fails</dt>
      <dd>The bridge returns the SOL to the reserve, less its fee</dd>
      <dt>Finished</dt>
      <dd>Once the BTC is confirmed at the reserve's address</dd>
    </dl>
  </div>
);

/** Quote, then start. @param started called with the id of the new swap */
function SwapForm({ minimum, started }: { minimum: Query<SwapMinimum>; started: (id: string) => void }) {
  const [{ amount }, setDraft] = useDraft('swap', { amount: '0.5' });
  const [estimate, setEstimate] = useState<SwapEstimate | null>(null);
  const { busy, failure, attempt } = useAttempt<'quote' | 'create'>();
  const most = mostOf(minimum.value);
  const ready = isAmount(amount, SOL_DECIMALS, 'SOL', most) && busy === null;

  const quote = () =>
    attempt('quote', async () => {
      setEstimate(null);
      setEstimate((await call('getSwapEstimate', { amountSol: amount.trim() })).value);
    });
  const start = () =>
    attempt('create', async () => {
      // The client keeps one key until the outcome is known: pressing again never moves money twice.
      const { value } = await call('createSwap', { amountSol: amount.trim() });
      announceChange();
      started(value.id);
    });
  const change = (text: string): void => {
    setDraft({ amount: text });
    setEstimate(null);
  };
  return (
    <div class="card stack">
      <Form label="Swap" submit={quote}>
        <Field
          id="swap-amount"
          label="SOL of the reserve to swap"
          unit="SOL"
          keys="decimal"
          value={amount}
          set={change}
          wrong={amountFault(amount, SOL_DECIMALS, 'SOL', most)}
        />
        <Presets minimum={minimum.value} pick={change} />
        <button type="submit" class={estimate === null ? '' : 'quiet'} disabled={!ready}>
          Get quote
        </button>
      </Form>
      {busy === 'quote' ? <Waiting what="Waiting for the bridge's quote." /> : null}
      {estimate === null ? null : <Offer estimate={estimate} busy={busy !== null} start={start} />}
      {busy === 'create' ? (
        <Waiting what="Reserving, signing and sending. This can take half a minute." usualSeconds={30} />
      ) : null}
      <Failed failure={failure} />
    </div>
  );
}

/** A swap's progress, if the page's address names one; otherwise the form of a new swap. */
export function SwapPanel() {
  const minimum = useQuery('getSwapMinimum', {}, POLL_MS);
  const [id, setId] = useState<string | null>(null);
  useEffect(() => setId(fromAddressBar('swap')), []);
  const show = (swap: string | null): void => {
    toAddressBar('swap', swap);
    setId(swap);
  };
  if (id === null)
    return (
      <div class="split">
        <div class="stack">
          <SwapForm minimum={minimum} started={show} />
          <Limits minimum={minimum} />
        </div>
        <Before />
      </div>
    );
  return (
    <div class="card stack narrow">
      <SwapProgress id={id} />
      <button
        type="button"
        class="quiet start"
        onClick={() => {
          show(null);
          minimum.refresh();
        }}
      >
        Another swap
      </button>
    </div>
  );
}
