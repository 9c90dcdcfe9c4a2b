/**
 * The public view of a swap's row. The response to a create call depends only on the row, so a repeated call gets the
 * same response while the row exists.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import { ERRORS } from '../../core/errors.ts';
import { type LimitName, OPERATION_LIMITS } from '../../core/operation-limits.ts';
import type { Refusal, SwapAnswer, SwapMinimum, SwapView } from '../api.ts';
import { availableIn, type NotBegun, spendingRefusal, upstreamRefusal } from '../kernel/begin-operation.ts';
import { type Facts, mirrorStatus, type Operation, textOf } from '../kernel/operation.ts';
import { reasonText } from '../kernel/reason.ts';
import { type SpendingVerdict, solText } from '../kernel/spending-limits.ts';
import { isSource } from './minimum.ts';

const atoms = (facts: Facts, name: string): bigint => BigInt(String(facts[name] ?? 0));

/** The view of a swap; null until the swap is signed, because it has no id before. */
export function swapView(op: Operation): SwapView | null {
  if (!op.signing) return null;
  const sats = textOf(op.outcome.btcSats);
  return {
    signature: op.signing.signature,
    status: mirrorStatus(op),
    detail: op.detail,
    reason: reasonText(op.reason),
    amountLamports: BigInt(textOf(op.plan.askedLamports) ?? op.amount),
    expectedSats: atoms(op.plan, 'expectedSats'),
    minimumSats: atoms(op.plan, 'minimumSats'),
    btcSats: sats === null ? null : BigInt(sats),
    btcTxid: textOf(op.outcome.btcTxid),
    route: textOf(op.plan.route) ?? '',
  };
}

/** The response to the create call that made this row; undefined while the outcome is undecided. */
export function createAnswer(op: Operation, replayed: boolean): SwapAnswer | undefined {
  const swap = swapView(op);
  // Shows the swap as it was at creation, regardless of later changes.
  if (swap)
    return { type: 'created', replayed, swap: { ...swap, status: 'waiting', detail: 'sent', reason: null } };
  return op.state === 'failed'
    ? { type: 'refused', replayed, refusal: keptRefusal(refusalOfRow(op)) }
    : undefined;
}

/** A refusal that the swap's row keeps. Its key returns it for good, so the same request needs a new key. */
export const keptRefusal = (refusal: Refusal): Refusal =>
  ERRORS[refusal.code].action === 'retry_later' ? { ...refusal, action: 'retry_with_new_key' } : refusal;

function refusalOfRow({ reason, outcome, createdAt }: Operation): Refusal {
  switch (reason?.type) {
    case 'limit':
      return reachedRefusal(reason.by, Number(outcome.availableAt), createdAt);
    case 'stopped':
      return swapsStopped(reason.by);
    case 'upstream':
      return upstreamRefusal({ reason: reason.by, upstream: textOf(outcome.upstream) });
    default:
      return refusalOfQuote({ reason: reasonText(reason) ?? 'unknown', ...boundOf(outcome) });
  }
}

/** The smallest swap at the time when this row was refused. */
function boundOf({ minimumLamports, minimumSource }: Facts): { readonly minimum?: Bound } {
  const source = textOf(minimumSource);
  if (typeof minimumLamports !== 'string' || source === null || !isSource(source)) return {};
  return { minimum: { lamports: lamports(BigInt(minimumLamports)), source } };
}

/** The refusal if a limit would be exceeded. `availableAt` is in Unix milliseconds. */
export const reachedRefusal = (limit: string, availableAt: number, now: number): Refusal => ({
  code: 'SWAP_LIMIT_REACHED',
  message: isLimit(limit)
    ? `The limit on ${OPERATION_LIMITS[limit].label} would be exceeded by this amount.`
    : 'This amount would exceed a limit on swaps.',
  ...availableIn(limit, availableAt, now),
});

const isLimit = (name: string): name is LimitName => Object.hasOwn(OPERATION_LIMITS, name);

const NO_PRICE = {
  code: 'PRICE_UNAVAILABLE',
  message: 'No two price sources agree, so the quote cannot be checked.',
} as const;

