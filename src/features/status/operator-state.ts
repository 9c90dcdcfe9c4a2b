/**
 * One screen for the operator, and the same facts as JSON: waiting work, debts, failures, and the remaining room of
 * each limit.
 * @module
 */
import { formatAmount, SOL_DECIMALS } from '../../core/amount.ts';
import type { NodeProbe, OperatorView } from '../../custody/operator-api.ts';
import { type AlarmFacts, ageText, alarmsOf, spendsText } from './alarm-rules.ts';
import type { Check } from './checks.ts';
import type { Outside, OutsideCall, State, StatusReport } from './get-status.ts';

type BalanceRow = Readonly<Record<string, string | number | null>>;

export type OperatorStateDeps = {
  readState(): Promise<State>;
  readFacts(status: StatusReport): Promise<AlarmFacts>;
  /** `ok` is false if a balance could not be read; its row then has the reason. */
  readBalances(): Promise<{ readonly ok: boolean; readonly rows: readonly BalanceRow[] }>;
  probeNodes(): Promise<readonly NodeProbe[]>;
  databaseBytes(): Promise<number>;
  readCalls(): Promise<Readonly<Record<Outside, OutsideCall | null>>>;
  /** Lamports above the floor that swaps cannot use. */
  readonly operatingFloat: bigint;
  readonly service: string;
};

type NodeLine = NodeProbe & {
  /** Slots behind the most advanced node; null if this node did not respond. */
  readonly lag: number | null;
};

export type OperatorState = {
  readonly service: string;
  /** ISO 8601. */
  readonly at: string;
  readonly ok: boolean;
  readonly checks: readonly Check[];
  readonly status: StatusReport;
  readonly alarms: readonly { readonly name: string; readonly reason: string; readonly figures: object }[];
  /** Null if the custodian does not respond. Amounts are decimal strings. */
  readonly view:
    | (Omit<OperatorView, 'debts'> & {
        readonly debts: readonly (Omit<OperatorView['debts'][number], 'atoms'> & {
          readonly atoms: string;
        })[];
      })
    | null;
  readonly nodes: readonly NodeLine[] | null;
  readonly balances: readonly BalanceRow[];
  /** Whether every part was read. */
  readonly isComplete: boolean;
  readonly floorLamports: string;
  readonly operatingFloatLamports: string;
  readonly databaseBytes: number | null;
  readonly calls: Readonly<Record<Outside, OutsideCall | null>> | null;
};

export async function readOperatorState(deps: OperatorStateDeps): Promise<OperatorState> {
  const { status, checks } = await deps.readState();
  const [facts, nodes, balances, databaseBytes, calls] = await Promise.all([
    deps.readFacts(status),
    deps.probeNodes().catch(() => null),
    deps.readBalances(),
    deps.databaseBytes().catch(() => null),
    deps.readCalls().catch(() => null),
  ]);
  const { view, level, nowMs } = facts;
  return {
    service: deps.service,
    at: new Date(nowMs).toISOString(),
    ok: status.ok,
    checks,
    status,
    alarms: alarmsOf(facts).raised.map(({ name, reason, figures = {} }) => ({ name, reason, figures })),
    view: view && {
      ...view,
      debts: view.debts.map((debt) => ({ ...debt, atoms: debt.atoms.toString() })),
    },
    nodes: nodes && withLag(nodes),
    balances: balances.rows,
    isComplete: balances.ok && view !== null && nodes !== null && databaseBytes !== null && calls !== null,
    floorLamports: level.floor.toString(),
    operatingFloatLamports: deps.operatingFloat.toString(),
    databaseBytes,
    calls,
  };
}

function withLag(nodes: readonly NodeProbe[]): NodeLine[] {
  const slots = nodes.flatMap(({ slot }) => (slot === null ? [] : [BigInt(slot)]));
  const newest = slots.reduce((most, slot) => (slot > most ? slot : most), 0n);
  return nodes.map((node) => ({
    ...node,
    lag: node.slot === null ? null : Number(newest - BigInt(node.slot)),
  }));
}

const UNREAD = 'cannot be read';
const sol = (lamports: string): string => formatAmount(BigInt(lamports), SOL_DECIMALS);
const megabytes = (bytes: number | null): string =>
  bytes === null ? 'size unknown' : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** A heading and its lines, or `none` without lines. @param lines absent if they cannot be read */
const part = (heading: string, lines: readonly string[] | null | undefined): string[] =>
  (!lines ? [UNREAD] : lines.length === 0 ? ['none'] : lines).map(
    (line, index) => `${(index === 0 ? heading : '').padEnd(12)}${line}`,
  );

