import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Figure } from './figure.tsx';
import { btc, sats, worthText } from './format.ts';
import { VerifyPanel } from './verify-panel.tsx';

/** Reserve and supply as they are now, with their verdict and check. */
export const Hero = () => (
  <VerifyPanel>
    <ReserveAndSupply />
  </VerifyPanel>
);

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
