import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { usd } from './format.ts';
import { Age } from './freshness.tsx';

/**
 * About how many dollars an amount is, with the price and its time; nothing while no price is known.
 * @param amount whole coins as decimal text
 * @param currency of the amount; only SOL and BTC have a price
 */
export function InDollars({ amount, currency }: { amount: string; currency: string }) {
  const { value } = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const price = currency === 'SOL' ? value?.solPriceUsd : currency === 'BTC' ? value?.btcPriceUsd : null;
  // Floats: the figure is for information only.
  const dollars = Number(amount) * (price ?? 0);
  if (!price || !value?.price_as_of || Number.isNaN(dollars)) return null;
  return (
    <>
      {' · about '}
      {usd(dollars)}
      <span class="fine rate">
        1 {currency} was {usd(price)} <Age iso={value.price_as_of} />
      </span>
    </>
  );
}
