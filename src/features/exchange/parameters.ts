import { z } from '@hono/zod-openapi';
import { formatAmount, toNumber } from '../../core/amount.ts';
import type { Cached } from '../../http/cached.ts';
import { amountParam } from '../../http/params.ts';
import { type AttoCoins, COIN_DECIMALS } from '../../providers/changenow.ts';

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
  description: 'Amount of `from` in whole coins; digits after the eighteenth are dropped',
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

export const sourceFields = {
  as_of: z.iso.datetime(),
  stale: z.boolean(),
  source: z.literal('changenow'),
};

export const sourceOf = ({ asOf, stale }: Omit<Cached<unknown>, 'value'>) => ({
  as_of: new Date(asOf).toISOString(),
  stale,
  source: 'changenow' as const,
});
