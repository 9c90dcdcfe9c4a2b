import type { Cache, Cached } from '../../http/cached.ts';
import type { ChangeNow, Estimate, Pair, Range, Read } from '../../providers/changenow.ts';
import type { AttoCoins } from '../../providers/coin-amount.ts';
import { type CurrencyDeps, getPair } from './pair.ts';
import { assertInRange, refusal } from './refusal.ts';

export type QuoteDeps = CurrencyDeps & {
  /** In memory only: the caller chooses the key, and writes to shared storage cost money. */
  memory: Pick<Cache, 'read'>;
  changenow: Pick<ChangeNow, 'currencies' | 'range' | 'estimate'>;
};

/** Both follow the market; a value of a minute ago would mislead. */
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
export async function getRange(d: QuoteDeps, from: string, to: string): Promise<Cached<Range | null>> {
  return cachedRange(d, await getPair(d, from, to));
}

/**
 * Expected output for an amount; null when the pair is inactive.
 * @throws AppError EXCHANGE_AMOUNT_OUT_OF_RANGE with both bounds
 */
export async function getEstimate(
  d: QuoteDeps,
  from: string,
  to: string,
  amount: AttoCoins,
): Promise<Cached<Estimate | null>> {
  const pair = await getPair(d, from, to);
  const range = await cachedRange(d, pair);
  if (range.value === null) return { ...range, value: null };
  assertInRange(amount, range.value, from);
  return d.memory.read(`estimate:${nameOf(pair)}:${amount}`, QUOTE_POLICY, async () =>
    orInactive(await d.changenow.estimate(pair, amount)),
  );
}

/** The range without a cache, for a create. @throws AppError EXCHANGE_PAIR_INACTIVE */
export async function readRange(changenow: Pick<ChangeNow, 'range'>, pair: Pair): Promise<Range> {
  const range = await changenow.range(pair);
  if (range.ok) return range.value;
  throw refusal(range.code);
}