/** Formats the state as one screen of text. */
export function stateText(state: OperatorState): string {
  const { status, view, nodes } = state;
  const nowMs = Date.parse(state.at);
  const ago: Ago = (iso) => (iso ? `${iso} (${ageText(nowMs - Date.parse(iso))} ago)` : 'never');
  const failed = state.checks.filter(({ ok }) => !ok).map(({ name, reason }) => `${name}: ${reason}`);
  const { release, custody } = status;
  return [
    `${state.service || 'without PUBLIC_BASE_URL'}, ${state.at}`,
    ...part('State', state.ok ? ['ok'] : ['NOT OK', ...failed]),
    ...part('Alarms', state.alarms.map(alarmText)),
    ...part('Versions', [
      `Worker ${release.version ?? UNREAD} ${release.id ?? ''}, custodian ${custody?.release ?? UNREAD}`,
    ]),
    ...part('Wake', wakeLines(state, ago)),
    ...part('Signing', custody && [`frozen: ${custody.frozen ?? 'no'}, paused: ${custody.paused ?? 'no'}`]),
    ...part('Open', view && openLines(view.open, custody, nowMs)),
    ...part(
      'Debts',
      view?.debts.flatMap((debt) => debtText(debt, nowMs)),
    ),
    ...part(
      'Unexplained',
      custody?.unexplainedSpends.map((spend) => spendsText([spend])),
    ),
    ...part('Failing', view?.failing.map(failingText)),
    ...part('Nodes', nodes?.map(nodeText)),
    ...part('Balances', balanceLines(state)),
    ...part('Limits', custody && limitLines(custody.limits)),
    ...part('Storage', storageLines(state, ago)),
    ...part('Calls', state.calls && callLines(state.calls, nowMs)),
  ].join('\n');
}

/** A time with its age. */
type Ago = (iso: string | null | undefined) => string;
type View = NonNullable<OperatorState['view']>;

function openLines(open: View['open'], custody: StatusReport['custody'], nowMs: number): string[] {
  if (open.length === 0) return [];
  const lines = open.map(({ id, state, reason, lamports, createdAtMs, awaitsOperator }) => {
    const why = reason === null ? state : `${state} (${reason})`;
    const age = ageText(nowMs - createdAtMs);
    return `${awaitsOperator ? 'AWAITS YOU ' : ''}${id}: ${why}, ${sol(lamports)} SOL, ${age}`;
  });
  return [`${custody?.openOperations ?? 'an unknown number'} not ended`, ...lines];
}

const failingText = ({ work, id, failures, reason }: View['failing'][number]): string =>
  `${work} ${id}: ${failures} failures (${reason ?? 'reason unknown'})`;

const nodeText = ({ name, ms, lag, failure }: NodeLine): string =>
  failure === null ? `${name}: ${lag} slots behind, ${ms} ms` : `${name}: ${failure}`;

const alarmText = ({ name, reason, figures }: OperatorState['alarms'][number]): string =>
  [
    `${name}: ${reason}`,
    ...Object.entries(figures).map(([key, value]) => `${key} ${value ?? 'unknown'}`),
  ].join(' ');

function wakeLines({ status, view }: OperatorState, ago: Ago): string[] {
  const run = view?.lastRun;
  return [
    `woken by the cron ${ago(status.custody?.lastWakeAt)}`,
    run
      ? `last run ${ago(new Date(run.atMs).toISOString())}, by the ${run.cause}`
      : 'no run since it started',
    ...(status.cron ?? []).map(({ trigger, lastRunAt }) => `${trigger} trigger ${ago(lastRunAt)}`),
  ];
}

function debtText(
  { name, count, atoms, oldestMs, examples }: View['debts'][number],
  nowMs: number,
): string[] {
  if (count === 0) return [];
  const sum = name === 'payout_owed' ? `${atoms} atoms of ASRY` : `${sol(atoms)} SOL`;
  const oldest = oldestMs === null ? 'unknown' : ageText(nowMs - oldestMs);
  const named = examples.map(({ id, reason }) => `${id} (${reason})`).join('; ');
  return [`${name}: ${count}, ${sum}, oldest ${oldest}${named && `: ${named}`}`];
}

function balanceLines({ balances, floorLamports, operatingFloatLamports }: OperatorState): string[] {
  const rows = balances.map(({ holder, asset, amount, address, note }) => {
    const about = [address, note].filter(Boolean).join(', ');
    return amount === null ? `${asset} ${about}`.trim() : `${holder} ${amount} ${asset} (${about})`;
  });
  return [
    ...rows,
    `floor ${sol(floorLamports)} SOL, and ${sol(operatingFloatLamports)} SOL above it that swaps cannot use`,
  ];
}

const limitLines = (limits: NonNullable<StatusReport['custody']>['limits']): string[] =>
  limits
    .filter(({ used }) => used !== '0')
    .map(({ label, unit, used, maximum, availableAt }) => {
      const shown = (amount: string) => (unit === 'lamports' ? `${sol(amount)} SOL` : amount);
      return `${label}: ${shown(used)} of ${shown(maximum)}${availableAt ? `, room at ${availableAt}` : ''}`;
    });

function storageLines({ status, view, databaseBytes }: OperatorState, ago: Ago): string[] {
  const behind = status.custody?.mirrorBehindSince;
  return [
    `D1 ${megabytes(databaseBytes)}, ${view?.backlog ?? 'unknown'} changes wait${behind ? `, the oldest since ${ago(behind)}` : ''}, ${status.custody?.mirrorRefusedRows ?? 'unknown'} rows refused`,
    `journal ${megabytes(view?.journalBytes ?? null)}`,
  ];
}

const callLines = (calls: NonNullable<OperatorState['calls']>, nowMs: number): string[] =>
  Object.entries(calls).map(([name, call]) =>
    call === null
      ? `${name} never called`
      : `${name} ${ageText(nowMs - call.at)} ago: ${call.failure ?? 'accepted'}`,
  );
