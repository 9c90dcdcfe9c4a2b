/**
 * Combines several views of one address. Pure.
 * @module
 */
import type { SourceAnswer } from '../../core/query-all.ts';

export type BitcoinView = { readonly confirmed: bigint; readonly pendingDelta: bigint };

export type BitcoinBalance = {
  readonly confirmed: bigint;
  readonly pendingDelta: bigint;
  /** Source of the shown view. */
  readonly source: string;
  /** Whether all answering sources agree; null when only one answered. */
  readonly agreed: boolean | null;
  readonly views: readonly { readonly name: string; readonly confirmed: bigint | null }[];
};

/**
 * The lowest confirmed balance of all sources, so that the figure is never too high; null when none has
 * answered.
 */
export function chooseBalance(answers: readonly SourceAnswer<BitcoinView>[]): BitcoinBalance | null {
  const known = answers.flatMap((answer) => (answer.ok ? [{ source: answer.name, ...answer.value }] : []));
  const [first] = known;
  if (!first) return null;
  const lowest = known.reduce((low, view) => (view.confirmed < low.confirmed ? view : low), first);
  return {
    confirmed: lowest.confirmed,
    pendingDelta: lowest.pendingDelta,
    source: lowest.source,
    agreed: known.length < 2 ? null : known.every((view) => view.confirmed === first.confirmed),
    views: answers.map((answer) => ({
      name: answer.name,
      confirmed: answer.ok ? answer.value.confirmed : null,
    })),
  };
}
