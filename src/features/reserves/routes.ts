import { createRoute, z } from '@hono/zod-openapi';
import { isSignature } from '../../chain/solana/address.ts';
import { AppError, notConfigured } from '../../core/errors.ts';
import type { Cached } from '../../http/cached.ts';
import { decodeCursor, pageOf, pageParams } from '../../http/paging.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import { cachedJson, errorResponses, jsonResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { type ReservesDeps, reservesBody } from './get-reserves.ts';
import {
  BitcoinEntry,
  type List,
  type ListBitcoinDeps,
  type ListSolanaDeps,
  listBitcoin,
  listSolana,
  SolanaEntry,
} from './list-transactions.ts';

export type ReservesRouteDeps = ReservesDeps & ListBitcoinDeps & ListSolanaDeps;

const ownTime = {
  as_of: z.iso.datetime().nullable().describe('When this part was read'),
  stale: z.boolean().describe('True when its sources are unavailable and an older value is shown'),
};
const source = z
  .string()
  .nullable()
  .openapi({ description: 'The upstream that responded', example: 'mempool.space' });

const reservesRoute = createRoute({
  method: 'get',
  path: '/reserves',
  operationId: 'getReserves',
  tags: ['reserves'],
  summary: 'Reserve balances',
  description: 'Reserve addresses and balances on both chains.',
  responses: {
    200: jsonResponse(
      component('Reserves', {
        bitcoin: z.object({
          address: z.string().nullable(),
          balanceBtc: z.number().nullable().describe('Confirmed BTC'),
          balanceSat: z.int().nullable().describe('Confirmed sats'),
          balanceSatoshis: z.string().nullable().describe('Confirmed sats as a string'),
          pendingSatoshis: z.string().nullable().describe('Net effect of the mempool; may be negative'),
          watchOnly: z
            .boolean()
            .nullable()
            .describe('The service does not have the key; null while the custodian does not respond'),
          agreed: z
            .boolean()
            .nullable()
            .describe(
              'Whether all sources that responded agree; null for a single one. The lowest balance is shown.',
            ),
          sources: z.array(z.object({ name: z.string(), balanceSatoshis: z.string().nullable() })),
          source: source,
          ...ownTime,
        }),
        solana: z.object({
          address: z.string().nullable(),
          balanceSol: z.number().nullable().describe('Finalized SOL'),
          balanceLamports: z.string().nullable().describe('Finalized lamports as a string'),
          slot: z.string().nullable().describe('The slot of this balance'),
          source: source,
          sources: z.array(z.string()).optional(),
          minting: z
            .object({
              authority: z
                .string()
                .nullable()
                .describe('Mint authority; null if minting is disabled for good'),
              required: z.int().describe('Keys that must sign a mint'),
              signers: z.array(z.string()).describe('Addresses of these keys: the reserve and the witness'),
            })
            .nullable()
            .describe('Who can mint ABSR, from the chain; null while unknown'),
          absr: z
            .object({
              treasuryAtoms: z.string().describe('In the account that gets each mint'),
              supplyAtoms: z.string(),
              decimals: z.int(),
            })
            .nullable()
            .optional()
            .describe('ABSR of the treasury, in atoms; null while unknown'),
          ...ownTime,
        }),
        as_of: z.iso.datetime().nullable().describe('When the older part was read'),
        stale: z.boolean().describe('True when a source is unavailable and an older value is shown'),
        errors: z.array(z.object({ part: z.enum(['bitcoin', 'solana']), error_code: z.string() })).optional(),
      }),
      'Balances; a part that cannot be read is null and named in errors',
    ),
    ...errorResponses(['UPSTREAM_FAILED'], { UPSTREAM_FAILED: 503 }),
  },
});

const freshness = {
  as_of: z.iso.datetime().describe('When the list was read'),
  stale: z.boolean().describe('True when every source is unavailable and an older list is shown'),
  source: z.string().openapi({ description: 'The upstream that responded', example: 'mempool.space' }),
  next_cursor: nextCursor,
};
const listErrors = errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'UPSTREAM_FAILED', 'NOT_CONFIGURED']);

