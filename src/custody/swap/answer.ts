/**
 * The public answers about a swap's row. The answer to a create is a function of the row alone, so a repeated
 * call gets the same answer for as long as the row exists.
 * @module
 */
import { withoutQuoteRefusal } from '../../bridges/route.ts';
import type { Refusal, SwapAnswer, SwapView } from '../api.ts';
import { signingStopped, spendingRefusal, upstreamRefusal } from '../kernel/begin-operation.ts';
import { type Facts, mirrorStatus, type Operation } from '../kernel/operation.ts';
import { type SpendingVerdict, solText } from '../kernel/spending-limits.ts';
import { COST_DAY } from './limits.ts';

const atoms = (facts: Facts, name: string): bigint => BigInt(String(facts[name] ?? 0));
const text = (facts: Facts, name: string): string | null => {
  const value = facts[name];
  return typeof value === 'string' ? value : null;
};

/** Null before it is signed, because it has no id until then. */
export function swapView(op: Operation): SwapView | null {
  if (!op.signing) return null;
  const sats = text(op.outcome, 'btcSats');
  return {
    signature: op.signing.signature,
    status: mirrorStatus(op),
    detail: op.detail,
    reason: op.reason,
    amountLamports: BigInt(text(op.plan, 'askedLamports') ?? op.amount),
    expectedSats: atoms(op.plan, 'expectedSats'),
    minimumSats: atoms(op.plan, 'minimumSats'),
    btcSats: sats === null ? null : BigInt(sats),
    btcTxid: text(op.outcome, 'btcTxid'),
    route: text(op.plan, 'route') ?? '',
  };
}

/** The answer to the create call that made this row; undefined while the outcome is open. */
export function createAnswer(op: Operation, replayed: boolean): SwapAnswer | undefined {
  const swap = swapView(op);
  // The swap as it was at creation, regardless of later changes.
  if (swap)
    return { type: 'created', replayed, swap: { ...swap, status: 'waiting', detail: 'sent', reason: null } };
  return op.state === 'failed' ? { type: 'refused', replayed, refusal: refusalOfRow(op) } : undefined;
}

const REACHED = 'limit_';

function refusalOfRow({ reason, outcome, createdAt }: Operation): Refusal {
  if (!reason?.startsWith(REACHED)) return refusalOf(reason ?? 'unknown');
  return reachedRefusal(reason.slice(REACHED.length), Number(outcome.availableAt), createdAt);
}

/** The refusal when a limit is exhausted at the signature. `availableAt` in Unix milliseconds. */
const reachedRefusal = (limit: string, availableAt: number, now: number): Refusal => ({
  code: 'SWAP_LIMIT_REACHED',
  message:
    limit === COST_DAY
      ? 'The cost of this amount would exceed the daily limit on costs.'
      : 'This amount would exceed a limit on swaps.',
  retryAfterSeconds: Math.max(Math.ceil((availableAt - now) / 1_000), 1),
  details: { limit, nextAvailableAt: new Date(availableAt).toISOString() },
});

/** The refusal when the day's costs have reached their limit. `availableAt` in Unix milliseconds. */
export const costDayRefusal = (availableAt: number, now: number): Refusal =>
  reachedRefusal(COST_DAY, availableAt, now);

/** The refusal for a reason stored in the journal. */
export function refusalOf(reason: string): Refusal {
  const withoutQuote = withoutQuoteRefusal(reason);
  if (withoutQuote) return { ...withoutQuote, details: { reason } };
  if (reason === 'amount_below_cost') {
    return {
      code: 'AMOUNT_TOO_SMALL',
      message: "The bridge's fixed cost would be too large a part of this amount. See GET /api/swap/min.",
      details: { reason },
    };
  }
  if (reason === 'quote_too_expensive') {
    return {
      code: 'QUOTE_REFUSED',
      message: "The quote's cost against an independent price is above our limit.",
      details: { reason },
    };
  }
  if (reason.startsWith('price_')) {
    return {
      code: 'PRICE_UNAVAILABLE',
      message: 'No two price sources agree, so the quote cannot be checked.',
      details: { reason },
    };
  }
  if (reason.startsWith('stopped_')) return stopped(reason.slice('stopped_'.length));
  if (reason.startsWith('upstream_')) return upstreamRefusal(reason);
  return {
    code: 'QUOTE_REFUSED',
    message: `The bridge's quote did not pass our checks (${reason}).`,
    details: { reason },
  };
}

/** Swaps are stopped for now. */
export const stopped = (why: string): Refusal => ({
  ...signingStopped(why),
  code: 'SWAPS_PAUSED',
  message: 'Swaps are paused. Nothing was reserved or signed.',
});

/** The refusal for a verdict of the spending limits, with the codes of swaps. */
export function limitRefusal(verdict: Exclude<SpendingVerdict, { ok: true }>, now: number): Refusal {
  const refusal = spendingRefusal(verdict, now);
  if (verdict.code === 'LIMIT_REACHED') return { ...refusal, code: 'SWAP_LIMIT_REACHED' };
  if (verdict.code !== 'AMOUNT_TOO_LARGE') return refusal;
  return { ...refusal, message: `One swap may take ${solText(verdict.maximum)} at most.` };
}
