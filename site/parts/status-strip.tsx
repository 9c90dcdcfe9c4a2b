import type { Status } from '../../packages/client/src/index.ts';
import { count, counted, instant } from './format.ts';

type Periods = NonNullable<Status['days']>;

/** How a span of time is divided into bars. */
export type Span = {
  readonly seconds: number;
  readonly bars: number;
  /** When a bar was, as text. */
  readonly when: (startsAt: string) => string;
};
export const HALF_HOURS: Span = {
  seconds: 1_800,
  bars: 48,
  when: (startsAt) => `in the half hour from ${instant(startsAt)}`,
};
export const DAYS: Span = { seconds: 86_400, bars: 90, when: (startsAt) => `on ${startsAt.slice(0, 10)}` };

const STEP = 10;
const WIDTH = 8;
const HEIGHT = 24;

export type Block = {
  readonly startsAt: string;
  /** Checks that ran; 0 where none is recorded. */
  readonly checks: number;
  readonly failed: number;
};

/** The checks of one part, the oldest bar first. */
export function blocksOf(periods: Periods, { seconds, bars }: Span, name: string, asOf: string): Block[] {
  const lengthMs = seconds * 1000;
  // Date.parse alone reads a year out of most texts.
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(asOf)) return [];
  const newest = Math.floor(Date.parse(asOf) / lengthMs);
  const known = new Map(periods.map((period) => [Date.parse(period.startsAt) / lengthMs, period]));
  return Array.from({ length: bars }, (_, index) => {
    const at = newest - bars + 1 + index;
    const period = known.get(at);
    return {
      startsAt: new Date(at * lengthMs).toISOString(),
      checks: period?.checks ?? 0,
      failed: period?.failures.find((failure) => failure.name === name)?.checks ?? 0,
    };
  });
}

/** `no failure in 1,380 checks`, or how many failed and when the last one did. */
export function summaryOf(blocks: readonly Block[], { when }: Span): string {
  const checks = blocks.reduce((sum, block) => sum + block.checks, 0);
  const failed = blocks.reduce((sum, block) => sum + block.failed, 0);
  if (checks === 0) return 'no check recorded yet';
  if (failed === 0) return `no failure in ${counted(checks, 'check')}`;
  const last = blocks.findLast((block) => block.failed > 0)?.startsAt ?? '';
  return `${count(failed)} of ${counted(checks, 'check')} failed, last ${when(last)}`;
}

/** A bar has full height when all checks passed, is notched where some failed, and is a dot without checks. */
export function StatusStrip({ blocks, span }: { blocks: readonly Block[]; span: Span }) {
  return (
    <span class="strip">
      <svg
        class="strip-bars"
        viewBox={`0 0 ${blocks.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {blocks.map(({ checks, failed }, index) => {
          const x = index * STEP;
          if (checks === 0) return <rect class="no-check" x={x} y={HEIGHT - 3} width={WIDTH} height="3" />;
          const bad = failed === 0 ? 0 : Math.max(6, Math.round((HEIGHT * failed) / checks));
          return (
            <>
              <rect class="passed" x={x} y={bad} width={WIDTH} height={HEIGHT - bad} />
              {bad === 0 ? null : <rect class="failed" x={x} y="0" width={WIDTH} height={bad} />}
            </>
          );
        })}
      </svg>
      <span class="fine">{summaryOf(blocks, span)}</span>
    </span>
  );
}
