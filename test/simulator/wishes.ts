/**
 * The actions of callers, customers and attackers, with their times. Plain data, drawn before the run.
 * @module
 */
import type { Random } from './random.ts';

export type SwapWish = {
  readonly at: number;
  readonly amount: bigint;
  /** Requests the maximum that the service offers, instead of the amount. */
  readonly most: boolean;
  readonly key: string | null;
  readonly client: string;
  /** Milliseconds after the first call at which it is repeated. */
  readonly repeats: readonly number[];
  /** Attempts of the client while it gets no response. */
  readonly patience: number;
};

/** How a customer pays for a request: shares of the fee in percent, each in a transaction of its own. */
export type Order = {
  readonly at: number;
  readonly kind: 'token' | 'listing';
  readonly payments: readonly {
    readonly after: number;
    readonly percent: number;
    readonly hasReference: boolean;
    /** False for a transaction version that nodes do not show. */
    readonly readable: boolean;
    readonly by?: PaidBy;
  }[];
  /** Milliseconds after the payments at which the customer confirms; empty if the search must find them. */
  readonly confirms: readonly number[];
};

/**
 * A payer besides the customer. A sponsor pays the fee. A vault makes the payment without signing it, while the
 * customer signs and pays the fee and the rent of another account. Absent: no other payer.
 */
export type PaidBy = 'sponsor' | 'vault';

export type Deposit = {
  readonly at: number;
  readonly asset: 'USDC' | 'USDT';
  readonly atoms: bigint;
  /** The sender's account for rewards exists. */
  readonly hasAccount: boolean;
  readonly claims: readonly {
    readonly after: number;
    /** Requested millionths of a dollar; null for the whole reward. */
    readonly microUsd: bigint | null;
    readonly key: string | null;
    readonly skipReward: boolean;
  }[];
};

export type Attack =
  /** Small payments to the treasury, as many as `count`. */
  | { readonly type: 'dust'; readonly at: number; readonly count: number; readonly readable: boolean }
  /** A payment with the reference of a customer's request. */
  | { readonly type: 'reference'; readonly at: number; readonly order: number; readonly readable: boolean }
  /** Requests that are never paid. */
  | { readonly type: 'requests'; readonly at: number; readonly count: number }
  /** A small payment to the reserve with the memo of one of the reserve's own transactions. */
  | { readonly type: 'memo'; readonly at: number }
  /** Lamports to the address of a mint before its creation. */
  | { readonly type: 'fund_mint'; readonly at: number; readonly order: number }
  /** The recipient of rewards moves them to another account and closes the first one. */
  | { readonly type: 'close'; readonly at: number; readonly deposit: number }
  /** An invented payment, deposit or refund, shown by a lying node. */
  | { readonly type: 'forge'; readonly at: number; readonly what: 'payment' | 'overpayment' | 'deposit' }
  /** A payment for one request is used for another request, and for a claim. */
  | { readonly type: 'reuse'; readonly at: number; readonly order: number };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Lamports between two amounts of SOL, in steps of a thousand. */
const solBetween = (r: Random, low: number, high: number): bigint =>
  BigInt(r.between(Math.round(low * 1e6), Math.round(high * 1e6))) * 1_000n;

export type Crowd = 'few' | 'burst' | 'pair' | 'alike' | 'greedy' | 'steady';

/**
 * A burst is concurrent, and the second of a pair follows shortly. `alike` request nearly the same amount,
 * `greedy` request the maximum, and `steady` request large swaps, each once the previous one has arrived.
 */
export function planSwaps(r: Random, crowd: Crowd, spread: number): SwapWish[] {
  const few = r.pick([0, 1, 1, 2, 3]);
  const count = { burst: r.between(3, 8), pair: 2, alike: 3, greedy: 4, steady: 9, few }[crowd];
  const start = r.between(0, spread / 2);
  const isBig = crowd !== 'pair' && r.chance(0.6);
  const alike = solBetween(r, 0.1, 0.3);
  const when = (index: number): number => {
    if (crowd === 'burst') return start + r.between(0, r.pick([0, 5, 2_000]));
    if (crowd === 'steady') return 1_000 + (index * spread) / 9;
    if (crowd === 'pair' || crowd === 'greedy') return start + index * r.between(2_000, 15_000);
    return crowd === 'alike' ? start + r.between(0, 5_000) : r.between(0, spread);
  };
  return Array.from({ length: count }, (_none, index) => {
    const [low, high] = crowd === 'steady' ? [0.8, 1] : isBig ? [0.5, 2.05] : [0.01, 0.6];
    const sum = crowd === 'alike' ? alike : solBetween(r, low, high);
    const keyed = r.chance(0.7);
    // A repeat after up to two hours is rare, because no other event happens meanwhile and the journal is polled
    // constantly.
    const longest = r.chance(0.05) ? 2 * HOUR : 2 * MINUTE;
    const delay = () => r.pick([0, r.between(1, 300), r.between(300, 20_000), r.between(20_000, longest)]);
    return {
      at: when(index),
      // The last digits make every amount unique, so that the chain identifies its wish.
      amount: sum + BigInt(index + 1),
      most: crowd === 'greedy',
      key: keyed ? `key-${index}` : null,
      client: crowd === 'steady' ? `ip-${index}` : r.pick(['ip-1', 'ip-2', 'ip-3']),
      repeats: keyed && r.chance(0.5) ? Array.from({ length: r.between(1, 3) }, delay) : [],
      patience: keyed ? r.between(0, 3) : 0,
    };
  });
}

