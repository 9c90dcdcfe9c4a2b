import type { Child } from 'hono/jsx';
import type { AbsrSummary, Reserves } from '../../packages/client/src/index.ts';
import type { Minter } from '../../src/chain/solana/mint-keys.ts';
import { FIGURES_POLL_MS, PROOF_POLL_MS, type Query, useQuery } from '../api/query.ts';
import {
  absrMinter,
  bitcoinSources,
  coverageKind,
  coverageOf,
  coverageText,
  solanaSources,
} from './coverage.tsx';
import { amountOf, changeSince, sats, shortened } from './format.ts';
import { Age, AsOf, together } from './freshness.tsx';
import { type CheckState, disputeOf, failedTitles } from './proof-check.tsx';
import { useSums } from './sat-origins.tsx';

/** Who can mint ABSR, in one line of a phone or two. */
const MINTERS: Readonly<Record<Minter, string>> = {
  two_keys: 'Two keys sign each mint. The operator may hold both.',
  reserve: 'The operator alone can mint ABSR.',
  nobody: 'Nobody can mint ABSR.',
  other: 'Another address can mint ABSR.',
};

export type Verdict = {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly title: string;
  /** Who compared the figures, and when; null while nobody has. */
  readonly by: { readonly who: string; readonly at: string } | null;
};

type ReadSummary = Pick<Query<AbsrSummary>, 'value' | 'failure'>;

/**
 * The one sentence about the reserve. What this browser found itself comes before the service's own comparison, if each
 * line of the check is decided and the service shows no shortage. A shortage stays beside whatever the check adds.
 */
export function verdictOf(summary: ReadSummary, check: CheckState): Verdict {
  if (check.type === 'done') {
    const by = { who: 'in your browser', at: check.at };
    const { state, as_of: comparedAt } = summary.value?.coverage ?? {};
    const isShort = state === 'short';
    const failed = failedTitles(check.lines);
    const dispute = disputeOf(check.lines);
    const added = failed.length > 0 ? `Check failed: ${failed.join('; ')}.` : dispute;
    if (added !== undefined && isShort)
      return {
        kind: 'bad',
        title: `${coverageText(coverageOf(summary))} ${added}`,
        by: { who: 'by this service, and in your browser', at: comparedAt ?? check.at },
      };
    if (added !== undefined) return { kind: failed.length > 0 ? 'bad' : 'warn', title: added, by };
    const supply = check.lines.find(({ name }) => name === 'supply');
    const isDecided = check.lines.every(({ result }) => result !== 'unchecked');
    if (supply?.result === 'confirmed' && isDecided && !isShort)
      return { kind: 'good', title: `Covered: ${supply.text}`, by };
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
  /** When the service read its own figures, if the verdict has another time. */
  readonly shownAt?: string | null;
};

export function VerdictLine({ verdict, asked, shownAt = null }: VerdictLineProps) {
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
            Checked <Age iso={by.at} /> {by.who}
            {shownAt === null ? null : (
              <>
                ; this page shows figures read <Age iso={shownAt} />
              </>
            )}
            .
          </>
        )}
      </p>
    </div>
  );
}

const IDLE: CheckState = { type: 'idle' };

/** The verdict with the age of the figures above it, which are as old as the oldest of them, and what it rests on. */
type CoverVerdictProps = {
  readonly check?: CheckState;
  /** A ground that only some pages have. */
  readonly children?: Child;
};

export function CoverVerdict({ check = IDLE, children }: CoverVerdictProps) {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const { stale, away } = together(reserves, summary);
  const at = reserves.value?.as_of ?? null;
  const asked = summary.value !== null || summary.failure !== null;
  const verdict = verdictOf(summary, check);
  const isOld = stale || away;
  const isOwn = check.type === 'done' && verdict.by?.at === check.at;
  const by =
    verdict.by === null || isOwn || at === null
      ? verdict.by
      : { ...verdict.by, at: at < verdict.by.at ? at : verdict.by.at };
  return (
    <>
      <VerdictLine verdict={{ ...verdict, by }} asked={asked} shownAt={isOwn && !isOld ? at : null} />
      {(asked && by === null) || isOld ? <AsOf at={at} stale={stale} away={away} /> : null}
      <p class="fine">
        “Covered”: the address holds at least one sat for each ABSR. Nobody owes them to you.
      </p>
      <ul class="rights grounds" aria-label="What the verdict rests on">
        <Sources reserves={reserves} />
        <Snapshot balance={reserves.value?.bitcoin} />
        <Minting reserves={reserves} />
        <Origins reserves={reserves} />
        {children}
        <li class="warn">
          No redemption, and the operator can move the BTC. <a href="/trust#redemption">Why</a>
        </li>
      </ul>
    </>
  );
}

