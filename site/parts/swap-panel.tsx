import { useEffect, useState } from 'hono/jsx';
import { SOL_DECIMALS } from '../../src/core/amount.ts';
import type { SwapCreated, SwapEstimate, SwapMinimum } from '../api/answers.ts';
import { call, type Failure } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Check, Field, Form } from './field.tsx';
import { sats, sol } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { SwapProgress } from './swap-progress.tsx';

const POLL_MS = 15_000;

const REASONS: Readonly<Record<string, string>> = {
  SWAPS_PAUSED: 'The operator has paused swaps.',
  SWAP_LIMIT_REACHED: 'A limit of the hour or day is used up.',
  INSUFFICIENT_BALANCE: 'The reserve holds too little SOL.',
};

export function SwapBounds({ minimum, failure }: { minimum: SwapMinimum | null; failure: Failure | null }) {
  if (minimum === null)
    return failure === null ? (
      <Waiting what="Asking how much can be swapped." />
    ) : (
      <Failed failure={failure} />
    );
  return (
    <>
      <dl class="facts">
        <dt>Smallest</dt>
        <dd>{sol(minimum.minAmountLamports)} SOL</dd>
        <dt>Largest now</dt>
        <dd>{sol(minimum.maxAmountLamports)} SOL</dd>
        <dt>In the reserve</dt>
        <dd>{minimum.balanceLamports === null ? 'unknown' : `${sol(minimum.balanceLamports)} SOL`}</dd>
      </dl>
      {minimum.available ? null : (
        <Notice kind="warn" title="No swap can start now.">
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
      <AsOf at={minimum.as_of} stale={minimum.stale} away={failure !== null} />
    </>
  );
}

/** Quote, dry run, then the real one; each step tells what it does. */
export function SwapPanel() {
  const minimum = useAnswer<SwapMinimum>('/api/swap/min', POLL_MS);
  const [amount, setAmount] = useState('0.5');
  const [estimate, setEstimate] = useState<SwapEstimate | null>(null);
  const [dryRun, setDryRun] = useState<SwapCreated | null>(null);
  const [agreed, setAgreed] = useState(false);
  const { busy, failure, attempt } = useAttempt<'quote' | 'dry' | 'create'>();
  const [key, setKey] = useState<string | null>(null);
  const [id, setId] = useState<string | null>(null);
  useEffect(() => setId(fromAddressBar('swap')), []);

  const fault = amountFault(amount, SOL_DECIMALS, 'SOL');
  const ready = isAmount(amount, SOL_DECIMALS, 'SOL') && busy === null;

  const quote = () =>
    attempt('quote', async () => {
      setDryRun(null);
      setEstimate(null);
      const path = `/api/swap/estimate?amountSol=${encodeURIComponent(amount.trim())}`;
      setEstimate((await call<SwapEstimate>(path)).value);
    });
  const rehearse = () =>
    attempt('dry', async () => {
      const body = { amountSol: amount.trim(), dry_run: true };
      setDryRun((await call<SwapCreated>('/api/swap/create', { body })).value);
    });
  const start = async (): Promise<void> => {
    const failed = await attempt('create', async () => {
      // One key until an answer is known: pressing again can never move money twice.
      const idempotencyKey = key ?? crypto.randomUUID();
      setKey(idempotencyKey);
      const body = { amountSol: amount.trim() };
      const { value } = await call<SwapCreated>('/api/swap/create', { body, idempotencyKey });
      setKey(null);
      if (value.id === null) return;
      toAddressBar('swap', value.id);
      setId(value.id);
    });
    if (failed?.needsNewKey) setKey(null);
  };
  const change = (text: string): void => {
    setAmount(text);
    setEstimate(null);
    setDryRun(null);
    setKey(null);
  };

  if (id !== null)
    return (
      <div class="card stack">
        <SwapProgress id={id} />
        <button
          type="button"
          class="quiet start"
          onClick={() => {
            toAddressBar('swap', null);
            setId(null);
            setEstimate(null);
            setDryRun(null);
            minimum.refresh();
          }}
        >
          Another swap
        </button>
      </div>
    );
  return (
    <div class="split">
      <div class="card stack">
        <Form label="Swap" submit={quote}>
          <Field
            id="swap-amount"
            label="SOL of the reserve to swap"
            unit="SOL"
            keys="decimal"
            value={amount}
            set={change}
            wrong={fault}
          />
          <button type="submit" disabled={!ready}>
            Get a quote
          </button>
        </Form>
        {busy === 'quote' ? <Waiting what="Asking the bridge for a quote." /> : null}
        {estimate === null ? null : (
          <>
            <dl class="facts" aria-label="Quote">
              <dt>Expected</dt>
              <dd>
                <strong>{sats(estimate.estimatedSatoshis)} sats</strong>
              </dd>
              <dt>Guaranteed by the bridge</dt>
              <dd>{sats(estimate.minimumSatoshis)} sats</dd>
              <dt>Takes about</dt>
              <dd>
                {estimate.etaSeconds === null
                  ? 'minutes to hours'
                  : `${Math.ceil(estimate.etaSeconds / 60)} min, then a confirmation`}
              </dd>
              <dt>Route</dt>
              <dd>{estimate.source}</dd>
            </dl>
            <AsOf at={estimate.as_of} stale={estimate.stale} />
            <div class="row">
              <button type="button" class="quiet" disabled={busy !== null} onClick={rehearse}>
                Dry run
              </button>
              <span class="fine">Does everything but reserve and sign.</span>
            </div>
          </>
        )}
        {busy === 'dry' ? <Waiting what="Rehearsing: quote, limits, checks." /> : null}
        {dryRun === null ? null : (
          <>
            <Notice kind="good">
              <p>
                <strong>It would pass now.</strong> Nothing was reserved or signed. Expected{' '}
                {sats(dryRun.expectedSatoshis)} sats by {dryRun.route}.
              </p>
            </Notice>
            <Check
              id="swap-agreed"
              label="I understand whose money moves"
              hint="The SOL is the reserve’s own and the BTC stays in the reserve. I pay nothing and receive nothing."
              on={agreed}
              set={setAgreed}
            />
            <button type="button" disabled={!agreed || busy !== null} onClick={start}>
              Start the swap
            </button>
          </>
        )}
        {busy === 'create' ? (
          <Waiting what="Reserving, signing, sending. This can take half a minute." usualSeconds={30} />
        ) : null}
        {failure === null ? null : <Failed failure={failure} />}
      </div>
      <div class="stack">
        <Notice kind="info" title="The service holds the key">
          <p>
            This swaps the reserve’s own SOL into BTC for the reserve. Anybody may start it, within limits;
            the coins cannot go anywhere else.
          </p>
        </Notice>
        <div class="card stack">
          <h3>Limits now</h3>
          <SwapBounds minimum={minimum.value} failure={minimum.failure} />
        </div>
      </div>
    </div>
  );
}
