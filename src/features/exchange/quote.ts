import { z } from '@hono/zod-openapi';

import { formatAmount, toNumber } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { AppError, upstreamFailed, upstreamLimited } from '../../core/errors.ts';
import { owned, prewarmed } from '../../http/cache-policy.ts';
import type { Cached, CacheReader } from '../../http/cached.ts';
import { amountParam } from '../../http/params.ts';
import { component } from '../../http/router.ts';
import {
  type Asset,
  type AttoCoins,
  type ChangeNow,
  COIN_DECIMALS,
  type Currency,
  type Estimate,
  type Pair,
  type Range,
  type Read,
} from '../../providers/changenow.ts';

const currency = (description: string, example: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9._-]{2,32}$/, 'must be a currency code such as btc, sol or usdterc20')
    .transform((code) => code.toLowerCase())
    .openapi({ description, example });

export const pairParams = {
  from: currency('Pay-in currency: a code that names coin and network, such as usdterc20', 'sol'),
  to: currency('Payout currency', 'btc'),
};

export const amountOfFrom = amountParam({
  decimals: COIN_DECIMALS,
  minimum: 1n,
  excess: 'drop',
  description: 'Amount of `from` in whole coins; decimal places after the eighteenth are dropped',
  example: '0.5',
});

/** An amount for the contract's numeric field. `coinText` is the exact amount. */
export function coinNumber(amount: AttoCoins): number;
export function coinNumber(amount: AttoCoins | null): number | null;
export function coinNumber(amount: AttoCoins | null): number | null {
  return amount === null ? null : toNumber(amount, COIN_DECIMALS);
}

export function coinText(amount: AttoCoins): string;
export function coinText(amount: AttoCoins | null): string | null;
export function coinText(amount: AttoCoins | null): string | null {
  return amount === null ? null : formatAmount(amount, COIN_DECIMALS);
}

export const Sourced = component('ExchangeSource', {
  as_of: z.iso.datetime(),
  stale: z.boolean(),
  source: z.literal('changenow'),
});

export const sourceOf = ({ asOf, stale }: Omit<Cached<unknown>, 'value'>) => ({
  as_of: new Date(asOf).toISOString(),
  stale,
  source: 'changenow' as const,
});

export type CurrencyDeps = { cache: CacheReader; changenow: Pick<ChangeNow, 'currencies'> };

/** Coins are rarely listed or delisted, and the provider refuses a delisted pair regardless of this list. */
const LIST_POLICY = prewarmed(48 * HOUR_MS, HOUR_MS);
const MAX_CANDIDATES = 20;

const readCurrencies = ({ cache, changenow }: CurrencyDeps, policy = LIST_POLICY) =>
  cache.read('changenow:currencies', policy, () => changenow.currencies());

/** Refreshes the list in the shared cache if it is an hour old. */
export const prewarmCurrencies = (deps: CurrencyDeps, now: number): Promise<unknown> =>
  readCurrencies(deps, owned(LIST_POLICY, now - HOUR_MS));

/**
 * The assets of two currency codes. A code is the provider's legacy ticker, which names coin and network in one word
 * (`usdterc20`). A bare ticker that exists on several networks is refused instead of guessed.
 */
