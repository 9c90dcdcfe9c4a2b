import { AppError } from '../../core/errors.ts';
import { HOUR_MS } from '../../core/limits.ts';
import type { Cache } from '../../http/cached.ts';
import type { Asset, ChangeNow, Currency, Pair } from '../../providers/changenow.ts';

export type CurrencyDeps = { cache: Pick<Cache, 'read'>; changenow: Pick<ChangeNow, 'currencies'> };

/** Coins are rarely listed or delisted, and the provider refuses a delisted pair regardless of this list. */
const LIST_POLICY = { freshMs: HOUR_MS, revalidateMs: 12 * HOUR_MS, staleMs: 48 * HOUR_MS };
const MAX_CANDIDATES = 20;

/**
 * The assets of two currency codes. A code is the provider's legacy ticker, which names coin and network in
 * one word (`usdterc20`). A bare ticker that exists on several networks is refused, never guessed.
 */
export async function getPair({ cache, changenow }: CurrencyDeps, from: string, to: string): Promise<Pair> {
  const { value } = await cache.read('changenow:currencies:v1', LIST_POLICY, () => changenow.currencies());
  return { from: assetOf(value, from), to: assetOf(value, to) };
}

function assetOf(currencies: readonly Currency[], code: string): Asset {
  const found = currencies.filter(({ legacyTicker }) => legacyTicker.toLowerCase() === code);
  const [asset] = found;
  if (asset && found.length === 1) return { ticker: asset.ticker, network: asset.network };
  const candidates = currencies
    .filter(({ ticker }) => ticker.toLowerCase() === code)
    .map(({ legacyTicker }) => legacyTicker)
    .slice(0, MAX_CANDIDATES);
  const hint = candidates.length > 0 ? ` Name the network: ${candidates.join(', ')}.` : '';
  throw new AppError('EXCHANGE_CURRENCY_UNKNOWN', `The provider has no currency ${code}.${hint}`, {
    details: { currency: code, candidates },
  });
}
