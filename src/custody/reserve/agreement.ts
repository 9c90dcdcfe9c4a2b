/**
 * What independent views of the Bitcoin reserve agree on. Pure. One view proves nothing. Two views that
 * differ prove that one is wrong, so neither is used.
 * @module
 */
import { type Sats, sats } from '../../core/amount.ts';

/** A confirmed transaction too young to count, and its net effect on the reserve. */
export type YoungTx = { readonly height: number; readonly net: Sats };

export type ReserveView = {
  readonly source: string;
  readonly tip: { readonly height: number; readonly hash: string };
  /** The total confirmed balance at the tip. */
  readonly confirmed: Sats;
  /** Sats spent by unconfirmed transactions, with change not deducted. */
  readonly pendingSpent: Sats;
  readonly young: readonly YoungTx[];
};

export type Agreement =
  | { readonly ok: true; readonly sats: Sats; readonly tip: ReserveView['tip'] }
  | { readonly ok: false; readonly reason: AgreementRefusal };
export type AgreementRefusal = 'one_source' | 'tips_apart' | 'sources_disagree' | 'spend_pending';

/** Blocks by which honest indexes may differ temporarily. */
export const MAX_TIP_DISTANCE = 2;

/** Number of views needed to decide about money. */
const QUORUM = 2;

/**
 * The balance of the reserve at `depth` confirmations, counted from the lowest tip. Income counts once it is
 * that deep. A spend counts at once, and an unconfirmed spend prevents any agreement, so the figure never
 * exceeds the real balance.
 *
 * @param depth confirmations that income needs, at least 1
 */
export function agreeAtDepth(views: readonly ReserveView[], depth: number): Agreement {
  if (views.length < QUORUM) return { ok: false, reason: 'one_source' };
  const lowest = views.reduce((low, view) => (view.tip.height < low.tip.height ? view : low));
  const highest = Math.max(...views.map((view) => view.tip.height));
  if (highest - lowest.tip.height > MAX_TIP_DISTANCE) return { ok: false, reason: 'tips_apart' };
  const [figure, ...others] = views.map((view) => settledSats(view, lowest.tip.height, depth));
  if (figure === undefined || others.some((other) => other !== figure)) {
    return { ok: false, reason: 'sources_disagree' };
  }
  if (views.some((view) => view.pendingSpent > 0n)) return { ok: false, reason: 'spend_pending' };
  return { ok: true, sats: figure, tip: lowest.tip };
}

/** A block at the tip has one confirmation. */
function settledSats(view: ReserveView, tip: number, depth: number): Sats {
  const income = view.young
    .filter(({ height, net }) => tip - height + 1 < depth && net > 0n)
    .reduce((sum, { net }) => sum + net, 0n);
  return sats(view.confirmed - income);
}

/**
 * The confirmed balance that all views show at the same tip, for a proof that names it. With a single
 * configured index, its answer is used alone.
 */
export function agreeAtTip(views: readonly ReserveView[], configured: number): Agreement {
  const [first, ...others] = views;
  if (!first || views.length < Math.min(configured, QUORUM)) return { ok: false, reason: 'one_source' };
  if (others.some((view) => view.tip.hash !== first.tip.hash)) return { ok: false, reason: 'tips_apart' };
  if (others.some((view) => view.confirmed !== first.confirmed))
    return { ok: false, reason: 'sources_disagree' };
  return { ok: true, sats: first.confirmed, tip: first.tip };
}