type GroundProps = {
  /** Absent while its fact is not known, or still awaited. */
  readonly isGood?: boolean;
  readonly children: Child;
};

/** A fact below the verdict. */
export const Ground = ({ isGood, children }: GroundProps) => (
  <li class={isGood ? 'good' : isGood === false ? 'warn' : 'open'}>{children}</li>
);

/** A fact that is awaited keeps its line. Without scripts it never arrives, so the line says what is not shown. */
export const Awaited = ({ about }: { about: string }) => (
  <Ground>
    <span class="skeleton" aria-hidden="true" />
    <noscript>{about}: not shown without JavaScript.</noscript>
  </Ground>
);

/** How many sources show the BTC and the supply. A supply from one source alone, or an old read, is neither good nor a warning. */
const Sources = ({ reserves: { value, failure } }: { reserves: Query<Reserves> }) => {
  if (value === null && failure === null) return <Awaited about="Which sources show the figures" />;
  if (value === null) return <Ground>No source shows the BTC.</Ground>;
  const { bitcoin, solana } = value;
  const isOne = bitcoin.agreed === true && (solana.sources?.length ?? 0) < 2;
  const isOld = value.stale || failure !== null;
  return (
    <Ground {...(isOne || isOld ? {} : { isGood: bitcoin.agreed === true })}>
      BTC at{' '}
      <code title={bitcoin.address ?? ''}>
        {bitcoin.address === null ? 'no address' : shortened(bitcoin.address)}
      </code>
      : {bitcoinSources(bitcoin)}. ABSR supply: {solanaSources(solana)}.
      {isOld && value.as_of !== null ? (
        <>
          {' '}
          Read <Age iso={value.as_of} />, and not again since.
        </>
      ) : null}
    </Ground>
  );
};

type Balance = Reserves['bitcoin'];

/** What the Bitcoin key and the Solana key signed last, how old it is, and how the reserve has changed since. */
function Snapshot({ balance }: { balance: Balance | undefined }) {
  const { value: proof, failure } = useQuery('getProof', {}, PROOF_POLL_MS);
  if (proof === null && failure === null) return <Awaited about="What the keys signed last" />;
  if (proof === null) return <Ground>No signed figures can be read.</Ground>;
  const signed = BigInt(proof.figures.reserveSatoshis);
  const held = balance?.balanceSatoshis;
  const change = changeSince(signed, proof.timestamp, held, balance?.as_of);
  const hasLess = change !== '' && held != null && BigInt(held) < signed;
  return (
    <Ground {...(hasLess ? {} : { isGood: true })}>
      Bitcoin key and Solana key <a href="/reserves#signed">signed</a> {amountOf(signed, 'sat')}{' '}
      <Age iso={proof.timestamp} />
      {change}.
    </Ground>
  );
}

/** What the record of swaps explains of the BTC. */
function Origins({ reserves: { value, failure } }: { reserves: Query<Reserves> }) {
  const balance = value?.bitcoin.balanceSatoshis ?? null;
  const sums = useSums(balance);
  if (sums === null || (value === null && failure === null))
    return <Awaited about="Where the sats came from" />;
  if (sums === undefined || balance === null)
    return <Ground>Where the sats came from cannot be read.</Ground>;
  const { explained, unexplained, unknown, isWhole } = sums;
  const received = explained + unexplained + unknown;
  const link = <a href="/reserves#origins">Origins</a>;
  if (unexplained > 0n)
    return (
      <Ground isGood={false}>
        {isWhole ? `${sats(unexplained.toString())} of ` : ''}
        {amountOf(isWhole ? received : unexplained, 'sat')} did not come from a swap. {link}
      </Ground>
    );
  // Sats of the balance are in no listed transaction, or none has arrived: neither supports a sentence about every sat.
  if (unknown > 0n || !isWhole) return <Ground>Not every sat is in the newest lists. {link}</Ground>;
  if (explained === 0n) return <Ground>No sat has arrived yet. {link}</Ground>;
  return <Ground isGood>Every sat came from a swap of this service. {link}</Ground>;
}

/** Who can mint ABSR, as the chain shows it. */
const Minting = ({ reserves: { value, failure } }: { reserves: Query<Reserves> }) => {
  const minter = absrMinter(value?.solana ?? null);
  if (value === null && failure === null) return <Awaited about="Who can mint ABSR" />;
  if (minter === null) return <Ground>Who can mint ABSR is not known.</Ground>;
  return (
    <Ground isGood={minter === 'nobody'}>
      {MINTERS[minter]} {minter === 'nobody' ? null : <a href="/trust#keys">Whose</a>}
    </Ground>
  );
};
