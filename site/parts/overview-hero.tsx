import { FIGURES_POLL_MS, PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { Away, bitcoinAddressUrl } from './explorer-links.tsx';
import { Figure } from './figure.tsx';
import { amountOf, sats, shortened, worthText } from './format.ts';
import { Age, AsOf, together } from './freshness.tsx';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';
import { VerdictLine, verdictOf } from './verdict.tsx';

/** Reserve and supply as they are now, whether one covers the other, the signed snapshot, and the checks. */
export function Hero() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const { state, run } = useProofCheck();
  const { bitcoin } = reserves.value ?? {};
  const asked = reserves.value !== null || reserves.failure !== null;
  const summaryAsked = summary.value !== null || summary.failure !== null;
  return (
    <section class="verdict-card" aria-label="Reserve and supply">
      <div class="figures">
        <Figure
          asset="btc"
          name="BTC reserve"
          atoms={bitcoin?.balanceSatoshis}
          known={asked}
          unit={bitcoin?.balanceSatoshis === '1' ? 'sat' : 'sats'}
          show={sats}
        >
          {bitcoin?.balanceSatoshis
            ? worthText(bitcoin.balanceSatoshis, summary.value?.btcPriceUsd ?? null)
            : null}
        </Figure>
        <Figure
          asset="absr"
          name="ABSR supply"
          atoms={summary.value?.coverage.supplySatoshis}
          known={summaryAsked}
          unit="ABSR"
          show={sats}
        >
          a token on Solana, one for each sat
        </Figure>
      </div>
      <VerdictLine verdict={verdictOf(summary, state)} asked={summaryAsked} />
      <div class="row">
        <Snapshot />
        {/* Prices may be older; the verdict has the time of the supply. */}
        <AsOf {...together(reserves, summary)} at={reserves.value?.as_of ?? null} />
      </div>
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

/** What both keys signed last, where it can be seen, and how old it is. */
function Snapshot() {
  const { value: proof, failure } = useQuery('getProof', {}, PROOF_POLL_MS);
  if (proof === null)
    return (
      <p class="snapshot fine">
        {failure === null ? <span class="skeleton" aria-hidden="true" /> : 'No signed snapshot can be read.'}
      </p>
    );
  const { address } = proof.bitcoin;
  return (
    <p class="snapshot fine">
      Signed snapshot: {amountOf(proof.figures.reserveSatoshis, 'sat')}, by both reserve keys,{' '}
      <Age iso={proof.timestamp} />, at{' '}
      <Away href={bitcoinAddressUrl(address)}>
        <code title={address}>{shortened(address)}</code>
      </Away>
    </p>
  );
}
