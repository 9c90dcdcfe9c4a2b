import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Figure } from './figure.tsx';
import { btc, sats, worthText } from './format.ts';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';
import { CoverVerdict } from './verdict.tsx';

/** Reserve and supply as they are now, whether one covers the other, what both keys signed, and the checks. */
export function Hero() {
  const { state, run } = useProofCheck();
  return (
    <section class="verdict-card" aria-label="Reserve and supply">
      <ReserveAndSupply />
      <CoverVerdict check={state} />
      <div class="row">
        <button type="button" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check it now'}
        </button>
        {state.type === 'idle' ? <CheckNote /> : null}
      </div>
      <details class="more" open={state.type === 'running' || state.type === 'done'}>
        <summary>The six checks</summary>
        <CheckList state={state} />
      </details>
      <div role="status">
        <CheckVerdict state={state} retry={run} />
      </div>
    </section>
  );
}

function ReserveAndSupply() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const sum = reserves.value?.bitcoin.balanceSatoshis;
  return (
    <div class="figures">
      <Figure
        asset="btc"
        name="BTC reserve"
        atoms={sum}
        known={reserves.value !== null || reserves.failure !== null}
        unit={sum === '1' ? 'sat' : 'sats'}
        show={sats}
      >
        {sum ? (
          <>
            {btc(sum)} BTC, {worthText(sum, summary.value?.btcPriceUsd ?? null)}. Kept in public, for anyone
            to check.
          </>
        ) : null}
      </Figure>
      <Figure
        asset="absr"
        name="ABSR supply"
        atoms={summary.value?.coverage.supplySatoshis}
        known={summary.value !== null || summary.failure !== null}
        unit="ABSR"
        show={sats}
      >
        It counts the sats on Solana. <a href="/trust#redemption">No redemption</a>: no code here sends BTC.
      </Figure>
    </div>
  );
}
