import { z } from '@hono/zod-openapi';

import { formatAmount, toNumber } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import { component } from '../../http/router.ts';
import {
  type AttoCoins,
  type ChangeNow,
  COIN_DECIMALS,
  type CreatedExchange,
  type ExchangeOrder,
} from '../../providers/changenow.ts';
import { assertInRange, type CurrencyDeps, getPair, readRange, refusal } from './quote.ts';

export type CreateExchangeDeps = Pick<CurrencyDeps, 'cache'> & {
  changenow: Pick<ChangeNow, 'currencies' | 'range' | 'create'>;
  /** Counts one of this client's create calls. @throws AppError RATE_LIMITED */
  takeCreate: (client: string) => void;
  log: (line: Readonly<Record<string, unknown>>) => void;
};

export type CreateExchange = Omit<ExchangeOrder, 'from' | 'to'> & {
  /** Currency codes in lower case. */
  readonly from: string;
  readonly to: string;
};

/**
 * Opens an exchange with a single request to the provider. An unused exchange is free and expires, so a lost response
 * needs no recovery.
 *
 * @throws AppError for a refusal by the provider or the range; EXCHANGE_OUTCOME_UNKNOWN without a trustworthy response;
 * RATE_LIMITED
 */
export async function createExchange(
  deps: CreateExchangeDeps,
  { from: fromCode, to: toCode, ...rest }: CreateExchange,
  client: string,
): Promise<ExchangeAnswer> {
  deps.takeCreate(client);
  const pair = await getPair(deps, fromCode, toCode);
  assertInRange(rest.amount, await readRange(deps.changenow, pair), fromCode);
  const order = { ...rest, ...pair, fromCode, toCode };
  const result = await deps.changenow.create(order);
  if (result.outcome === 'refused') throw refusal(result.code);
  if (result.outcome === 'unknown') throw outcomeUnknown(deps, result.reason);
  // A response with a different payout address is rejected, so that callers do not pay into it.
  const wrong = mismatch(order, result.exchange);
  if (wrong) throw outcomeUnknown(deps, `mismatch_${wrong}`);
  return exchangeBody(order, result.exchange);
}

function outcomeUnknown({ log }: Pick<CreateExchangeDeps, 'log'>, reason: string): AppError {
  log({ level: 'error', event: 'exchange_outcome_unknown', reason });
  return new AppError(
    'EXCHANGE_OUTCOME_UNKNOWN',
    'The provider did not confirm this exchange. An order may exist there, but its pay-in address is unknown. ' +
      'Nothing was paid, and unused orders expire. Do not pay. Create again.',
  );
}

export const ExchangeAnswer = component('Exchange', {
  id: z.string().describe('The provider’s id; poll it at /api/exchange/status/{id}'),
  payinAddress: z.string().describe('Address to which `payinAmount` must be paid'),
  payinExtraId: z
    .string()
    .nullable()
    .describe('Memo or tag that the payment must carry; without it the payment is lost'),
  payinAmount: z.number().openapi({ example: 0.1 }),
  payinAmountExact: z.string().openapi({ example: '0.1', description: 'payinAmount with all digits' }),
  payinCurrency: z.string().openapi({ example: 'sol' }),
  payinNetwork: z.string().openapi({ example: 'sol' }),
  payoutCurrency: z.string(),
  payoutAddress: z.string(),
  expectedAmount: z.number().nullable().describe('Expected payout; the rate is not locked'),
  expectedAmountExact: z.string().nullable(),
  refundAddress: z.string().nullable(),
  status: z.literal('waiting'),
  statusUrl: z.url().describe('The provider’s own tracker page'),
  message: z.string(),
});

export type ExchangeAnswer = z.infer<typeof ExchangeAnswer>;

/** The provider's public page about an exchange. */
export const trackerUrl = (id: string): string =>
  `https://changenow.io/exchange/txs/${encodeURIComponent(id)}`;

/** The first member of the provider's response that differs from the order. */
export function mismatch(order: ExchangeOrder, created: CreatedExchange): string | undefined {
  const same: [string, boolean][] = [
    ['payout_address', isSameAddress(order.payoutAddress, created.payoutAddress)],
    ['amount', asDouble(created.fromAmount) === asDouble(order.amount)],
    ['from', created.fromCurrency === order.from.ticker && created.fromNetwork === order.from.network],
    ['to', created.toCurrency === order.to.ticker && created.toNetwork === order.to.network],
  ];
  return same.find(([, equal]) => !equal)?.[0];
}

/** Hex after an optional chain prefix. The case of its letters is at most a checksum. */
const HEX_ADDRESS = /^[a-z0-9]{0,4}?[0-9a-f]{40,}$/i;
const isOneCase = (text: string): boolean => text === text.toLowerCase() || text === text.toUpperCase();

/**
 * Whether two strings are the same address. Hex ignores case. Bech32 and similar formats ignore case if each string
 * uses only one case. In all other formats, such as base58, a different case is a different address, possibly without
 * an owner.
 */
function isSameAddress(a: string, b: string): boolean {
  if (a === b) return true;
  const mayDiffer = (HEX_ADDRESS.test(a) && HEX_ADDRESS.test(b)) || (isOneCase(a) && isOneCase(b));
  return mayDiffer && a.toLowerCase() === b.toLowerCase();
}

/** The provider computes with doubles, so it may return only 17 of an amount's 18 digits. */
const asDouble = (amount: AttoCoins): number => toNumber(amount, COIN_DECIMALS);

/** @param order with the caller's spelling of the currency codes */
export function exchangeBody(
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
      created.payinExtraId === null ? '' : ` with the memo ${created.payinExtraId}, else the payment is lost`,
      ', from a wallet of your own. The rate is not locked. ChangeNOW runs the exchange, not this service. It may hold ',
      'a payment until it has checked your identity or the source of the funds (status pending, hold true). It ',
      order.refundAddress
        ? 'sends refunds to refundAddress.'
        : 'asks you for an address before a refund, since no refundAddress was given.',
    ].join(''),
  };
}
