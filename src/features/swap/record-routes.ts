import { createRoute, z } from '@hono/zod-openapi';
import { isSignature } from '../../chain/solana/address.ts';
import { SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import { olderThanRecords } from '../../core/older-records.ts';
import type { CustodianApi } from '../../custody/api.ts';
import { csvList, decodeCursor, pageOf, pageParams, wantsCsv } from '../../http/paging.ts';
import { SIGNATURE } from '../../http/params.ts';
import { admitRead, limitReads } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse, listResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { preferHeaders, type Waiting } from '../../http/wait.ts';
import type { SwapRow, SwapStore } from './swap-store.ts';

export type SwapRecordDeps = SwapStatusDeps & {
  readonly swaps: Pick<SwapStore, 'landed'>;
  readonly waiting: Waiting;
  /** @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requireSwaps: () => void;
};

const statusRoute = createRoute({
  method: 'get',
  path: '/swap/status/{id}',
  operationId: 'getSwapStatus',
  tags: ['swap'],
  summary: 'Swap status',
  description: 'The state of a swap; neither polling nor waiting causes an upstream call.',
  request: {
    params: z.object({
      id: z.string().openapi({ ...SIGNATURE, description: 'Solana signature, base58 of 64 bytes' }),
    }),
    headers: preferHeaders,
  },
  responses: {
    200: jsonResponse(
      component('SwapStatus', {
        id: z.string(),
        status: z.enum(['waiting', 'finished', 'failed']),
        amountSol: z.number().nullable(),
        btcSats: z.int().nullable().describe('Sats received'),
        detail: z
          .string()
          .describe('Finer state: sent, landed, settling, refunded, partial, expired, held ...'),
        reason: z.string().nullable(),
        amountLamports: atomsText('Lamports swapped', '500000000'),
        expectedSatoshis: z.string().nullable(),
        btcSatoshis: z.string().nullable(),
        txId: z.string().nullable().describe('Bitcoin txid of the payout'),
        nextPollSeconds: z
          .int()
          .nullable()
          .describe('Seconds until the next poll; null when the state is final'),
      }),
      'The stored state',
    ),
    ...errorResponses([
      'NOT_FOUND',
      'OLDER_THAN_RECORDS',
      'RATE_LIMITED',
      'NOT_CONFIGURED',
      'CUSTODIAN_UNAVAILABLE',
    ]),
  },
});

const HistoryRow = z.object({
  signature: z.string(),
  txId: z.string().nullable(),
  solAmount: z.number(),
  btcSats: z.int().nullable(),
  blockTime: z.int().nullable().describe('Unix seconds'),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  amountLamports: z.string(),
  btcSatoshis: z.string().nullable(),
});

const historyRoute = createRoute({
  method: 'get',
  path: '/exchanges/transactions',
  operationId: 'listSwaps',
  tags: ['swap'],
  summary: 'List swaps',
  description: 'Every swap that landed on Solana, newest first; also as CSV.',
  middleware: [limitReads] as const,
  request: { query: z.object(pageParams()) },
  responses: {
    200: listResponse(
      component('SwapHistory', { transactions: z.array(HistoryRow), next_cursor: nextCursor }),
      'Landed swaps',
    ),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const HISTORY = 'swaps';
const HistoryKey = z.tuple([z.int()]);
const POLL_SECONDS = 5;
const sol = (atoms: bigint): number => toNumber(atoms, SOL_DECIMALS);

function pageOfSwaps(read: readonly SwapRow[], limit: number) {
  const { rows, next } = pageOf(HISTORY, read, limit, ({ seq }) => [seq ?? 0]);
  const transactions = rows.map((swap) => ({
    signature: swap.signature,
    txId: swap.btcTxid,
    solAmount: sol(swap.amountLamports),
    btcSats: swap.btcSats === null ? null : Number(swap.btcSats),
    blockTime: swap.blockTime,
    status: swap.status,
    detail: swap.detail,
    amountLamports: swap.amountLamports.toString(),
    btcSatoshis: swap.btcSats?.toString() ?? null,
  }));
  return { transactions, next_cursor: next };
}

export const swapRecordRoutes = newRouter<{ readonly swap: SwapRecordDeps }>()
  .openapi(statusRoute, async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const { id } = c.req.valid('param');
    if (!isSignature(id)) throw notFound();
    let isAdmitted = false;
    const swap = await deps.waiting.read(c, {
      key: `swap:${id}`,
      read: async () => {
        // All requests for the swap share the later reads of a waiting request, so these reads do not use a caller's
        // budget.
        if (!isAdmitted) await admitRead(c);
        isAdmitted = true;
        return readSwap(deps, id);
      },
      stateOf: ({ status, detail }) => (status === 'waiting' ? detail : null),
      isNear: ({ status, detail }) => status === 'waiting' && detail === 'settling',
    });
    if (swap.final) c.header('Cache-Control', 'public, max-age=31536000, immutable');
    return c.json(statusOf(swap), 200);
  })
  .openapi(historyRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const below = decodeCursor(HISTORY, HistoryKey, cursor)?.[0];
    const read = await c.var.deps.swap.swaps.landed(limit + 1, below);
    const page = pageOfSwaps(read, limit);
    if (!wantsCsv(c)) return c.json(page, 200);
    return csvList(c, 'swaps', HistoryRow, page.transactions, page.next_cursor);
  });

const statusOf = (swap: SwapRow) => ({
  id: swap.signature,
  status: swap.status,
  amountSol: sol(swap.amountLamports),
  btcSats: swap.btcSats === null ? null : Number(swap.btcSats),
  detail: swap.detail,
  reason: swap.reason,
  amountLamports: swap.amountLamports.toString(),
  expectedSatoshis: swap.expectedSats?.toString() ?? null,
  btcSatoshis: swap.btcSats?.toString() ?? null,
  txId: swap.btcTxid,
  nextPollSeconds: swap.status === 'waiting' ? POLL_SECONDS : null,
});

export type SwapStatusDeps = {
  readonly swaps: Pick<SwapStore, 'bySignature'>;
  readonly custody: Pick<CustodianApi, 'findSwap'>;
  /** How callers reach the operator. */
  readonly contact: string | undefined;
};

const notFound = () => new AppError('NOT_FOUND', 'No swap has this id.');

/**
 * If D1 fails or does not have the row yet, the row is read from the custodian, so a published id is always found.
 * @throws AppError NOT_FOUND; OLDER_THAN_RECORDS for a swap that a lost journal left open
 */
export async function readSwap(deps: SwapStatusDeps, signature: string): Promise<SwapRow> {
  const row = await deps.swaps.bySignature(signature).catch(() => undefined);
  if (row && row.bornAt !== null && !row.final)
    throw refusalError(olderThanRecords(row.bornAt, deps.contact));
  if (row) return row;
  const swap = await deps.custody.findSwap(signature);
  if (!swap) throw notFound();
  return { ...swap, seq: null, blockTime: null, final: false, bornAt: null };
}
