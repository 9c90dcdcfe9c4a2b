import { z } from '@hono/zod-openapi';
import { isSignature } from '../../chain/solana/address.ts';
import { lamports, SOL_DECIMALS, toNumber } from '../../core/amount.ts';
import { AppError, refusalError } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import type { Cache } from '../../http/cached.ts';
import { idempotencyKey, requestFingerprint } from '../../http/idempotency.ts';
import { csvList, decodeCursor, pageOf, wantsCsv } from '../../http/paging.ts';
import { clientKey } from '../../http/rate-limit.ts';
import { newRouter } from '../../http/router.ts';
import type { Waiting } from '../../http/wait.ts';
import { type EstimateDeps, getEstimate } from './get-estimate.ts';
import { getMinimum } from './get-minimum.ts';
import {
  createSwapRoute,
  estimateRoute,
  historyRoute,
  minimumRoute,
  statusRoute,
} from './route-definitions.ts';
import type { SwapRow, SwapStore } from './swap-store.ts';

export type SwapDeps = EstimateDeps &
  SwapStatusDeps & {
    readonly custody: Pick<CustodianApi, 'createSwap' | 'previewSwap'>;
    readonly swaps: SwapStore;
    readonly waiting: Waiting;
    readonly maxCreatesPerClientHour: number;
    /** Origin of absolute links. */
    readonly publicBaseUrl: string;
    /** @throws AppError NOT_CONFIGURED naming the missing variables */
    readonly requireSwaps: () => void;
  };

const HISTORY = 'swaps';
const COLUMNS = [
  'signature',
  'txId',
  'solAmount',
  'btcSats',
  'blockTime',
  'status',
  'detail',
  'amountLamports',
  'btcSatoshis',
];
const HistoryKey = z.tuple([z.int()]);
const POLL_SECONDS = 5;
/** Interval between reads; two polls and a read take less than a second after a change. */
const POLL_MS = 1_000;
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

export const swapRoutes = newRouter<{ readonly swap: SwapDeps }>()
  .openapi(minimumRoute, async (c) => {
    c.var.deps.swap.requireSwaps();
    const minimum = await getMinimum(c.var.deps.swap);
    c.header('Cache-Control', 'public, max-age=3');
    return c.json(
      {
        minAmountSol: sol(minimum.minimum),
        minAmountLamports: minimum.minimum.toString(),
        balanceSol: minimum.balance === null ? null : sol(minimum.balance),
        balanceLamports: minimum.balance?.toString() ?? null,
        maxAmountSol: sol(minimum.maximum),
        maxAmountLamports: minimum.maximum.toString(),
        available: minimum.available,
        reason: minimum.reason,
        nextAvailableAt: minimum.nextAvailableAt,
        as_of: new Date(minimum.asOf).toISOString(),
        stale: minimum.stale,
      },
      200,
    );
  })
  .openapi(estimateRoute, async (c) => {
    c.var.deps.swap.requireSwaps();
    const estimate = await getEstimate(
      c.var.deps.swap,
      lamports(c.req.valid('query').amountSol),
      clientKey(c),
    );
    c.header('Cache-Control', 'public, max-age=15');
    return c.json(
      {
        amountSol: sol(estimate.amount),
        estimatedBtcSats: Number(estimate.estimatedSats),
        amountLamports: estimate.amount.toString(),
        estimatedSatoshis: estimate.estimatedSats.toString(),
        minimumSatoshis: estimate.minimumSats.toString(),
        quotedAmountLamports: estimate.quotedAmount.toString(),
        etaSeconds: estimate.etaSeconds,
        creatable: estimate.reason === null,
        reason: estimate.reason,
        source: estimate.route,
        as_of: new Date(estimate.asOf).toISOString(),
        stale: estimate.stale,
      },
      200,
    );
  })
  .openapi(createSwapRoute, async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const { amountSol: atoms, dry_run: dryRun } = c.req.valid('json');
    const request = { amountLamports: lamports(atoms), client: clientKey(c) };
    if (dryRun) {
      const preview = await deps.custody.previewSwap(request);
      if (preview.type === 'refused') throw refusalError(preview.refusal);
      return c.json(
        {
          initiated: false,
          id: null,
          solanaSignature: null,
          statusUrl: null,
          message: 'Dry run: this swap would pass now. Nothing was reserved or signed.',
          dry_run: true,
          ...created(request.amountLamports, preview),
        },
        200,
      );
    }
    const text = idempotencyKey(c);
    const amount = request.amountLamports;
    const key = text === undefined ? {} : { key: requestFingerprint('swap/create', text, { amount }) };
    const answer = await deps.custody.createSwap({ ...request, ...key });
    if (answer.replayed) c.header('Idempotency-Replayed', 'true');
    if (answer.type === 'refused') throw refusalError(answer.refusal);
    const { swap } = answer;
    return c.json(
      {
        initiated: true,
        id: swap.signature,
        solanaSignature: swap.signature,
        statusUrl: `${deps.publicBaseUrl}/api/swap/status/${swap.signature}`,
        message: 'The swap is on its way. BTC arrives within minutes to hours. Poll statusUrl for its state.',
        ...created(swap.amountLamports, swap),
      },
      200,
    );
  })
  .openapi(statusRoute, async (c) => {
    const deps = c.var.deps.swap;
    deps.requireSwaps();
    const { id } = c.req.valid('param');
    const swap = await deps.waiting.read(c, {
      key: `swap:${id}`,
      pollMs: POLL_MS,
      read: () => getSwapStatus(deps, id),
      stateOf: ({ status, detail }) => (status === 'waiting' ? detail : null),
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
    return csvList(c, 'swaps', COLUMNS, page.transactions, page.next_cursor);
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

/** The common part of the answers to a create and its dry run. */
const created = (
  amount: bigint,
  quote: { readonly expectedSats: bigint; readonly minimumSats: bigint; readonly route: string },
) => ({
  amountSol: sol(amount),
  expectedBtcSats: Number(quote.expectedSats),
  status: 'waiting' as const,
  amountLamports: amount.toString(),
  expectedSatoshis: quote.expectedSats.toString(),
  minimumSatoshis: quote.minimumSats.toString(),
  route: quote.route,
});

export type SwapStatusDeps = {
  /** This isolate's memory. It also caches for two seconds that a signature is unknown. */
  readonly memory: Pick<Cache, 'read'>;
  readonly swaps: Pick<SwapStore, 'bySignature'>;
  readonly custody: Pick<CustodianApi, 'findSwap'>;
};

/** One read per second and swap, regardless of the number of polling callers. */
const ONE_SECOND = { freshMs: 1_000, revalidateMs: 0, staleMs: 0 };

/**
 * The stored state of a swap, at most a second old: a poll costs no upstream call.
 * @throws AppError NOT_FOUND
 */
export async function getSwapStatus(d: SwapStatusDeps, signature: string): Promise<SwapRow> {
  if (!isSignature(signature)) throw notFound();
  return (await d.memory.read(`swap:${signature}`, ONE_SECOND, () => readSwap(d, signature))).value;
}

const notFound = () => new AppError('NOT_FOUND', 'No swap has this id.');

/**
 * A row that D1 does not have yet, or cannot return, is read from the custodian, so a published id is never
 * unknown.
 */
async function readSwap(d: SwapStatusDeps, signature: string): Promise<SwapRow> {
  const row = await d.swaps.bySignature(signature).catch(() => undefined);
  if (row) return row;
  const swap = await d.custody.findSwap(signature);
  if (!swap) throw notFound();
  return { ...swap, seq: null, blockTime: null, final: false };
}
