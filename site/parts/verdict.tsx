import type { AbsrSummary } from '../../packages/client/src/index.ts';
import type { Query } from '../api/query.ts';
import { coverageOf, coverageText, isShort } from './coverage.tsx';
import { Age } from './freshness.tsx';
import { type CheckState, failedTitles } from './proof-check.tsx';

export type Verdict = {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly title: string;
  /** Who compared the figures, and when; null while nobody has. */
  readonly by: { readonly who: string; readonly at: string } | null;
};

type ReadSummary = Pick<Query<AbsrSummary>, 'value' | 'failure'>;

/** The one sentence about the reserve: what this browser found itself comes before the service's own comparison. */
export function verdictOf(summary: ReadSummary, check: CheckState): Verdict {
  if (check.type === 'done') {
    const by = { who: 'in your browser', at: check.at };
    const failed = failedTitles(check.lines);
    if (failed.length > 0) return { kind: 'bad', title: `Check failed: ${failed.join('; ')}.`, by };
    const supply = check.lines.find(({ name }) => name === 'supply');
    if (supply?.result === 'confirmed') return { kind: 'good', title: `Covered: ${supply.text}`, by };
  }
  const covered = coverageOf(summary);
  const at = summary.value?.coverage.as_of ?? null;
  const by = at === null ? null : { who: 'by this service', at };
  if (covered === null)
    return { kind: 'warn', title: 'Whether every ABSR is covered is not known right now.', by: null };
  return { kind: isShort(covered) ? 'bad' : 'good', title: coverageText(covered), by };
}

/** @param asked whether the service has responded: the verdict is then unknown, otherwise still awaited */
export function VerdictLine({ verdict, asked }: { verdict: Verdict; asked: boolean }) {
  const { kind, title, by } = verdict;
  if (!asked && kind === 'warn')
    return (
      <p class="verdict-line">
        <span class="skeleton" aria-hidden="true" />
      </p>
    );
  return (
    <p class={`verdict-line ${kind}`} {...(kind === 'bad' ? { role: 'alert' } : {})}>
      <strong>{title}</strong>
      {by === null ? null : (
        <span>
          {' '}
          Checked <Age iso={by.at} /> {by.who}.
        </span>
      )}
    </p>
  );
}