export async function getPair({ cache, changenow }: CurrencyDeps, from: string, to: string): Promise<Pair> {
  const { value } = await readCurrencies({ cache, changenow });
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

export type QuoteDeps = CurrencyDeps & {
  /** In memory only: the caller chooses the key, and writes to shared storage cost money. */
  memory: CacheReader;
  changenow: Pick<ChangeNow, 'currencies' | 'range' | 'estimate'>;
};

/** Ranges and estimates follow the market, so a value that is a minute old would mislead. */
const QUOTE_POLICY = { freshMs: 10_000, revalidateMs: 0, staleMs: 0 };

const nameOf = ({ from, to }: Pair) => `${from.ticker}/${from.network}:${to.ticker}/${to.network}`;

/** The value, null when the pair is inactive. @throws AppError for any other refusal */
function orInactive<T>(read: Read<T>): T | null {
  if (read.ok) return read.value;
  if (read.code === 'pair_is_inactive') return null;
  throw refusal(read.code);
}

const cachedRange = ({ memory, changenow }: QuoteDeps, pair: Pair): Promise<Cached<Range | null>> =>
  memory.read(`range:${nameOf(pair)}`, QUOTE_POLICY, async () => orInactive(await changenow.range(pair)));

/** Smallest and largest amount of a pair, null when it is inactive. */
export async function getRange(deps: QuoteDeps, from: string, to: string): Promise<Cached<Range | null>> {
  return cachedRange(deps, await getPair(deps, from, to));
}

/**
 * Expected output for an amount; null when the pair is inactive.
 * @throws AppError EXCHANGE_AMOUNT_OUT_OF_RANGE with both bounds
 */
export async function getEstimate(
  deps: QuoteDeps,
  from: string,
  to: string,
  amount: AttoCoins,
): Promise<Cached<Estimate | null>> {
  const pair = await getPair(deps, from, to);
  const estimate = deps.memory.read(`estimate:${nameOf(pair)}:${amount}`, QUOTE_POLICY, async () =>
    orInactive(await deps.changenow.estimate(pair, amount)),
  );
  // The range is checked before the estimate is awaited, because the range check's error names both bounds.
  estimate.catch(() => undefined);
  const range = await cachedRange(deps, pair);
  if (range.value === null) return { ...range, value: null };
  assertInRange(amount, range.value, from);
  return estimate;
}

/** The range without a cache, for a create call. @throws AppError EXCHANGE_PAIR_INACTIVE */
export async function readRange(changenow: Pick<ChangeNow, 'range'>, pair: Pair): Promise<Range> {
  const range = await changenow.range(pair);
  if (range.ok) return range.value;
  throw refusal(range.code);
}

/** The error that a caller sees for a provider's refusal. */
export function refusal(code: string): AppError {
  switch (code) {
    case 'pair_is_inactive':
      return new AppError('EXCHANGE_PAIR_INACTIVE', 'The provider does not currently exchange this pair.');
    case 'out_of_range':
    case 'deposit_too_small':
      return new AppError('EXCHANGE_AMOUNT_OUT_OF_RANGE', 'The provider does not accept this amount.');
    case 'not_valid_address':
      return new AppError(
        'EXCHANGE_ADDRESS_INVALID',
        'The provider refuses the address: payoutAddress must be valid for `to`, refundAddress for `from`.',
      );
    case 'invalid_api_key':
      return new AppError('NOT_CONFIGURED', 'The exchange provider refuses the configured key.', {
        details: { variables: ['CHANGENOW_API_KEY'] },
      });
    case 'rate_limited':
      return upstreamLimited('changenow');
    case 'busy':
    case 'circuit_open':
      return upstreamFailed('changenow', code);
  }
  if (code.startsWith('status_')) {
    return upstreamFailed('changenow', code);
  }
  return new AppError('EXCHANGE_REFUSED', 'The provider refuses this exchange; none was created.', {
    details: { provider_code: code },
  });
}

/** @throws AppError EXCHANGE_AMOUNT_OUT_OF_RANGE; a deposit below the minimum can be lost at the provider */
export function assertInRange(amount: AttoCoins, { minAmount, maxAmount }: Range, currency: string): void {
  const isTooSmall = minAmount !== null && amount < minAmount;
  if (!isTooSmall && (maxAmount === null || amount <= maxAmount)) return;
  const details = { minAmount: coinText(minAmount), maxAmount: coinText(maxAmount) };
  const bound = isTooSmall ? `at least ${details.minAmount}` : `at most ${details.maxAmount}`;
  throw new AppError('EXCHANGE_AMOUNT_OUT_OF_RANGE', `amount must be ${bound} ${currency}.`, { details });
}
