import type { Reserves, Status } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { explorersDiffer } from './coverage.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { amountOf, count, counted, sats, sol } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Notice } from './notice.tsx';
import { waitingText } from './rhythm.ts';
import { sourceName } from './source-name.ts';
import { sourcesText, statusKind, statusSentence, swapsText } from './status-sentence.ts';
import { detailText } from './swap-progress.tsx';
import { Folded, Table } from './table.tsx';
import { Tile } from './tile.tsx';

const signingText = ({ frozen, paused }: NonNullable<Status['custody']>): string =>
  frozen ? 'frozen' : paused && paused !== 'disabled' ? 'paused' : 'open';

const Well = ({ ok, yes = 'ok', no = 'down' }: { ok: boolean; yes?: string; no?: string }) => (
  <span class={`mark ${ok ? 'good' : 'bad'}`}>{ok ? yes : no}</span>
);

type Limit = NonNullable<Status['custody']>['limits'][number];

/** Used share of a limit, in whole percent. */
function share(limit: Limit): number {
  const [used, maximum] = [Number(limit.used), Number(limit.maximum)];
  return maximum > 0 ? Math.min(100, Math.round((100 * used) / maximum)) : 100;
}

/** The window of a limit: null for operations that have not ended. */
const windowText = (seconds: number | null): string =>
  seconds === null
    ? 'under way'
    : seconds === 3600
      ? 'in the last hour'
      : seconds === 86_400
        ? 'in the last 24 hours'
        : `in the last ${count(seconds)} seconds`;

/** `0.5 of 4 SOL in the last hour, 3.5 SOL left`; a limit of each operation by itself has no used part. */
export function limitText({ unit, used, maximum, left, windowSeconds }: Limit): string {
  const bare = unit === 'lamports' ? sol : sats;
  const amount = (atoms: string): string => `${bare(atoms)}${unit === 'lamports' ? ' SOL' : ''}`;
  if (windowSeconds === 0) return `at most ${amount(maximum)} each time`;
  return `${bare(used)} of ${amount(maximum)} ${windowText(windowSeconds)}, ${amount(left)} left`;
}

function limitsText(limits: readonly Limit[]): string {
  const full = limits.filter(({ left }) => left === '0').length;
  return full === 0
    ? 'No limit is used up.'
    : `${count(full)} of ${count(limits.length)} limits are used up.`;
}

const Limits = ({ limits }: { limits: readonly Limit[] }) => (
  <dl class="caps" aria-label="Limits">
    {limits.map((limit) => (
      <div class="cap">
        <dt class="cap-name">{limit.label}</dt>
        <dd class="cap-used">
          {limit.windowSeconds === 0 ? null : (
            <svg class="cap-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="cap-room" width="100" height="8" />
              <rect class="cap-part" width={share(limit)} height="8" />
            </svg>
          )}
          <span class="number">{limitText(limit)}</span>
        </dd>
      </div>
    ))}
  </dl>
);

type Operation = NonNullable<Status['operations']>[number];

const KIND_NAMES: Readonly<Record<string, string>> = {
  swap: 'swap',
  token: 'creation of a token',
  absr: 'mint of ABSR',
  asry: 'reward in ASRY',
  refund: 'refund',
};

/** The labels of swap details mention BTC; other kinds show the detail unchanged. */
const operationText = ({ kind, detail, reason }: Operation): string => {
  if (detail === 'done') return '';
  return kind === 'swap' ? detailText(detail) : (reason ?? detail).replaceAll('_', ' ');
};

/** A creation moves no SOL, but pays for accounts. */
function movedText({ kind, amountLamports, signature }: Operation): string {
  if (amountLamports === null) return 'not known';
  if (amountLamports !== '0') return sol(amountLamports);
  if (signature === null) return 'none';
  return kind === 'token' ? 'rent and fees' : 'network fee';
}

/** Swaps can be disabled separately; every other stop applies to everything that the custodian signs. */
const Stopped = ({ frozen, paused }: Pick<NonNullable<Status['custody']>, 'frozen' | 'paused'>) =>
  frozen === null && paused === 'disabled' ? (
    <Notice kind="warn" title="No new swap can start.">
      <p>The operator has disabled swaps. Everything else continues.</p>
    </Notice>
  ) : (
    <Notice kind="warn" title="Signing is stopped.">
      <p>
        {frozen === 'unverified' ? 'The service is starting' : 'Reads continue. The operator must act'}:{' '}
        {(frozen ?? paused ?? '').replaceAll('_', ' ')}
      </p>
    </Notice>
  );

