/**
 * The limits of each kind of operation, and the SOL that each kind must leave in the reserve. Swaps cannot use the
 * operating float, which is kept for token creations, payouts and refunds.
 * @module
 */
import { type Lamports, lamports } from '../core/amount.ts';
import { type LimitName, OPERATION_LIMITS, type OperationLimit } from '../core/operation-limits.ts';
import type { Refusal } from './api.ts';
import { spendingRefusal } from './kernel/begin-operation.ts';
import type { Kind } from './kernel/operation.ts';
import {
  type Balance,
  type Bounds,
  checkIntent,
  checkLimit,
  type Entry,
  type Limit,
} from './kernel/spending-limits.ts';

export type CustodyLimits = Readonly<Record<LimitName, bigint>> & {
  /** Lamports that always stay in the reserve; only the fee of the daily mint may use them. */
  readonly floor: Lamports;
  /** Lamports above the floor that are kept for creations, payouts and refunds. Swaps cannot use them. */
  readonly operatingFloat: Lamports;
};

/** Open payment requests. No operation reserves the cost of their work yet. */
export type OpenSales = {
  readonly count: bigint;
  readonly lamports: bigint;
};

/** The operation that a payment would start, its cost, and the open requests for operations of the same kind. */
export type Sale = { readonly kind: Kind; readonly cost: Lamports; readonly open: OpenSales };

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export class CustodyBounds {
  readonly limits: readonly Limit[];
  readonly #config: CustodyLimits;

  constructor(config: CustodyLimits) {
    this.#config = config;
    this.limits = Object.entries(OPERATION_LIMITS).map(([name, declared]) => {
      const { setting: _setting, default: _default, beyond: _beyond, ...limit }: OperationLimit = declared;
      return { ...limit, name, maximum: config[name as LimitName] };
    });
  }

  of(kind: Kind): Bounds {
    return { limits: this.limits.filter((limit) => limit.kind === kind), keeps: this.#keeps(kind) };
  }

  #keeps(kind: Kind): bigint {
    const { floor, operatingFloat } = this.#config;
    switch (kind) {
      case 'swap':
        return floor + operatingFloat;
      case 'absr':
        // A mint costs only fees. Swaps leave the floor in the reserve for these fees.
        return 0n;
      default:
        return floor;
    }
  }

  /**
   * Why the work of another request cannot be sold now; undefined if it can be sold. After the sale the reserve must
   * still cover the floor and the cost of the open requests. Each limit must have room for these requests. Unpaid
   * requests use at most half of the float and half of each limit, so they cannot block all sales.
   */
  saleRefusal(
    { kind, cost: reserved, open }: Sale,
    balance: Balance,
    operations: readonly Entry[],
    now: number,
  ): Refusal | undefined {
    const { floor, operatingFloat } = this.#config;
    const { limits } = this.of(kind);
    const keeps = floor + smaller(open.lamports, operatingFloat / 2n);
    const amount = lamports(0n);
    const verdict = checkIntent({ bounds: { limits, keeps }, amount, reserved, balance, operations, now });
    if (!verdict.ok) return verdict.code === 'LIMIT_REACHED' ? spendingRefusal(verdict, now) : FLOAT_SPENT;
    const none = { amount, reserved: amount, unsettled: amount, cost: amount };
    const sold: Entry = { kind, state: 'planned', createdAt: now, signedAt: null, ...none };
    for (const limit of limits) {
      const rows = Number(smaller(open.count, limit.maximum / 2n));
      const reached = checkLimit(limit, [...operations, { ...sold, rows }], none, now);
      if (reached) return spendingRefusal({ ...reached, availableAt: now + UNPAID_RETRY_MS }, now);
    }
    return undefined;
  }
}

/**
 * Retry delay while unpaid requests use up the float or a limit. A request expires half an hour after it was opened.
 */
const UNPAID_RETRY_MS = 600_000;

const FLOAT_SPENT: Refusal = {
  code: 'SPENDING_LIMIT_REACHED',
  message: 'The reserve has too little SOL for another token creation. Nothing was charged.',
  retryAfterSeconds: UNPAID_RETRY_MS / 1_000,
  details: { limit: 'operating_float' },
};
