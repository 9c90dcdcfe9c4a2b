/**
 * What a swap's row says to its caller. The answer to a create is a function of the row alone, so a repeat of the call
 * reads the same answer for as long as the row exists.
 * @module
 */
import { withoutQuoteRefusal } from '../../bridges/route.ts';
import { DAY_MS } from '../../core/limits.ts';
import type { Refusal, SwapAnswer, SwapView } from '../api.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import { mirrorStatus } from '../kernel/public-state.ts';
import { type LedgerVerdict, solText } from '../kernel/spending-limits.ts';

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
  reason === 'limit_cost_day'
    ? costDayRefusal(Number(outcome.availableAt), createdAt)
    : refusalOf(reason ?? 'unknown');

/** The day's costs leave no room until then. Unix milliseconds. */
export const costDayRefusal = (availableAt: number, now: number): Refusal => ({
  code: 'SWAP_LIMIT_REACHED',
  message: "The day's limit on costs leaves no room for what this amount would cost.",
  retryAfterSeconds: Math.max(Math.ceil((availableAt - now) / 1_000), 1),
  details: { limit: 'cost_day', nextAvailableAt: new Date(availableAt).toISOString() },
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
  if (reason.startsWith('upstream_')) {
    return {
      code: 'UPSTREAM_FAILED',
      message: 'The bridge or the chain did not answer as it should.',
      details: { reason },
    };
  }
  return {
    code: 'QUOTE_REFUSED',
    message: `The bridge's quote did not pass our checks (${reason}).`,
    details: { reason },
  };
}

/** Signing is off for now. */
export const stopped = (why: string): Refusal => ({
  code: 'SWAPS_PAUSED',
  message: 'Swaps are paused. Nothing was reserved or signed.',
  retryAfterSeconds: 300,
  details: { reason: why },
});

/** A ledger's no, as the caller sees it. */
export function ledgerRefusal(verdict: Exclude<LedgerVerdict, { ok: true }>, now: number): Refusal {
  switch (verdict.code) {
    case 'INSUFFICIENT_BALANCE': {
      const left = verdict.available > 0n ? verdict.available : 0n;
      return {
        code: verdict.code,
        message: `The reserve can spend ${solText(left)} now, fee reserve and floor included.`,
        details: { availableLamports: left.toString() },
      };
    }
    case 'AMOUNT_TOO_LARGE':
      return {
        code: verdict.code,
        message: `One swap may take ${solText(verdict.maximum)} at most.`,
        details: { maxAmountLamports: verdict.maximum.toString() },
      };
    case 'SWAP_LIMIT_REACHED': {
      const retryAfterSeconds = Math.min(
        Math.max(Math.ceil((verdict.availableAt - now) / 1_000), 1),
        DAY_MS / 1_000,
      );
      return {
        code: verdict.code,
        message: `The ${verdict.limit.replace('_', ' per ')} limit of ${solText(verdict.maximum)} leaves no room: ${solText(verdict.used)} are used.`,
        retryAfterSeconds,
        details: {
          limit: verdict.limit,
          maximumLamports: verdict.maximum.toString(),
          usedLamports: verdict.used.toString(),
          nextAvailableAt: new Date(now + retryAfterSeconds * 1_000).toISOString(),
        },
      };
    }
    case 'BALANCE_OUTDATED':
      return {
        code: 'UPSTREAM_FAILED',
        message: 'The chain does not show the outcome of earlier operations yet.',
        retryAfterSeconds: 5,
        details: { reason: 'balance_outdated' },
      };
  }
}
