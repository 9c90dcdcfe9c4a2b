import type { Child } from 'hono/jsx';
import type { AbsrSummary, Reserves } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, PROOF_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { coverageKind, coverageOf, coverageText } from './coverage.tsx';
import { Away, bitcoinAddressUrl } from './explorer-links.tsx';
import { amountOf, changeSince, shortened } from './format.ts';
import { Age, AsOf, together } from './freshness.tsx';
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
  return { kind: coverageKind(covered), title: coverageText(covered), by: covered === null ? null : by };
}

type VerdictLineProps = {
  readonly verdict: Verdict;
  /** Whether the service has responded: the verdict is then unknown, otherwise still awaited. */
  readonly asked: boolean;
  /** Other comparisons, shown after the time of the verdict. */
  readonly children?: Child;
};

export function VerdictLine({ verdict, asked, children }: VerdictLineProps) {
  const { kind, title, by } = verdict;
  const isAwaited = !asked && kind === 'warn';
  return (
    <div
      class={isAwaited ? 'verdict-line' : `verdict-line ${kind}`}
      role={kind === 'bad' ? 'alert' : undefined}
    >
      <p class="verdict-title">
        {isAwaited ? <span class="skeleton" aria-hidden="true" /> : <strong>{title}</strong>}
      </p>
      <p class="verdict-time fine">
        {by === null ? null : (
          <>
            Checked <Age iso={by.at} /> {by.who}.{' '}
          </>
        )}
        <span class="signed">{children}</span>
      </p>
    </div>
  );
}

/** What the verdict compares, and what it does not promise. */
const Meaning = () => (
  <p class="fine">
    “Covered” means that a sat is there for each ABSR, not that anybody pays it out. The operator can move it.{' '}
    <a href="/trust#redemption">Why</a>
  </p>
);

const IDLE: CheckState = { type: 'idle' };

/** The verdict with the age of the figures above it, which are as old as the oldest of them. */
export function CoverVerdict({ check = IDLE }: { check?: CheckState }) {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const { stale, away } = together(reserves, summary);
  const at = reserves.value?.as_of ?? null;
  const verdict = verdictOf(summary, check);
  const isOwn = check.type === 'done' && verdict.by?.at === check.at;
  const by =
    verdict.by === null || isOwn || at === null
      ? verdict.by
      : { ...verdict.by, at: at < verdict.by.at ? at : verdict.by.at };
  return (
    <>
      <VerdictLine verdict={{ ...verdict, by }} asked={summary.value !== null || summary.failure !== null}>
        <Snapshot balance={reserves.value?.bitcoin} />
      </VerdictLine>
      {by === null || isOwn || stale || away ? <AsOf at={at} stale={stale} away={away} /> : null}
      <Meaning />
    </>
  );
}

type Balance = Reserves['bitcoin'];

/** What the Bitcoin key and the Solana key signed last, where it can be seen, how old it is, and how the reserve has changed since. */
function Snapshot({ balance }: { balance: Balance | undefined }) {
  const { value: proof, failure } = useQuery('getProof', {}, PROOF_POLL_MS);
  if (proof === null)
    return failure === null ? (
      <span class="skeleton" aria-hidden="true" />
    ) : (
      <>No signed snapshot can be read.</>
    );
  const { address } = proof.bitcoin;
  return (
    <>
      The operator's Bitcoin key and Solana key signed {amountOf(proof.figures.reserveSatoshis, 'sat')} at{' '}
      <Away href={bitcoinAddressUrl(address)}>
        <code title={address}>{shortened(address)}</code>
      </Away>{' '}
      <Age iso={proof.timestamp} />
      {changeSince(
        BigInt(proof.figures.reserveSatoshis),
        proof.timestamp,
        balance?.balanceSatoshis,
        balance?.as_of,
      )}
      .
    </>
  );
}
