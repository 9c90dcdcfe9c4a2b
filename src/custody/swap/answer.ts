/**
 * What a swap's row says to its caller. The answer to a create is a function of the row alone, so a repeat of the call
 * reads the same answer for as long as the row exists.
 * @module
 */
import { withoutQuoteRefusal } from '../../bridges/route.ts';
import type { Refusal, SwapAnswer, SwapView } from '../api.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import { mirrorStatus } from '../kernel/operation.ts';
import { signingStopped, spendingRefusal, upstreamRefusal } from '../kernel/refusals.ts';
import { type SpendingVerdict, solText } from '../kernel/spending-limits.ts';
import { COST_DAY } from './limits.ts';

const atoms = (facts: Facts, name: string): bigint => BigInt(String(facts[name] ?? 0));
const text = (facts: Facts, name: string): string | null => {
  const value = facts[name];
  return typeof value === 'string' ? value : null;
};

/** Null before it is signed: until then it has no id. */
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

/** The answer to the create that made this row; undefined while it is not decided. */
export function createAnswer(op: Operation, replayed: boolean): SwapAnswer | undefined {
  const swap = swapView(op);
  // As it was at creation, whatever has become of it since.
  if (swap)
    return { type: 'created', replayed, swap: { ...swap, status: 'waiting', detail: 'sent', reason: null } };
  return op.state === 'failed' ? { type: 'refused', replayed, refusal: refusalOfRow(op) } : undefined;
}

const refusalOfRow = ({ reason, outcome, createdAt }: Operation): Refusal =>
  reason === `limit_${COST_DAY}`
    ? costDayRefusal(Number(outcome.availableAt), createdAt)
    : refusalOf(reason ?? 'unknown');

/** The day's costs leave no room until then. Unix milliseconds. */
export const costDayRefusal = (availableAt: number, now: number): Refusal => ({
  code: 'SWAP_LIMIT_REACHED',
  message: "The day's limit on costs leaves no room for what this amount would cost.",
  retryAfterSeconds: Math.max(Math.ceil((availableAt - now) / 1_000), 1),
  details: { limit: COST_DAY, nextAvailableAt: new Date(availableAt).toISOString() },
});

/** Reasons that any smaller amount would meet as well. */
export const isTooSmall = (reason: string | null): boolean =>
  reason === 'amount_too_low' || reason === 'amount_below_cost';

/** A reason of the journal as the caller sees it. */
export function refusalOf(reason: string): Refusal {
  const withoutQuote = withoutQuoteRefusal(reason);
  if (withoutQuote) return { ...withoutQuote, details: { reason } };
  if (reason === 'amount_below_cost') {
    return {
      code: 'AMOUNT_TOO_SMALL',
      message: "The bridge's fixed cost would take too large a part of this amount; see GET /api/swap/min.",
      details: { reason },
    };
  }
  if (reason === 'quote_too_expensive') {
    return {
      code: 'QUOTE_REFUSED',
      message: 'The quote costs more than our limit against an independent price.',
      details: { reason },
    };
  }
  if (reason.startsWith('price_')) {
    return {
      code: 'PRICE_UNAVAILABLE',
      message: 'No two price sources agree, so the quote cannot be judged.',
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

/** Swaps are off for now. */
export const stopped = (why: string): Refusal => ({
  ...signingStopped(why),
  code: 'SWAPS_PAUSED',
  message: 'Swaps are paused. Nothing was reserved or signed.',
});

/** Why the spending limits refuse a swap, with the codes of swaps. */
export function limitRefusal(verdict: Exclude<SpendingVerdict, { ok: true }>, now: number): Refusal {
  const refusal = spendingRefusal(verdict, now);
  if (verdict.code === 'LIMIT_REACHED') return { ...refusal, code: 'SWAP_LIMIT_REACHED' };
  if (verdict.code !== 'AMOUNT_TOO_LARGE') return refusal;
  return { ...refusal, message: `One swap may take ${solText(verdict.maximum)} at most.` };
}
