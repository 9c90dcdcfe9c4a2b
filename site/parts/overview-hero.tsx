import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Figure } from './figure.tsx';
import { btc, sats, usd, worthText } from './format.ts';
import { CoveredSince } from './reserve-history.tsx';
import { useTokenQuote } from './token-price.tsx';
import { VerifyPanel } from './verify-panel.tsx';

/** Reserve and supply as they are now, with their verdict and check. */
export const Hero = () => (
  <VerifyPanel ground={<CoveredSince />}>
    <ReserveAndSupply />
  </VerifyPanel>
);

/** The acts of a wide page, in place of the button of its verdict. Until its price is read, a token has none here. */
export function Acts() {
  const lamports = useTokenQuote().value?.max_lamports;
  const price = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS).value?.solPriceUsd;
  return (
    <p class="row">
      <button type="button" class="by-script" onClick={() => document.getElementById('check-now')?.click()}>
        Check it now
      </button>
      <a class="button quiet" href="/tokens/new">
        Create a token
        {lamports === undefined || !price ? '' : `, about ${usd((lamports / 1e9) * price)}`}
      </a>
    </p>
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
            {btc(sum)} BTC, {worthText(sum, summary.value?.btcPriceUsd ?? null)}
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
        a token on Solana
      </Figure>
    </div>
  );
}