const COVERED_TEXTS: Readonly<Record<Status['backing']['state'], string | null>> = {
  covered: 'yes',
  no_token: 'none exists',
  short: 'NO',
  unknown: null,
};

/** Each open alarm by its name, with a link to what the operator does about it. */
const Alarms = ({ alarms }: Pick<Status, 'alarms'>) => {
  if (alarms === null) return <>Whether an alarm is open is not known.</>;
  if (alarms.length === 0) return <>No alarm is open.</>;
  return (
    <>
      {alarms.length === 1 ? 'One alarm is open' : `${count(alarms.length)} alarms are open`}:{' '}
      {alarms.map((name, index) => (
        <>
          {index === 0 ? '' : ', '}
          <a href={`/runbook#${encodeURIComponent(name)}`}>{name.replaceAll('_', ' ')}</a>
        </>
      ))}
      .
    </>
  );
};

/** The running release, and where its changes are listed. */
const ReleaseLine = ({ release: { version, commit, deployedAt } }: Pick<Status, 'release'>) => (
  <p class="fine">
    {version === null ? 'Release unknown' : `Release ${version}`}
    {commit === null ? null : (
      <>
        , commit <code>{commit.slice(0, 10)}</code>
      </>
    )}
    {deployedAt === null ? null : (
      <>
        , deployed <Moment iso={deployedAt} />
      </>
    )}
    . <a href="/changes">What changed</a>
  </p>
);

const Covered = ({ backing }: Pick<Status, 'backing'>) => (
  <Tile name="Every ABSR covered" value={COVERED_TEXTS[backing.state]}>
    {backing.state === 'unknown' || backing.gapSatoshis === null
      ? 'compared when both chains can be read'
      : backing.gapSatoshis === '0'
        ? 'exactly one sat for each'
        : `${amountOf(backing.gapSatoshis.replace('-', ''), 'sat')} ${backing.state === 'short' ? 'missing' : 'more than the supply'}`}
  </Tile>
);

/** A mint ends like this every day without new sats: nothing was signed and nothing is wrong. */
const NOT_NEEDED = 'nothing_to_mint';

/** What the day's mint found; empty for a mint without a reason. */
function mintReason(reason: string | null): string {
  if (reason === null) return '';
  return reason === NOT_NEEDED ? 'There were no new sats at that time. ' : `${reason.replaceAll('_', ' ')}. `;
}

/** The day's mint, and the sats that it did not include. */
const MintTile = ({ custody, backing }: Pick<Status, 'custody' | 'backing'>) => {
  const mint = custody?.mint ?? null;
  const state = mint?.reason === NOT_NEEDED ? 'done' : mint?.state;
  return (
    <Tile name="Today's mint" value={custody && (state ?? 'not configured')}>
      {mint === null ? '' : mintReason(mint.reason)}
      {mint?.ok ? waitingText(backing) : ''}
    </Tile>
  );
};

const Tiles = ({ status: { backing, custody, database } }: { status: Status }) => (
  <div class="tiles">
    <Covered backing={backing} />
    <Tile name="Signing" value={custody && signingText(custody)}>
      {custody
        ? `${counted(custody.openOperations, 'operation')} under way, ${count(custody.heldOperations)} awaiting the operator`
        : 'the custodian does not respond'}
    </Tile>
    <Tile name="Swaps" value={custody && swapsText(custody)}>
      the reserve's SOL for BTC
    </Tile>
    <MintTile custody={custody} backing={backing} />
    <Tile name="Database" value={database && 'responds'}>
      stores records and lists; payments do not depend on it
    </Tile>
  </div>
);

type ReportProps = {
  readonly status: Status;
  /** The balance by source; null while it is not known. */
  readonly bitcoin: Reserves['bitcoin'] | null;
};

/** A source that responds may still show another balance than its peer. */
const SourceMark = ({ name, ok, bitcoin }: Pick<ReportProps, 'bitcoin'> & Status['upstreams'][number]) =>
  ok && explorersDiffer(bitcoin) && bitcoin?.sources.some((source) => source.name === name) ? (
    <span class="mark warn">differs</span>
  ) : (
    <Well ok={ok} />
  );

