import { createRoute, z } from '@hono/zod-openapi';
import { formatAmount, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/limits.ts';
import type { Cache } from '../../http/cached.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, newRouter } from '../../http/router.ts';
import { type CreateInvoiceDeps, designOf } from './create-invoice.ts';
import { chargedFee, creationFee } from './creation-fee.ts';

export type QuoteDeps = Pick<CreateInvoiceDeps, 'rentExemption' | 'invoiceMargin' | 'publicBaseUrl'> & {
  /** This isolate's memory only. */
  readonly memory: Cache;
  /** The treasury's address. @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requirePayments: () => string;
};

/** Rent is a constant of the chain for each size, and names and symbols yield few sizes. */
const RENT_POLICY = { freshMs: HOUR_MS, revalidateMs: HOUR_MS, staleMs: 24 * HOUR_MS };

const quoteRoute = createRoute({
  method: 'get',
  path: '/tokens/quote',
  operationId: 'quoteToken',
  tags: ['tokens'],
  summary: 'Quote a token',
  description: 'The price of a new token and its parts; nothing is ordered.',
  middleware: [rateLimit('invoices')] as const,
  request: {
    query: z.object({
      name: z.string().openapi({ description: 'At most 32 bytes of UTF-8', example: 'Moon Cat' }),
      symbol: z.string().openapi({ description: 'At most 10 bytes of UTF-8', example: 'MCAT' }),
      token_program: z.enum(['token-2022', 'token']).optional(),
      metaplex_metadata: z.enum(['true', 'false']).optional(),
    }),
  },
  responses: {
    200: jsonResponse(
      z
        .object({
          fee_sol: z.number(),
          fee_lamports: z
            .number()
            .int()
            .openapi({ description: 'An invoice adds less than 20,000 lamports, which identify it' }),
          amount: z.string().openapi({ description: 'The same SOL as text' }),
          currency: z.literal('SOL'),
          fee_breakdown: z.record(z.string(), z.string()).openapi({ description: 'Lamports by part' }),
        })
        .openapi('TokenQuote'),
      'The price of a supply above 0',
    ),
    ...errorResponses([
      'INVALID_INPUT',
      'NOT_CONFIGURED',
      'UPSTREAM_FAILED',
      'RATE_LIMITED',
      'INVALID_TOKEN_TEXT',
      'CONTRADICTING_OPTIONS',
    ]),
  },
});

export const quoteRoutes = newRouter<{ readonly tokens: QuoteDeps }>().openapi(quoteRoute, async (c) => {
  const deps = c.var.deps.tokens;
  const treasury = deps.requirePayments();
  const { name, symbol, token_program: program, metaplex_metadata: metaplex } = c.req.valid('query');
  const design = designOf(deps, {
    name,
    symbol,
    program,
    metaplex: metaplex === 'true',
    // No other member of an order affects its price.
    creator: treasury,
    supply: 1n,
    decimals: 0,
    description: '',
    image: null,
    revokeFreeze: false,
    revokeMint: false,
    revokeUpdate: false,
  });
  const fee = await creationFee(design, deps.invoiceMargin, async (bytes) => {
    const read = async () => (await deps.rentExemption(bytes)).toString();
    return BigInt((await deps.memory.read(`rent:${bytes}`, RENT_POLICY, read)).value);
  });
  const lamports = chargedFee(fee);
  return c.json(
    {
      fee_sol: toNumber(lamports, SOL_DECIMALS),
      fee_lamports: Number(lamports),
      amount: formatAmount(lamports, SOL_DECIMALS),
      currency: 'SOL' as const,
      fee_breakdown: Object.fromEntries(Object.entries(fee).map(([part, cost]) => [part, cost.toString()])),
    },
    200,
  );
});