const bitcoinListRoute = createRoute({
  method: 'get',
  path: '/transactions/bitcoin',
  operationId: 'listBitcoinTransactions',
  tags: ['reserves'],
  summary: 'List Bitcoin transactions',
  description: "The reserve's newest 100 Bitcoin transactions, newest first.",
  middleware: [rateLimit('transactions')] as const,
  request: { query: z.object(pageParams()) },
  responses: {
    200: jsonResponse(
      component('BitcoinTransactions', {
        transactions: z.array(BitcoinEntry),
        ...freshness,
      }),
      'Mempool entries first, then by block',
    ),
    ...listErrors,
  },
});

const solanaListRoute = createRoute({
  method: 'get',
  path: '/transactions/solana',
  operationId: 'listSolanaTransactions',
  tags: ['reserves'],
  summary: 'List Solana transactions',
  description: "The reserve's newest 100 finalized Solana transactions, newest first.",
  middleware: [rateLimit('transactions')] as const,
  request: { query: z.object(pageParams()) },
  responses: {
    200: jsonResponse(
      component('SolanaTransactions', {
        transactions: z.array(SolanaEntry),
        ...freshness,
      }),
      'Transactions that name the reserve, including failed ones',
    ),
    ...listErrors,
  },
});

const treasuryRoute = createRoute({
  method: 'get',
  path: '/explorer/treasury',
  operationId: 'getTreasury',
  tags: ['reserves'],
  summary: 'Treasury address',
  description: 'The Solana address that receives fees, payments for ASRY and minted ABSR.',
  responses: {
    200: jsonResponse(component('Treasury', { treasury_address: z.string() }), 'The treasury'),
    ...errorResponses(['NOT_CONFIGURED']),
  },
});

/**
 * A page of a stored list. A cursor never makes the API read older transactions.
 * @param keyOf the identifier of an entry in a cursor
 */
const listPage =
  <Entry>(list: string, key: z.ZodType<string>, keyOf: (entry: Entry) => string) =>
  async (read: () => Promise<Cached<List<Entry>>>, query: { limit: number; cursor?: string | undefined }) => {
    const after = decodeCursor(list, z.tuple([key]), query.cursor)?.[0];
    const { value, asOf, stale } = await read();
    const at = value.transactions.findIndex((entry) => keyOf(entry) === after);
    if (after !== undefined && at < 0)
      throw new AppError(
        'INVALID_INPUT',
        'cursor names a transaction that is no longer in the list. Start again without it.',
      );
    const page = pageOf(list, value.transactions.slice(at + 1), query.limit, (entry) => [keyOf(entry)]);
    return {
      transactions: [...page.rows],
      as_of: new Date(asOf).toISOString(),
      stale,
      source: value.source,
      next_cursor: page.next,
    };
  };
const bitcoinPage = listPage<BitcoinEntry>('bitcoin', z.string().regex(/^[0-9a-f]{64}$/), ({ txid }) => txid);
const solanaPage = listPage<SolanaEntry>(
  'solana',
  z.string().refine(isSignature),
  ({ signature }) => signature,
);

export const reservesRoutes = newRouter<{ readonly reserves: ReservesRouteDeps }>()
  .openapi(reservesRoute, async (c) => {
    const deps = c.var.deps.reserves;
    return cachedJson(c, await reservesBody(deps));
  })
  .openapi(bitcoinListRoute, async (c) => {
    const deps = c.var.deps.reserves;
    return c.json(await bitcoinPage(() => listBitcoin(deps), c.req.valid('query')), 200);
  })
  .openapi(solanaListRoute, async (c) => {
    const deps = c.var.deps.reserves;
    return c.json(await solanaPage(() => listSolana(deps), c.req.valid('query')), 200);
  })
  .openapi(treasuryRoute, (c) => {
    const address = c.var.deps.reserves.treasuryAddress;
    if (address === null) throw notConfigured(['TREASURY_SOLANA_ADDRESS']);
    c.header('Cache-Control', 'public, max-age=300');
    return c.json({ treasury_address: address }, 200);
  });
