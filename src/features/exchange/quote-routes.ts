import { createRoute, z } from '@hono/zod-openapi';
import { errorResponses, jsonResponse, newRouter } from '../../http/router.ts';
import type { ChangeNow } from '../../providers/changenow.ts';
import { configured, exchangeLimit } from './configured.ts';
import { amountOfFrom, coinNumber, coinText, pairParams, sourceFields, sourceOf } from './parameters.ts';
import { getEstimate, getRange, type QuoteDeps } from './quote.ts';

export type QuoteRouteDeps = Omit<QuoteDeps, 'changenow'> & { changenow: ChangeNow | undefined };

const INACTIVE = 'null when the provider does not exchange the pair right now';

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
      z
        .object({
          from: z.string(),
          to: z.string(),
          minAmount: z
            .number()
            .nullable()
            .openapi({ example: 0.1, description: `In whole coins of \`from\`; ${INACTIVE}` }),
          minAmountExact: z.string().nullable().openapi({ example: '0.1' }),
          maxAmount: z.number().nullable().openapi({ description: 'null when there is no upper bound' }),
          maxAmountExact: z.string().nullable(),
          ...sourceFields,
        })
        .openapi('ExchangeMinimum'),
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
      z
        .object({
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
          ...sourceFields,
        })
        .openapi('ExchangeEstimate'),
      'The estimate',
    ),
    ...errorResponses([...ERRORS, 'EXCHANGE_AMOUNT_OUT_OF_RANGE']),
  },
});

const CACHEABLE = 'public, max-age=10';

export const quoteRoutes = newRouter<{ readonly exchange: QuoteRouteDeps }>()
  .openapi(minimum, async (c) => {
    const { from, to } = c.req.valid('query');
    const { value, ...read } = await getRange(configured(c.var.deps.exchange), from, to);
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
    const { value, ...read } = await getEstimate(configured(c.var.deps.exchange), from, to, amount);
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
  });
