/**
 * Events at a given time: deployments, pauses, jumps of the clock, a lost journal, reorganized blocks.
 * @module
 */
import type { Random } from './random.ts';

export type PlannedEvent =
  | {
      readonly at: number;
      readonly type:
        | 'deploy'
        | 'rotate'
        | 'pause'
        | 'resume'
        | 'look'
        | 'income'
        | 'proof'
        | 'refund'
        | 'retry';
    }
  | { readonly at: number; readonly type: 'clock'; readonly ms: number }
  | { readonly at: number; readonly type: 'fork' | 'reorg'; readonly depth: number }
  | { readonly at: number; readonly type: 'remember' }
  /** `to` is what remains of the journal. D1 is unchanged. */
  | { readonly at: number; readonly type: 'journal_lost'; readonly to: 'nothing' | 'older' }
  /** Only D1 goes back to an older state. */
  | { readonly at: number; readonly type: 'd1_restored' }
  | { readonly at: number; readonly type: 'd1_down'; readonly ms: number };

const HOUR = 3_600_000;

/** @param swapsAt times of swap requests */
export function planEvents(r: Random, spread: number, swapsAt: readonly number[]): PlannedEvent[] {
  const list: PlannedEvent[] = [];
  const at = () => r.between(0, spread);
  if (r.chance(0.2)) list.push({ at: at(), type: 'deploy' });
  if (r.chance(0.4)) list.push({ at: at(), type: 'fork', depth: r.between(1, 31) });
  if (r.chance(0.3)) list.push({ at: at(), type: 'look' });
  if (r.chance(0.3)) list.push({ at: at(), type: 'income' });
  if (r.chance(0.2)) list.push({ at: at(), type: 'reorg', depth: r.between(1, 2) });
  if (r.chance(0.15)) list.push({ at: at(), type: 'proof' });
  if (r.chance(0.2)) {
    const from = at();
    list.push({ at: from, type: 'pause' }, { at: from + r.between(1_000, 30_000), type: 'resume' });
  }
  if (r.chance(0.05))
    list.push({ at: at(), type: 'clock', ms: r.pick([-1, 1]) * r.pick([5_000, HOUR, 24 * HOUR]) });
  if (r.chance(0.1)) list.push(...losing(r, at() + r.between(0, 60_000)));
  if (r.chance(0.04)) list.push({ at: at(), type: 'd1_restored' });
  // Pauses while a swap is being prepared.
  if (swapsAt.length > 0 && r.chance(0.1)) {
    const from = r.pick(swapsAt) + r.between(0, 5_000);
    list.push({ at: from, type: 'pause' }, { at: from + r.between(1_000, 30_000), type: 'resume' });
  }
  // A refund shortly before the journal is lost: only the chain shows it afterwards.
  const lost = list.find(({ type }) => type === 'journal_lost');
  if (r.chance(lost ? 0.8 : 0.2))
    list.push({ at: Math.max((lost?.at ?? at() + 30_000) - r.between(500, 15_000), 0), type: 'refund' });
  return list;
}

/** The operator pauses, moves to another key and resumes. */
export function planRotation(r: Random, spread: number): PlannedEvent[] {
  if (!r.chance(0.3)) return [];
  const from = r.between(0, spread);
  const at = from + r.between(0, 5_000);
  return [
    { at: from, type: 'pause' },
    { at, type: 'rotate' },
    { at: at + r.between(100, 20_000), type: 'resume' },
  ];
}

/** When the operator retries every open operation. */
export const planRetries = (r: Random, spread: number): PlannedEvent[] =>
  r.chance(0.15) ? [{ at: r.between(0, spread), type: 'retry' }] : [];

/**
 * D1 is down before the journal is lost, so that only the chain shows the last operations. Meanwhile the operator pays
 * refunds. In a few seeds without a lost journal, this event adds one.
 */
export function withOutage(
  r: Random,
  planned: readonly PlannedEvent[],
  spread: number,
): readonly PlannedEvent[] {
  const known = planned.find(({ type }) => type === 'journal_lost');
  const fresh: PlannedEvent = { at: r.between(20_000, spread + 25_000), type: 'journal_lost', to: 'nothing' };
  const lost = known ?? fresh;
  if (!r.chance(known ? 0.7 : 0.12)) return planned;
  const ms = Math.min(r.between(5_000, 55_000), lost.at);
  const from = lost.at - ms;
  const refunds = [0, 1, 2].map((): PlannedEvent => ({ at: r.between(from, lost.at), type: 'refund' }));
  return [...planned, ...(known ? [] : [fresh]), { at: from, type: 'd1_down', ms: ms + 1_000 }, ...refunds];
}

function losing(r: Random, lostAt: number): PlannedEvent[] {
  const to = r.pick(['nothing', 'older'] as const);
  const lost: PlannedEvent = { at: lostAt, type: 'journal_lost', to };
  return to === 'older' ? [{ at: r.between(lostAt / 2, lostAt), type: 'remember' }, lost] : [lost];
}