const Sources = ({ status, bitcoin }: ReportProps) => (
  <section>
    <h2>Sources</h2>
    <p>
      Services of other operators. Payments need a Solana node. Without a Bitcoin explorer a swap can start,
      but it is finished only once explorers show its BTC. Without a source that is not needed, a page lacks
      figures.
    </p>
    <Folded summary={sourcesText(status)}>
      <Table
        label="Sources"
        columns={[{ name: 'Source' }, { name: 'State' }, { name: 'Latency', right: true }]}
        rows={status.upstreams.map((source) => [
          <span>
            {sourceName(source.name)} {source.needed ? <span class="mark">needed</span> : null}
          </span>,
          <SourceMark {...source} bitcoin={bitcoin} />,
          `${count(source.ms)} ms`,
        ])}
        empty="None is configured."
      />
    </Folded>
  </section>
);

const Schedule = ({ cron }: Pick<Status, 'cron'>) => (
  <section>
    <h2>Scheduled work</h2>
    <Table
      label="Scheduled work"
      columns={[{ name: 'Trigger' }, { name: 'Last run' }, { name: 'State' }]}
      rows={(cron ?? []).map(({ trigger, lastRunAt, ok }) => [
        trigger === 'minute'
          ? 'every minute: continues payments, raises alarms, reads figures'
          : 'every day: deletes old unpaid orders',
        lastRunAt === null ? 'never' : <Moment iso={lastRunAt} />,
        ok && lastRunAt === null ? (
          <span class="mark">due at its time</span>
        ) : (
          <Well ok={ok} yes="on time" no="late" />
        ),
      ])}
      empty="Not known."
    />
  </section>
);

const OPERATION_MARKS: Readonly<Record<string, string>> = { finished: 'good', failed: 'bad' };

const Outcome = ({ operation }: { operation: Operation }) =>
  operation.reason === NOT_NEEDED ? (
    <span>
      <span class="mark">not needed</span> no new sats at that time
    </span>
  ) : (
    <span>
      <span class={`mark ${OPERATION_MARKS[operation.status] ?? 'warn'}`}>{operation.status}</span>{' '}
      {operationText(operation)}
    </span>
  );

export const Operations = ({ operations }: Pick<Status, 'operations'>) => (
  <section>
    <h2>Last operations</h2>
    <Folded summary="Show the last operations">
      <Table
        label="Last operations"
        columns={[
          { name: 'Started' },
          { name: 'Kind' },
          { name: 'State' },
          { name: 'SOL', right: true },
          { name: 'Transaction' },
        ]}
        rows={(operations ?? []).map((operation) => [
          <Moment iso={operation.createdAt} />,
          KIND_NAMES[operation.kind] ?? operation.kind,
          <Outcome operation={operation} />,
          movedText(operation),
          operation.signature === null ? 'none' : <SolanaTransaction signature={operation.signature} />,
        ])}
        empty="None yet."
      />
    </Folded>
  </section>
);

export function StatusReport({ status, bitcoin }: ReportProps) {
  const { custody, cron, operations } = status;
  return (
    <>
      <p class={`verdict ${statusKind(status, bitcoin)}`}>
        <span class="verdict-sign" aria-hidden="true" />
        <strong class="verdict-text">
          {explorersDiffer(bitcoin) ? 'The Bitcoin explorers differ; the lower value is used. ' : ''}
          <Alarms alarms={status.alarms} /> {statusSentence(status)}
        </strong>
      </p>
      <ReleaseLine release={status.release} />
      <Tiles status={status} />
      {custody?.frozen || custody?.paused ? (
        <Stopped frozen={custody.frozen} paused={custody.paused} />
      ) : null}
      <Sources status={status} bitcoin={bitcoin} />
      <section>
        <h2>Limits</h2>
        <p>They bound what a mistake could cost. A bar shows how much of a limit is used.</p>
        {custody?.limits ? (
          <Folded summary={limitsText(custody.limits)}>
            <Limits limits={custody.limits} />
          </Folded>
        ) : (
          <p class="card empty">The custodian does not respond.</p>
        )}
      </section>
      <Schedule cron={cron} />
      <Operations operations={operations} />
    </>
  );
}

export function StatusLive() {
  const bitcoin = useQuery('getReserves', {}, FIGURES_POLL_MS).value?.bitcoin ?? null;
  return (
    <Loaded
      query={useQuery('getStatus', {}, FIGURES_POLL_MS)}
      waiting="Reading the status."
      card
      show={(status) => <StatusReport status={status} bitcoin={bitcoin} />}
    />
  );
}
