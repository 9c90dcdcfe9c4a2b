/**
 * Limits on calls, by the names that a refusal's `details.limit` shows.
 * @module
 */
import type { BudgetTerms } from './budget.ts';
import { HOUR_MS, REQUEST_LIFE_MS } from './durations.ts';

/** The platform's rate limit for one client network and one group of routes; equals LIMITER in wrangler.toml. */
export const REQUESTS_PER_MINUTE = 600;

/** Totals for all callers together, and what a client's share is computed from; see {@link BudgetTerms}. */
export const BUDGETS = {
  /** Exchanges opened at the exchange provider, in one isolate. */
  exchanges_per_hour: { total: 800, windowMs: HOUR_MS },
  /** Calls that the callers of one isolate cause at one upstream that is not a node. */
  upstream_calls: { total: 4_800, windowMs: 60_000 },
  /** Requests that can still be paid: for `windowMs`, or until they are paid. Beyond `fair`, a client may have two. */
  open_requests: { total: 2_000, fair: 500, most: 10, windowMs: REQUEST_LIFE_MS + 10 * 60_000 },
  /** Different signatures that callers wait for at the same time. Beyond `fair`, a client may wait for two. */
  signature_lookups: { total: 1_024, fair: 256 },
  /**
   * Concurrent waits, even for the same signature, because each holds a call and a timer. Beyond `fair`, a client may
   * have two.
   */
  lookup_waits: { total: 4_096, fair: 2_048 },
} as const satisfies Record<string, BudgetTerms>;

/** All callers together can use this part of a node's rate. The rest is for the service's own work. */
const CALLERS_PART = 1 / 4;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * The calls that all callers together may cause at one of the custodian's nodes. A third is kept for polling signatures
 * and searching for payments. Strangers can lengthen both, and both serve several clients at once.
 * @param rate requests that the node serves per second
 */
export function nodeCalls(rate: number): BudgetTerms {
  const perSecond = Math.max(rate, 1) * CALLERS_PART;
  const total = Math.max(Math.floor(perSecond), 2);
  return {
    total,
    kept: Math.max(Math.floor(total / 3), 1),
    windowMs: Math.max(SECOND_MS, Math.ceil((total / perSecond) * SECOND_MS)),
  };
}

/** The API's nodes: for the figures that it shows, and for its checks before it opens an invoice or a listing. */
export const READ_NODE = 'solana-read';
export const SALE_NODE = 'solana-sale';

/**
 * The calls that the callers of one isolate of the API may cause at each upstream, by its name. Checks before a sale
 * have their own calls, which other reads cannot use up. Their shares last a minute, so that even with clients of many
 * networks, each new client has two calls.
 * @param rate requests that a node serves per second
 */
export function upstreamCalls(rate: number): (name: string) => BudgetTerms {
  const { kept: _kept, ...reads } = nodeCalls(rate);
  const total = Math.ceil((reads.total * MINUTE_MS) / (reads.windowMs ?? SECOND_MS));
  const sales = { total, fair: Math.ceil(total / 4), windowMs: MINUTE_MS };
  const known: Readonly<Record<string, BudgetTerms>> = { [READ_NODE]: reads, [SALE_NODE]: sales };
  return (name) => known[name.replace(/-\d+$/, '')] ?? BUDGETS.upstream_calls;
}

/** The window in which the bridge counts our quotes. */
const QUOTE_WINDOW_MS = 2 * HOUR_MS;

export type QuoteBudgets = Readonly<Record<'create_quotes' | 'estimate_quotes', BudgetTerms>>;

/**
 * How long a client's estimates count against its share. A client that has used up its share then need not wait for the
 * whole window.
 */
const ESTIMATE_SHARE_MS = HOUR_MS / 4;

/** Quotes for create calls, and for estimates together with reads of the smallest swap. @param total quotes in two hours */
export function quoteBudgets(total: number): QuoteBudgets {
  const creates = Math.floor(total / 3);
  return {
    create_quotes: { total: creates, windowMs: QUOTE_WINDOW_MS },
    estimate_quotes: { total: total - creates, windowMs: QUOTE_WINDOW_MS, shareMs: ESTIMATE_SHARE_MS },
  };
}
