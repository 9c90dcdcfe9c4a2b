import { useQuery } from '../api/query.ts';
import { CopyButton } from './copyable.tsx';
import { CoverageMark, coverageOf } from './coverage.tsx';
import { Away, bitcoinAddressUrl } from './explorer-links.tsx';
import { amountOf, btc, worthText } from './format.ts';
import { Age } from './freshness.tsx';
import { CheckList, CheckNote, CheckVerdict, useProofCheck } from './proof-check.tsx';

const PROOF_POLL_MS = 60_000;

/** The newest signed proof in the first screen, and its check in place. */
export function ProofCard() {
  const { value: proof, failure } = useQuery('getProof', {}, PROOF_POLL_MS);
  const summary = useQuery('getAbsrSummary', {});
  const { state, run } = useProofCheck();
  const skeleton = failure === null ? <span class="skeleton" aria-hidden="true" /> : 'unknown';
  return (
    <section class="card stack proof-card" aria-label="Newest proof">
      <p class="fine" data-figure="signed">
        {proof === null ? (
          'Signed by both reserve keys'
        ) : (
          <>
            Signed <Age iso={proof.timestamp} /> by both reserve keys
          </>
        )}
      </p>
      <div>
        <p class="tile-value number" data-figure="proof-sats">
          {proof === null ? skeleton : amountOf(proof.figures.reserveSatoshis, 'sat')}
        </p>
        <p class="soft number in-btc" data-figure="proof-btc">
          {proof === null ? (
            <span class="unseen">not read yet</span>
          ) : (
            <>
              {btc(proof.figures.reserveSatoshis)} BTC ·{' '}
              {worthText(proof.figures.reserveSatoshis, summary.value?.btcPriceUsd ?? null)} ·{' '}
              <CoverageMark covered={coverageOf(summary)} />
            </>
          )}
        </p>
      </div>
      <p class="address" data-figure="proof-address">
        {proof === null ? (
          skeleton
        ) : (
          <>
            <Away href={bitcoinAddressUrl(proof.bitcoin.address)}>
              <code>{proof.bitcoin.address}</code>
            </Away>{' '}
            <CopyButton text={proof.bitcoin.address} label="Bitcoin address of the reserve" />
          </>
        )}
      </p>
      <p>
        <button type="button" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check it now'}
        </button>
      </p>
      {state.type === 'idle' ? <CheckNote /> : null}
      {state.type === 'running' || state.type === 'done' ? <CheckList state={state} /> : null}
      <div role="status">
        <CheckVerdict state={state} retry={run} />
      </div>
    </section>
  );
}
