import { z } from '@hono/zod-openapi';
import { formatAmount, toNumber } from '../../core/amount.ts';
import type { CreatedExchange, ExchangeOrder } from '../../providers/changenow.ts';
import { type AttoCoins, COIN_DECIMALS } from '../../providers/coin-amount.ts';

export const ExchangeAnswer = z
  .object({
    id: z.string().openapi({ description: 'The provider’s id; poll it at /api/exchange/status/{id}' }),
    payinAddress: z.string().openapi({ description: 'Address to which `payinAmount` must be paid' }),
    payinExtraId: z
      .string()
      .nullable()
      .openapi({ description: 'Memo or tag that the payment must carry; without it the deposit is lost' }),
    payinAmount: z.number().openapi({ example: 0.1 }),
    payinAmountExact: z.string().openapi({ example: '0.1', description: 'payinAmount with all digits' }),
    payinCurrency: z.string().openapi({ example: 'sol' }),
    payinNetwork: z.string().openapi({ example: 'sol' }),
    payoutCurrency: z.string(),
    payoutAddress: z.string(),
    expectedAmount: z.number().nullable().openapi({ description: 'Expected payout; the rate is not locked' }),
    expectedAmountExact: z.string().nullable(),
    refundAddress: z.string().nullable(),
    status: z.literal('waiting'),
    statusUrl: z.url().openapi({ description: 'The provider’s own tracker page' }),
    message: z.string(),
  })
  .openapi('Exchange');

export type ExchangeAnswer = z.infer<typeof ExchangeAnswer>;

/** The provider's public page about an exchange. */
export const trackerUrl = (id: string): string =>
  `https://changenow.io/exchange/txs/${encodeURIComponent(id)}`;

/** The first member of a create's answer that differs from the order. */
export function mismatch(order: ExchangeOrder, created: CreatedExchange): string | undefined {
  const same: [string, boolean][] = [
    ['payout_address', isSameAddress(order.payoutAddress, created.payoutAddress)],
    ['amount', asDouble(created.fromAmount) === asDouble(order.amount)],
    ['from', created.fromCurrency === order.from.ticker && created.fromNetwork === order.from.network],
    ['to', created.toCurrency === order.to.ticker && created.toNetwork === order.to.network],
  ];
  return same.find(([, equal]) => !equal)?.[0];
}

/** Hex, whose case is at most a checksum, after an optional chain prefix. */
const HEX_ADDRESS = /^[a-z0-9]{0,4}?[0-9a-f]{40,}$/i;
const isOneCase = (text: string): boolean => text === text.toLowerCase() || text === text.toUpperCase();

/**
 * Whether two texts are the same address. Hex ignores case; bech32 and similar formats do if each text has
 * one case. Everywhere else, as in base58, a different case is a different address, possibly one without an
 * owner.
 */
function isSameAddress(a: string, b: string): boolean {
  if (a === b) return true;
  const mayDiffer = (HEX_ADDRESS.test(a) && HEX_ADDRESS.test(b)) || (isOneCase(a) && isOneCase(b));
  return mayDiffer && a.toLowerCase() === b.toLowerCase();
}

/** The provider computes with doubles: of 18 digits it may return 17. */
const asDouble = (amount: AttoCoins): number => toNumber(amount, COIN_DECIMALS);

/** @param order with the caller's spelling of the currency codes */
export function exchangeAnswer(
  order: ExchangeOrder & { readonly fromCode: string; readonly toCode: string },
  created: CreatedExchange,
): ExchangeAnswer {
  const payin = formatAmount(order.amount, COIN_DECIMALS);
  const expected = created.toAmount;
  return {
    id: created.id,
    payinAddress: created.payinAddress,
    payinExtraId: created.payinExtraId,
    payinAmount: Number(payin),
    payinAmountExact: payin,
    payinCurrency: order.fromCode,
    payinNetwork: order.from.network,
    payoutCurrency: order.toCode,
    payoutAddress: order.payoutAddress,
    expectedAmount: expected === null ? null : asDouble(expected),
    expectedAmountExact: expected === null ? null : formatAmount(expected, COIN_DECIMALS),
    refundAddress: order.refundAddress ?? null,
    status: 'waiting',
    statusUrl: trackerUrl(created.id),
    message: [
      `Send exactly ${payin} ${order.fromCode} to payinAddress`,
      created.payinExtraId === null ? '' : ` with the memo ${created.payinExtraId}, else the deposit is lost`,
      ', from a wallet of your own. The rate is not locked. ChangeNOW runs the exchange, not this service. It may hold ',
      'a deposit until it has checked your identity or the source of the funds (status pending, hold true). It ',
      order.refundAddress
        ? 'sends refunds to refundAddress.'
        : 'asks you for an address before a refund, since no refundAddress was given.',
    ].join(''),
  };
}
