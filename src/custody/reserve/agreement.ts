/**
 * What independent views of the Bitcoin reserve agree on. Pure. One view proves nothing, and two that differ prove that
 * one is wrong: then nothing is known.
 * @module
 */
import { type Sats, sats } from '../../core/amount.ts';

/** A confirmed transaction too young to count, and what it does to the reserve. */
export type YoungTx = { readonly height: number; readonly net: Sats };

export type ReserveView = {
  readonly source: string;
  readonly tip: { readonly height: number; readonly hash: string };
  /** The whole confirmed balance at the tip. */
  readonly confirmed: Sats;
  /** What unconfirmed transactions spend, change not deducted. */
  readonly pendingSpent: Sats;
  readonly young: readonly YoungTx[];
};

export type Agreement =
  | { readonly ok: true; readonly sats: Sats; readonly tip: ReserveView['tip'] }
  | { readonly ok: false; readonly reason: AgreementRefusal };
export type AgreementRefusal = 'one_source' | 'tips_apart' | 'sources_disagree' | 'spend_pending';

/** Blocks by which honest indexes may differ for a moment. */
export const MAX_TIP_DISTANCE = 2;

/** Views that a decision about money needs. */
const QUORUM = 2;

/**
 * The reserve that is `depth` blocks deep as seen from the lowest tip. An income counts once it is that deep; a spend
 * counts at once, and while one is unconfirmed nothing is agreed, so that the figure never exceeds what is there.
 *
 * @param depth confirmations that an income needs, at least 1
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
 * The confirmed balance at one and the same tip, for a proof that names it. With a single index configured its word is
 * all there is.
 */
export function agreeAtTip(views: readonly ReserveView[], configured: number): Agreement {
  const [first, ...others] = views;
  if (!first || views.length < Math.min(configured, QUORUM)) return { ok: false, reason: 'one_source' };
  if (others.some((view) => view.tip.hash !== first.tip.hash)) return { ok: false, reason: 'tips_apart' };
  if (others.some((view) => view.confirmed !== first.confirmed))
    return { ok: false, reason: 'sources_disagree' };
  return { ok: true, sats: first.confirmed, tip: first.tip };
}