/** The bridge responds but does not quote. The upstream has not failed, so the status is not 502. */
const withoutQuote = (message: string, retryAfterSeconds: number): Refusal => ({
  code: 'QUOTE_REFUSED',
  status: 503,
  message,
  retryAfterSeconds,
});

const REFUSALS: Readonly<Record<string, Refusal>> = {
  amount_too_high: {
    code: 'AMOUNT_TOO_LARGE',
    message: "The amount is above the bridge's current maximum. Request a smaller one.",
  },
  no_route: withoutQuote(
    'The bridge currently has no liquidity for this amount. Retry in a minute, or request a smaller amount.',
    60,
  ),
  pair_paused: withoutQuote('The bridge has paused swaps from SOL to BTC.', 300),
  bridge_refused: withoutQuote('The bridge cannot quote this amount at the moment.', 60),
  request_invalid: {
    code: 'BRIDGE_REQUEST_INVALID',
    message: 'The bridge rejects a setting of this service. The operator has received an alarm.',
  },
  quote_too_expensive: {
    code: 'QUOTE_REFUSED',
    message: "The quote's cost against an independent price is above our limit.",
  },
  key_rotated: {
    code: 'SWAPS_PAUSED',
    message:
      'The key of the reserve was changed before this swap was signed. Nothing was reserved or signed.',
    retryAfterSeconds: 5,
  },
  price_unavailable: NO_PRICE,
  price_divergent: NO_PRICE,
};

type Bound = Pick<SwapMinimum, 'lamports' | 'source'>;

const BOUNDS = {
  bridge: { reason: 'amount_too_low', why: 'The bridge refuses smaller ones' },
  cost: {
    reason: 'amount_below_cost',
    why: "The bridge's fixed cost would be too large a part of a smaller one",
  },
  contract: { reason: 'amount_below_contract', why: 'The API accepts no smaller one' },
} as const;

export function tooSmallRefusal({ lamports: least, source }: Bound): Refusal {
  const { reason, why } = BOUNDS[source];
  return {
    code: 'AMOUNT_TOO_SMALL',
    message: `The smallest swap is ${solText(least)} now. ${why}.`,
    details: { reason, minAmountLamports: least.toString(), minimumSource: source },
  };
}

/** The refusal of a quote. `reason` names the failed check, or why the bridge does not quote. */
export function refusalOfQuote({
  reason,
  minimum,
}: {
  readonly reason: string;
  readonly minimum?: Bound;
}): Refusal {
  if (minimum) return tooSmallRefusal(minimum);
  const message = `The bridge's quote did not pass our checks (${reason}).`;
  return { ...(REFUSALS[reason] ?? { code: 'QUOTE_REFUSED', message }), details: { reason } };
}

export const swapsStopped = (reason: string): Refusal => ({
  code: 'SWAPS_PAUSED',
  message: 'Swaps are paused. Nothing was reserved or signed.',
  retryAfterSeconds: 300,
  details: { reason },
});

/**
 * A journal that has lost rows may lack an earlier call's swap. So this refusal states only that this call has started
 * no swap.
 */
export const recordsLost = (reason: string): Refusal => ({
  ...swapsStopped(reason),
  message:
    'Swaps are paused while the records are checked. This call started nothing; an earlier call may have started a swap.',
});

/** The key service failed at its last check, so nothing can be signed. */
export const KEY_FAILING: Refusal = {
  ...upstreamRefusal({ reason: 'unavailable', upstream: 'key_service' }),
  message: 'The service that keeps the signing key does not respond. Nothing was reserved or signed.',
};

export function notBegunRefusal(why: NotBegun, now: number): Refusal {
  switch (why.code) {
    case 'STOPPED':
      return swapsStopped(why.reason);
    case 'UNREADABLE':
      return upstreamRefusal(why);
    default:
      return limitRefusal(why, now);
  }
}

/** The refusal of an amount that exceeds the balance or a limit, with the codes of swaps. */
export function limitRefusal(verdict: Exclude<SpendingVerdict, { ok: true }>, now: number): Refusal {
  const refusal = spendingRefusal(verdict, now);
  return refusal.code === 'SPENDING_LIMIT_REACHED' ? { ...refusal, code: 'SWAP_LIMIT_REACHED' } : refusal;
}
