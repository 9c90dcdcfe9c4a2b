/**
 * The limits of each kind of operation. Every kind leaves the floor in the reserve. The operating float is
 * for work that has been sold; swaps may use the rest.
 * @module
 */
import { type Lamports, lamports } from '../core/amount.ts';
import { DAY_MS } from '../core/durations.ts';
import { failureReason } from '../core/errors.ts';
import type { OpenRequest, Refusal } from './api.ts';
import { spendingRefusal, upstreamRefusal } from './kernel/begin-operation.ts';
import type { Journal } from './kernel/journal.ts';
import type { Kind } from './kernel/operation.ts';
import type { BalanceReader } from './kernel/solana-view.ts';
import { type Budget, type Cap, checkIntent, type Sold } from './kernel/spending-limits.ts';
import { type SwapLimits, swapBudget } from './swap/limits.ts';

/** The custodian's spending limits, from the configuration. Lamports unless said otherwise. */
export type CustodyLimits = SwapLimits & {
  /** Always stays in the reserve; only the fee of the daily mint may use it. */
  readonly floor: Lamports;
  /** Stays in the reserve above the floor for sold work: creations, payouts, refunds. Swaps cannot use it. */
  readonly operatingFloat: Lamports;
  /** Maximum refunds per day, in lamports. */
  readonly maxRefundsDay: Lamports;
  /** Maximum number of token creations begun per day. */
  readonly maxCreationsDay: bigint;
  /** Maximum number of reward payouts begun per day. */
  readonly maxPayoutsDay: bigint;
};

const perDay = (name: string, maximum: bigint): Cap => ({
  name,
  unit: 'count',
  windowMs: DAY_MS,
  maximum,
  of: ({ state, rows = 1 }) => (state === 'failed' ? 0n : BigInt(rows)),
  adds: () => 1n,
});

export const NOTHING_SOLD: Sold = { paid: 0n, paidCount: 0n, open: 0n, openCount: 0n };

export type Budgets = ReturnType<typeof createBudgets>;

export function createBudgets(limits: CustodyLimits, sold: () => Sold) {
  const { floor, operatingFloat } = limits;
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
  const creations: readonly Cap[] = [
    { ...perDay('creations_day', limits.maxCreationsDay), countsWaiting: true },
  ];
  const budgets: readonly Budget[] = [
    swapBudget(limits, () => floor + larger(operatingFloat, sold().paid)),
    { kind: 'token', keeps: () => floor, caps: creations },
    {
      kind: 'refund',
      keeps: () => floor,
      caps: [
        {
          name: 'refunds_day',
          unit: 'lamports',
          windowMs: DAY_MS,
          maximum: limits.maxRefundsDay,
          of: ({ amount }) => amount,
          adds: ({ amount }) => amount,
        },
      ],
    },
    {
      kind: 'asry',
      keeps: () => floor + sold().paid,
      caps: [perDay('payouts_day', limits.maxPayoutsDay)],
    },
    // Swaps leave the floor in the reserve for fees. A mint costs only fees, so it may use the floor.
    { kind: 'absr', keeps: () => 0n, caps: [] },
  ];
  const byKind = new Map(budgets.map((budget) => [budget.kind, budget]));

  return {
    all: budgets,

    of: (kind: Kind): Budget => byKind.get(kind) ?? { kind, keeps: () => floor, caps: [] },

    /**
     * The budget of a new sale. It must leave the floor and the cost of earlier sales in the reserve, and counts
     * after the earlier sales in each cap on creations. Unpaid requests count up to half of the float and half of
     * each cap, so they cannot block all sales.
     */
    ofSale(): Budget {
      const { paid, paidCount, open, openCount } = sold();
      const earlier = (cap: Cap): bigint => paidCount + smaller(openCount, cap.maximum / 2n);
      return {
        kind: 'token',
        keeps: () => floor + paid + smaller(open, operatingFloat / 2n),
        caps: creations.map((cap) => ({ ...cap, adds: () => 1n + earlier(cap) })),
      };
    },
  };
}

/** Open requests expire after half an hour. */
const UNPAID_RETRY_SECONDS = 600;

const FLOAT_SPENT: Refusal = {
  code: 'SPENDING_LIMIT_REACHED',
  message: 'The reserve has too little SOL for another token creation. Nothing was charged.',
  retryAfterSeconds: UNPAID_RETRY_SECONDS,
  details: { limit: 'operating_float' },
};

/** Reason why a creation cannot be sold now, or undefined. A listing costs the reserve nothing. */
export const createSaleCheck =
  (p: {
    readonly budgets: Budgets;
    readonly journal: Pick<Journal, 'counting' | 'releasedSlot'>;
    readonly readBalance: BalanceReader;
    /** Undefined if payments are not configured. */
    readonly creationCost: ((subject: OpenRequest['subject']) => bigint) | undefined;
    readonly now: () => number;
  }) =>
  async ({ kind, subject }: OpenRequest): Promise<Refusal | undefined> => {
    const { budgets, journal, now } = p;
    if (!p.creationCost || kind !== 'token') return undefined;
    const reserved = lamports(p.creationCost(subject));
    try {
      const balance = await p.readBalance(journal.releasedSlot());
      const verdict = checkIntent({
        budget: budgets.ofSale(),
        amount: lamports(0n),
        reserved,
        balance,
        operations: journal.counting(now()),
        now: now(),
      });
      if (verdict.ok) return undefined;
      if (verdict.code === 'INSUFFICIENT_BALANCE') return FLOAT_SPENT;
      const refusal = spendingRefusal(verdict, now());
      const isSold = verdict.code === 'LIMIT_REACHED' && verdict.used < verdict.maximum;
      return isSold ? { ...refusal, retryAfterSeconds: UNPAID_RETRY_SECONDS } : refusal;
    } catch (error) {
      return upstreamRefusal(`upstream_${failureReason(error)}`);
    }
  };