export function planOrders(r: Random, spread: number): Order[] {
  const count = r.pick([0, 0, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => {
    const shares = r.pick([[100], [100], [100], [100], [40, 60], [100, 100], [150], [30], []]);
    const late = r.chance(0.05) ? 45 * MINUTE : 0;
    return {
      at: r.between(0, spread),
      kind: r.chance(0.75) ? ('token' as const) : ('listing' as const),
      payments: shares.map((percent, index) => ({
        after: late + r.between(200, 20_000) + index * r.between(0, 20_000),
        percent,
        hasReference: percent !== 100 || r.chance(0.7),
        readable: !r.chance(0.03),
      })),
      confirms: r.chance(0.5) ? [r.between(0, 10_000), r.between(5_000, 60_000)] : [],
    };
  });
}

/** Some customers of a seed pay from a wallet with a sponsor, or from a vault. */
export const withPayers = (r: Random, orders: readonly Order[]): Order[] =>
  orders.map((order) => ({
    ...order,
    payments: order.payments.map((payment) => {
      const by = r.pick(['customer', 'sponsor', 'vault'] as const);
      return by === 'customer' ? payment : { ...payment, by };
    }),
  }));

export function planDeposits(r: Random, spread: number): Deposit[] {
  const count = r.pick([0, 0, 1, 1, 2, 3]);
  return Array.from({ length: count }, (_none, index) => {
    const calls = r.between(1, 4);
    return {
      at: r.between(0, spread),
      asset: r.pick(['USDC', 'USDT'] as const),
      atoms: BigInt(r.pick([1_000_000, 5_000_000, 25_000_000, 1_000_000_000, 999_999])),
      hasAccount: r.chance(0.5),
      claims: Array.from({ length: calls }, (_one, call) => ({
        after: call * r.between(0, 20_000) + r.between(500, 20_000),
        microUsd: r.chance(0.5) ? BigInt(r.between(1_000, 5_000_000)) : null,
        key: r.chance(0.5) ? `claim-${index}-${r.pick([call, 0])}` : null,
        skipReward: r.chance(0.1),
      })),
    };
  });
}

export function planAttacks(
  r: Random,
  spread: number,
  orders: readonly Order[],
  deposits: readonly Deposit[],
): Attack[] {
  const list: Attack[] = [];
  const at = () => r.between(0, spread);
  /** A time at which a customer's payment may be on its way. */
  const near = (order: number): number => (orders[order]?.at ?? 0) + r.between(500, 25_000);
  const order = orders.length === 0 ? 0 : r.between(0, orders.length - 1);
  if (r.chance(0.25))
    list.push({
      type: 'dust',
      at: r.chance(0.6) ? near(order) : at(),
      count: r.pick([3, 10, 30, 80]),
      readable: !r.chance(0.1),
    });
  if (r.chance(0.15)) list.push({ type: 'memo', at: at() });
  if (r.chance(0.1)) list.push({ type: 'requests', at: at(), count: r.pick([3, 12]) });
  if (r.chance(0.2))
    list.push({ type: 'forge', at: at(), what: r.pick(['payment', 'overpayment', 'deposit'] as const) });
  if (orders.length > 0) {
    if (r.chance(0.15)) list.push({ type: 'reference', at: near(order), order, readable: !r.chance(0.3) });
    if (r.chance(0.05)) list.push({ type: 'fund_mint', at: near(order), order });
    if (r.chance(0.15)) list.push({ type: 'reuse', at: near(order) + 20_000, order });
  }
  for (const [deposit, { hasAccount }] of deposits.entries()) {
    if (hasAccount || !r.chance(0.5)) continue;
    for (let time = 0; time < 4; time++)
      list.push({ type: 'close', at: at() + 10_000 + time * 15_000, deposit });
  }
  return list;
}
