/**
 * Limits of swaps. Spending: one swap, an hour, a day, the amount in transit, and the cost of a day. Calls:
 * creates and keys of a client and its networks, and bridge quotes of all clients.
 * @module
 */
import type { Lamports } from '../../core/amount.ts';
import { CALL_LIMITS, QUOTE_WINDOW_MS } from '../../core/call-limits.ts';
import { fairShare, networksOf } from '../../core/client-network.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import type { Refusal, SwapRequest } from '../api.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Operation } from '../kernel/operation.ts';
import type { Storage } from '../kernel/ports.ts';
import type { Budget, Cap } from '../kernel/spending-limits.ts';

/** From the configuration; lamports unless said otherwise. */
export type SwapLimits = {
  readonly maxOperation: Lamports;
  readonly maxHour: Lamports;
  readonly maxDay: Lamports;
  readonly maxUnsettled: Lamports;
  readonly maxCostDay: Lamports;
  /** Worst-case cost of one swap against the independent price, in basis points of its amount. */
  readonly maxCostBps: number;
};

/** The cap that is checked again immediately before the signature, when the quote's cost is known. */
export const COST_DAY = 'cost_day';

/** @param keeps lamports that swaps must leave in the reserve */
export function swapBudget(limits: SwapLimits, keeps: () => bigint): Budget {
  const moved = (name: string, windowMs: number, maximum: bigint): Cap => ({
    name,
    unit: 'lamports',
    windowMs,
    maximum,
    of: ({ amount }) => amount,
    adds: ({ amount }) => amount,
  });
  return {
    kind: 'swap',
    maxAmount: limits.maxOperation,
    keeps,
    caps: [
      moved('hour', HOUR_MS, limits.maxHour),
      moved('day', DAY_MS, limits.maxDay),
      {
        name: 'unsettled',
        unit: 'lamports',
        windowMs: null,
        maximum: limits.maxUnsettled,
        // A planned swap becomes unsettled when it is signed. Counting it now leaves no gap between the two.
        of: ({ state, amount, unsettled }) => (state === 'planned' ? amount : unsettled),
        adds: ({ amount }) => amount,
      },
      {
        name: COST_DAY,
        unit: 'lamports',
        windowMs: DAY_MS,
        maximum: limits.maxCostDay,
        of: ({ cost }) => cost,
        adds: ({ cost }) => cost,
      },
    ],
  };
}

/** Bridge quotes per window, for creates and for dry runs; reads have their own budget. */
const QUOTES_PER_WINDOW = CALL_LIMITS.create_quotes.quota;
const PREVIEWS_PER_WINDOW = CALL_LIMITS.dry_run_quotes.quota;
const KEYS_PER_CLIENT_HOUR = CALL_LIMITS.keys_per_client_hour.quota;
/** Counts the calls of all clients together. */
export const ALL = '*';

/** Reasons that would apply to any smaller amount as well. */
export const isTooSmall = (reason: string | null): boolean =>
  reason === 'amount_too_low' || reason === 'amount_below_cost';

export function createCallQuotas(p: {
  readonly journal: Pick<Journal, 'calls' | 'recordCall' | 'forgetCall'>;
  readonly storage: Pick<Storage, 'transaction'>;
  readonly maxCreatesPerClientHour: number;
  readonly now: () => number;
}) {
  const { journal, now } = p;

  /** The refusal of a full window; it names the time when its oldest call leaves it. */
  function quotaRefusal(
    purpose: string,
    client: string,
    windowMs: number,
    maximum: number,
  ): number | undefined {
    const calls = journal.calls(purpose, client, now() - windowMs);
    if (calls.length < maximum) return undefined;
    const freeAt = (calls[calls.length - maximum] ?? now()) + windowMs;
    return Math.max(Math.ceil((freeAt - now()) / 1_000), 1);
  }

  function clientRefusal(request: SwapRequest): Refusal | undefined {
    const creates = networksOf(request.client)
      .map(({ network, times }) =>
        quotaRefusal('create', network, HOUR_MS, times * p.maxCreatesPerClientHour),
      )
      .find((seconds) => seconds !== undefined);
    const keys = request.key && quotaRefusal('key', request.client, HOUR_MS, KEYS_PER_CLIENT_HOUR);
    const retryAfterSeconds = creates ?? keys;
    if (retryAfterSeconds === undefined) return undefined;
    const limit = creates === undefined ? 'keys_per_client_hour' : 'creates_per_client_hour';
    const message = 'Too many swap requests from this address. Wait and try again.';
    return { code: 'RATE_LIMITED', message, retryAfterSeconds, details: { limit } };
  }

  const budgetRefusal = (): Refusal | undefined =>
    spentRefusal('create_quotes', quotaRefusal('quote', ALL, QUOTE_WINDOW_MS, QUOTES_PER_WINDOW));

  /** Checks the budget of dry runs. One client and its networks get only a fair share. */
  function previewRefusal(client: string): Refusal | undefined {
    const used = journal.calls('preview', ALL, now() - QUOTE_WINDOW_MS).length;
    const waits = networksOf(client).map(({ network, times }) => {
      const own = journal.calls('preview', network, now() - QUOTE_WINDOW_MS).length;
      const share = times * fairShare(PREVIEWS_PER_WINDOW, used, own);
      return quotaRefusal('preview', network, QUOTE_WINDOW_MS, share);
    });
    const all = quotaRefusal('preview', ALL, QUOTE_WINDOW_MS, PREVIEWS_PER_WINDOW);
    return spentRefusal(
      'dry_run_quotes',
      [all, ...waits].find((seconds) => seconds !== undefined),
    );
  }

  /**
   * Gives back the quota of a create that failed through no fault of the caller, up to the number of creates allowed.
   */
  function giveBack(client: string, { state, reason }: Operation): void {
    if (state !== 'failed' || isTooSmall(reason) || reason === 'limit_cost_day') return;
    if (journal.calls('returned', client, now() - HOUR_MS).length >= p.maxCreatesPerClientHour) return;
    p.storage.transaction(() => {
      for (const { network } of networksOf(client)) journal.forgetCall('create', network);
      journal.recordCall('returned', client, now());
    });
  }

  return { clientRefusal, budgetRefusal, previewRefusal, giveBack };
}

const spentRefusal = (
  limit: keyof typeof CALL_LIMITS,
  retryAfterSeconds: number | undefined,
): Refusal | undefined =>
  retryAfterSeconds === undefined
    ? undefined
    : {
        code: 'QUOTE_BUDGET_SPENT',
        message: 'The quota of bridge quotes is used up.',
        retryAfterSeconds,
        details: { limit },
      };
