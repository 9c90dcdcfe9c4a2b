import { createRoute, z } from '@hono/zod-openapi';
import { BODY_ERRORS, notConfigured } from '../../core/errors.ts';
import { spendingBody } from '../../http/body.ts';
import { clientKey, rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { jsonRequest, newRouter } from '../../http/router.ts';
import type { ExchangeProvider } from '../../providers/changenow.ts';
import { type CreateExchangeDeps, createExchange, ExchangeAnswer } from './create-exchange.ts';
import { ExchangeStatusBody, type GetStatusDeps, getExchangeStatus } from './get-exchange-status.ts';
import {
  amountOfFrom,
  coinNumber,
  coinText,
  getEstimate,
  getRange,
  pairParams,
  type QuoteDeps,
  Sourced,
  sourceOf,
} from './quote.ts';

/** All four routes share one limit, because each may cost a call to the provider. */
const exchangeLimit = rateLimit('exchange');

const INACTIVE = 'null while the provider does not exchange the pair';

const ERRORS = [
  'INVALID_INPUT',
  'RATE_LIMITED',
  'UPSTREAM_FAILED',
  'NOT_CONFIGURED',
  'EXCHANGE_CURRENCY_UNKNOWN',
  'EXCHANGE_REFUSED',
] as const;

const minimum = createRoute({
  method: 'get',
  path: '/exchange/min',
  operationId: 'getExchangeMinimum',
  tags: ['exchange'],
  summary: 'Exchange bounds',
  description: 'Smallest and largest amount of a currency pair.',
  middleware: [exchangeLimit] as const,
  request: { query: z.object(pairParams) },
  responses: {
    200: jsonResponse(
      Sourced.extend({
        from: z.string(),
        to: z.string(),
        minAmount: z
          .number()
          .nullable()
          .openapi({
            example: 0.1,
            description: `In whole coins of \`from\`; ${INACTIVE}, or states no minimum`,
          }),
        minAmountExact: z.string().nullable().openapi({ example: '0.1' }),
        maxAmount: z.number().nullable().describe('null when there is no upper bound'),
        maxAmountExact: z.string().nullable(),
      }).openapi('ExchangeMinimum'),
      'The bounds',
    ),
    ...errorResponses(ERRORS),
  },
});

const estimate = createRoute({
  method: 'get',
  path: '/exchange/estimate',
  operationId: 'getExchangeEstimate',
  tags: ['exchange'],
  summary: 'Estimate an exchange',
  description: 'Expected output for an amount, after fees; the rate is not locked.',
  middleware: [exchangeLimit] as const,
  request: { query: z.object({ ...pairParams, amount: amountOfFrom }) },
  responses: {
    200: jsonResponse(
      Sourced.extend({
        from: z.string(),
        to: z.string(),
        amount: z.number().openapi({ example: 0.5 }),
        amountExact: z.string().openapi({ example: '0.5' }),
        estimatedAmount: z
          .number()
          .nullable()
          .openapi({ example: 0.000621, description: `In whole coins of \`to\`; ${INACTIVE}` }),
        estimatedAmountExact: z.string().nullable().openapi({ example: '0.000621' }),
        minutes: z
          .string()
          .nullable()
          .openapi({ example: '10-60', description: 'Expected duration; null when unknown' }),
      }).openapi('ExchangeEstimate'),
      'The estimate',
    ),
    ...errorResponses([...ERRORS, 'EXCHANGE_AMOUNT_OUT_OF_RANGE']),
  },
});

const CACHEABLE = 'public, max-age=10';

export type ExchangeDeps = Omit<QuoteDeps & CreateExchangeDeps & GetStatusDeps, 'changenow'> & {
  /** Undefined without CHANGENOW_API_KEY. */
  changenow: ExchangeProvider | undefined;
};

const address = z
  .string()
  .regex(/^[\x21-\x7e]{2,200}$/, 'must be an address: 2 to 200 visible ASCII characters');
const memo = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters');

const ExchangeRequest = z
  .object({
    ...pairParams,
    amount: amountOfFrom,
    payoutAddress: address.describe('Address that receives `to`'),
    payoutExtraId: memo.optional().describe('Memo or tag of payoutAddress, on chains that use one'),
    refundAddress: address.optional().describe('Address of `from` that receives a refund'),
    refundExtraId: memo.optional(),
  })
  .refine((body) => body.from !== body.to, { path: ['to'], error: 'must differ from `from`' })
  .openapi('ExchangeRequest');

const create = createRoute({
  method: 'post',
  path: '/exchange/create',
  operationId: 'createExchange',
  tags: ['exchange'],
  summary: 'Open an exchange',
  description:
    'Opens an exchange: after a payment to the returned address, the provider pays payoutAddress. Each request opens ' +
    'another exchange, and Idempotency-Key is ignored: an unused exchange is free and expires. After ' +
    'EXCHANGE_OUTCOME_UNKNOWN one may exist at the provider; create again.',
  middleware: [
    exchangeLimit,
    spendingBody('GET /api/exchange/estimate shows the output of an exchange'),
  ] as const,
  request: { body: jsonRequest(ExchangeRequest) },
  responses: {
    200: jsonResponse(ExchangeAnswer, 'The exchange'),
    ...errorResponses([
      ...BODY_ERRORS,
      'RATE_LIMITED',
      'UPSTREAM_FAILED',
      'NOT_CONFIGURED',
      'EXCHANGE_CURRENCY_UNKNOWN',
      'EXCHANGE_PAIR_INACTIVE',
      'EXCHANGE_AMOUNT_OUT_OF_RANGE',
      'EXCHANGE_ADDRESS_INVALID',
      'EXCHANGE_REFUSED',
      'EXCHANGE_OUTCOME_UNKNOWN',
    ]),
  },
});

const status = createRoute({
  method: 'get',
  path: '/exchange/status/{id}',
  operationId: 'getExchangeStatus',
  tags: ['exchange'],
  summary: 'Exchange status',
  description: 'State of an exchange.',
  middleware: [exchangeLimit] as const,
  request: {
    params: z.object({
      id: z.string().regex(/^[\w-]{1,64}$/, 'must be an exchange id: 1 to 64 letters, digits, - or _'),
    }),
  },
  responses: {
    200: jsonResponse(ExchangeStatusBody, 'The state'),
    ...errorResponses([
      'INVALID_INPUT',
      'NOT_FOUND',
      'RATE_LIMITED',
      'UPSTREAM_FAILED',
      'NOT_CONFIGURED',
      'EXCHANGE_REFUSED',
    ]),
  },
});

export const exchangeRoutes = newRouter<{ readonly exchange: ExchangeDeps }>()
  .openapi(minimum, async (c) => {
    const { from, to } = c.req.valid('query');
    const { value, ...read } = await getRange(withProvider(c.var.deps.exchange), from, to);
    const { minAmount = null, maxAmount = null } = value ?? {};
    c.header('Cache-Control', CACHEABLE);
    return c.json(
      {
        from,
        to,
        minAmount: coinNumber(minAmount),
        minAmountExact: coinText(minAmount),
        maxAmount: coinNumber(maxAmount),
        maxAmountExact: coinText(maxAmount),
        ...sourceOf(read),
      },
      200,
    );
  })
  .openapi(estimate, async (c) => {
    const { from, to, amount } = c.req.valid('query');
    const { value, ...read } = await getEstimate(withProvider(c.var.deps.exchange), from, to, amount);
    const estimated = value?.toAmount ?? null;
    c.header('Cache-Control', CACHEABLE);
    return c.json(
      {
        from,
        to,
        amount: coinNumber(amount),
        amountExact: coinText(amount),
        estimatedAmount: coinNumber(estimated),
        estimatedAmountExact: coinText(estimated),
        minutes: value?.transactionSpeedForecast ?? null,
        ...sourceOf(read),
      },
      200,
    );
  })
  .openapi(create, async (c) =>
    c.json(await createExchange(withProvider(c.var.deps.exchange), c.req.valid('json'), clientKey(c)), 200),
  )
  .openapi(status, async (c) =>
    c.json(await getExchangeStatus(withProvider(c.var.deps.exchange), c.req.valid('param').id), 200),
  );

/** The dependencies with a configured provider. @throws AppError NOT_CONFIGURED */
function withProvider({ changenow, ...deps }: ExchangeDeps) {
  if (changenow) return { ...deps, changenow };
  throw notConfigured(['CHANGENOW_API_KEY']);
}
