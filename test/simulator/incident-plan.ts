/**
 * What happens once in a run, at a time of its own: deploys, pauses, jumps of the clock, a journal that is lost.
 * @module
 */
import type { Random } from './random.ts';
import type { SwapWish } from './wishes.ts';

export type Loss = 'nothing' | 'older' | 'nothing, D1 too';

export type Incident =
  | { readonly at: number; readonly type: 'deploy' | 'pause' | 'resume' | 'look' | 'old_rows' }
  | { readonly at: number; readonly type: 'clock'; readonly ms: number }
  | { readonly at: number; readonly type: 'fork'; readonly depth: number }
  | { readonly at: number; readonly type: 'remember' }
  /** `to`: what is left in its place. */
  | { readonly at: number; readonly type: 'journal_lost'; readonly to: Loss };

const HOUR = 3_600_000;

export function planIncidents(r: Random, spread: number, swaps: readonly SwapWish[]): Incident[] {
  const list: Incident[] = [];
  const at = () => r.between(0, spread);
  /** While somebody's call may be under way. */
  const during = () => r.pick(swaps).at + r.between(0, r.pick([20, 500, 5_000]));
  if (r.chance(0.2)) list.push({ at: at(), type: 'deploy' });
  if (r.chance(0.15)) list.push({ at: at(), type: 'old_rows' });
  if (r.chance(0.4)) list.push({ at: at(), type: 'fork', depth: r.between(1, 31) });
  if (r.chance(0.3)) list.push({ at: at(), type: 'look' });
  if (r.chance(0.15)) {
    const from = during();
    list.push({ at: from, type: 'pause' }, { at: from + r.between(1_000, 30_000), type: 'resume' });
  }
  if (r.chance(0.05)) {
    list.push({ at: at(), type: 'clock', ms: r.pick([-1, 1]) * r.pick([5_000, HOUR, 24 * HOUR]) });
  }
  if (r.chance(0.14)) list.push(...losing(r, during() + r.between(0, 60_000)));
  return list;
}

function losing(r: Random, lostAt: number): Incident[] {
  const to = r.pick(['nothing', 'older', 'older', 'nothing, D1 too'] as const);
  const lost: Incident = { at: lostAt, type: 'journal_lost', to };
  return to === 'older' ? [{ at: r.between(lostAt / 2, lostAt), type: 'remember' }, lost] : [lost];
}
