/** The HTTP routes of swaps over a custodian and a D1 whose results a test sets. */
import { base58 } from '@scure/base';
import type { Deps } from '../../src/app.ts';
import { lamports } from '../../src/core/amount.ts';
import { AppError } from '../../src/core/errors.ts';
import type {
  EstimateRequest,
  SwapAnswer,
  SwapEstimate,
  SwapRequest,
  SwapRoom,
  SwapView,
} from '../../src/custody/api.ts';
import { createSwapRoutes } from '../../src/features/swap/create-route.ts';
import { swapQuoteRoutes } from '../../src/features/swap/quote-routes.ts';
import { swapRecordRoutes } from '../../src/features/swap/record-routes.ts';
import type { SwapRow } from '../../src/features/swap/swap-store.ts';
import { Cache } from '../../src/http/cached.ts';
import { newWaiting } from '../http/waiting.ts';
import { routerOver } from '../kit/router.ts';

export const SOL = 1_000_000_000n;
export const SIGNATURE = base58.encode(new Uint8Array(64).fill(7));
export const view: SwapView = {
  ...{ signature: SIGNATURE, status: 'waiting', detail: 'sent', reason: null, route: 'near-intents' },
  ...{ amountLamports: SOL / 2n, expectedSats: 62_187n, minimumSats: 61_875n, btcSats: null, btcTxid: null },
};
export const row: SwapRow = {
  ...{
    ...{ seq: 7, signature: SIGNATURE, status: 'finished', detail: 'done', reason: null, final: true },
    bornAt: null,
  },
  ...{ amountLamports: 2_010_000_000n, expectedSats: 250_000n, btcSats: 249_999n },
  ...{ btcTxid: 't'.repeat(64), blockTime: 1_790_000_000 },
};

/** The results of the custodian and D1, and the calls that they received. */
export type Service = {
  asked: SwapRequest[];
  estimated: EstimateRequest[];
  answer: SwapAnswer;
  estimate: SwapEstimate;
  room: () => Promise<SwapRoom>;
  /** The rows of D1. */
  rows: () => readonly SwapRow[];
  /** What the custodian finds, and how often it was asked. */
  known: SwapView | null;
  finds: number;
  configured: boolean;
};

export const openRoom: SwapRoom = {
  balanceLamports: 10n * SOL,
  maximumLamports: 2n * SOL,
  refusal: null,
  minimum: {
    type: 'known',
    minimum: { lamports: lamports(250_000_000n), source: 'cost', at: 1_789_999_990_000 },
    refusal: null,
  },
};

export const newService = (): Service => ({
  asked: [],
  estimated: [],
  answer: { type: 'created', replayed: false, swap: view },
  estimate: {
    ...{
      ...{ type: 'quoted', expectedSats: 62_187n, minimumSats: 61_875n, etaSeconds: 465 },
      route: 'near-intents',
    },
    ...{ refusal: null, minimum: null, asOfMs: 1_790_000_000_000, stale: false },
  },
  room: async () => openRoom,
  rows: () => [row],
  ...{ known: null, finds: 0 },
  configured: true,
});

function depsOf(service: Service): Deps['swap'] {
  return {
    cache: new Cache({ now: () => 1_790_000_000_000, defer: () => undefined }),
    waiting: newWaiting(),
    contact: undefined,
    custody: {
      swapRoom: () => service.room(),
      async findSwap() {
        service.finds++;
        return service.known;
      },
      async createSwap(request) {
        service.asked.push(request);
        return service.answer;
      },
      async estimateSwap(request) {
        service.estimated.push(request);
        return service.estimate;
      },
    },
    swaps: {
      bySignature: async (signature) => service.rows().find((one) => one.signature === signature),
      landed: async (limit) => service.rows().slice(0, limit),
    },
    publicBaseUrl: 'https://sluice.test',
    requireSwaps() {
      const details = { variables: ['SOLANA_PRIVATE_KEY'] };
      if (!service.configured) throw new AppError('NOT_CONFIGURED', 'not configured', { details });
    },
  };
}

/** The routes of swaps over such a service. */
export function swapApp(service: () => Service) {
  return routerOver(
    () => ({ swap: depsOf(service()) }),
    (app) =>
      app.route('/api', swapQuoteRoutes).route('/api', createSwapRoutes).route('/api', swapRecordRoutes),
  );
}
