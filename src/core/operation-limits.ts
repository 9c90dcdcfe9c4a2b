/**
 * Every limit on the operations that the custodian signs, declared once. Configuration, enforcement, refusals, status,
 * site, documentation and the simulator's invariants derive from this list.
 * @module
 */
import { DAY_MS, HOUR_MS } from './durations.ts';

/**
 * What an operation of each kind can add to a limit. `amount`: lamports that it moves. `unsettled`: lamports sent for
 * something that has not arrived. `cost`: its worst-case loss. `operations`: one. A limit on any other figure would
 * never be reached, so it does not compile.
 */
export const COUNTED = {
  swap: ['amount', 'unsettled', 'cost', 'operations'],
  token: ['operations'],
  refund: ['amount', 'operations'],
  asry: ['amount', 'cost', 'operations'],
  absr: ['operations'],
} as const;

type LimitedKind = keyof typeof COUNTED;

type LimitOn<K extends LimitedKind> = {
  readonly kind: K;
  readonly counts: (typeof COUNTED)[K][number];
  /** The configuration variable that sets the limit. If absent, `DAILY_LIMITS` sets the limit by its name. */
  readonly setting?: string;
  /** Default in the operator's notation: SOL, or a number of operations. */
  readonly default: string;
  readonly unit: 'lamports' | 'count';
  /**
   * The window, counted from when each operation was signed. 0: each operation alone; null: open operations of any age.
   */
  readonly windowMs: number | null;
  /**
   * Present if more operations may be queued than the limit allows. Queued operations of any age then count, because
   * all of them are still to be signed.
   */
  readonly countsQueued?: true;
  /** The bounded quantity in words. */
  readonly label: string;
  /** For the documentation: the response to a caller, or the waiting work, while the limit is used up. */
  readonly beyond: string;
};

export type OperationLimit = { [K in LimitedKind]: LimitOn<K> }[LimitedKind];

/** All limits, by the names that `details.limit` and the status show. */
export const OPERATION_LIMITS = {
  operation: {
    kind: 'swap',
    setting: 'SWAP_MAX_SOL',
    default: '2',
    unit: 'lamports',
    counts: 'amount',
    windowMs: 0,
    label: 'SOL in one swap',
    beyond: '400 `AMOUNT_TOO_LARGE`',
  },
  hour: {
    kind: 'swap',
    setting: 'SWAP_MAX_SOL_HOUR',
    default: '4',
    unit: 'lamports',
    counts: 'amount',
    windowMs: HOUR_MS,
    label: 'SOL swapped in an hour',
    beyond: '503 `SWAP_LIMIT_REACHED`',
  },
  day: {
    kind: 'swap',
    setting: 'SWAP_MAX_SOL_DAY',
    default: '10',
    unit: 'lamports',
    counts: 'amount',
    windowMs: DAY_MS,
    label: 'SOL swapped in a day',
    beyond: '503 `SWAP_LIMIT_REACHED`',
  },
  unsettled: {
    kind: 'swap',
    setting: 'SWAP_MAX_UNSETTLED_SOL',
    default: '4',
    unit: 'lamports',
    counts: 'unsettled',
    windowMs: null,
    label: 'SOL sent whose BTC has not arrived',
    beyond: '503 `SWAP_LIMIT_REACHED`',
  },
  cost_day: {
    kind: 'swap',
    setting: 'SWAP_MAX_COST_SOL_DAY',
    default: '0.1',
    unit: 'lamports',
    counts: 'cost',
    windowMs: DAY_MS,
    label: 'worst-case cost of swaps in a day',
    beyond: '503 `SWAP_LIMIT_REACHED`',
  },
  creations_day: {
    kind: 'token',
    default: '500',
    unit: 'count',
    counts: 'operations',
    windowMs: DAY_MS,
    countsQueued: true,
    label: 'token creations in a day',
    beyond: '503 `SPENDING_LIMIT_REACHED`; paid creations wait',
  },
  refunds_day: {
    kind: 'refund',
    default: '0.5',
    unit: 'lamports',
    counts: 'amount',
    windowMs: DAY_MS,
    label: 'SOL refunded in a day',
    beyond: '`ops refund` names it and does not pay',
  },
  payouts_day: {
    kind: 'asry',
    default: '2000',
    unit: 'count',
    counts: 'operations',
    windowMs: DAY_MS,
    label: 'reward payouts in a day',
    beyond: 'the reward is owed (`daily_limit`)',
  },
  rent_day: {
    kind: 'asry',
    default: '0.05',
    unit: 'lamports',
    counts: 'amount',
    windowMs: DAY_MS,
    label: "SOL spent in a day on recipients' token accounts",
    beyond: 'the reward is owed (`rent_budget_spent`)',
  },
  failed_payouts_day: {
    kind: 'asry',
    default: '0.01',
    unit: 'lamports',
    counts: 'cost',
    windowMs: DAY_MS,
    label: 'SOL spent in a day on fees of failed payouts',
    beyond: 'the reward is owed (`daily_limit`)',
  },
} as const satisfies Record<string, OperationLimit>;

export type LimitName = keyof typeof OPERATION_LIMITS;
