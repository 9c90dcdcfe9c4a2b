/**
 * The conditions that alert the operator, and messages that a person can act on. The service reports each alarm when it
 * is raised and again when its condition has ended: as a log line and to the operator's webhook.
 * @module
 */
import { formatAmount, SOL_DECIMALS } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { AlarmStore } from './alarm-store.ts';
import type { StatusReport } from './get-status.ts';

export const ALARMS = [
  'status_unreadable',
  'unexplained_spend',
  'signing_frozen',
  'operation_stuck',
  'nodes_disagree',
  'quorum_missing',
  'solana_stalled',
  'swaps_refused',
  'mint_skipped',
  'supply_above_reserve',
  'sol_low',
  'quote_budget_low',
  'bridge_fees_over_cap',
  'bridge_rejects_request',
  'database_behind',
  'database_refuses_rows',
  'database_restored',
  'cron_missing',
] as const;
type AlarmName = (typeof ALARMS)[number];

type Custody = NonNullable<StatusReport['custody']>;

type Figures = Readonly<Record<string, string | number | null>>;

export type Alarm = {
  readonly name: AlarmName;
  /** One sentence for a person. */
  readonly reason: string;
  readonly figures: Figures;
};

export type SolLevel = {
  /** Finalized lamports of the reserve; null when no node answered. */
  readonly balance: bigint | null;
  /** Lamports that never leave. */
  readonly floor: bigint;
};

/** With fewer quotes left than this, estimates will soon be refused. */
const FEW_QUOTES = 12;
/** How long the mirror may lag before it raises an alarm. */
const MIRROR_PATIENCE_MS = 60_000;
/** How long every swap may be refused: sources and limits recover by themselves. */
const REFUSAL_PATIENCE_MS = 10 * 60_000;

const sol = (atoms: bigint): string => formatAmount(atoms, SOL_DECIMALS);

/** The alarm with its figures, or nothing if its condition is not met. */
const when = (isRaised: boolean, name: AlarmName, reason: string, figures: Figures = {}): Alarm[] =>
  isRaised ? [{ name, reason, figures }] : [];

export function alarmsOf(status: StatusReport, level: SolLevel, nowMs: number): Alarm[] {
  const { custody, backing, database, cron } = status;
  const unread = [...(custody === null ? ['custodian'] : []), ...(database === null ? ['database'] : [])];
  const { balance, floor } = level;
  return [
    ...when(unread.length > 0, 'status_unreadable', `Not readable: ${unread.join(' and ')}.`),
    ...(custody === null ? [] : [...spendingAlarms(custody, nowMs), ...custodyAlarms(custody, nowMs)]),
    ...when(
      backing.state === 'short',
      'supply_above_reserve',
      'There is more ABSR than the Bitcoin reserve covers.',
      {
        gapSatoshis: backing.gapSatoshis,
      },
    ),
    // The floor must stay in the reserve. Below twice the floor, a swap larger than the floor is refused.
    ...when(
      balance !== null && balance < 2n * floor,
      'sol_low',
      'The reserve has less SOL than twice RESERVE_FLOOR_SOL.',
      {
        whereItWent: whereSolWent(status, nowMs),
        balanceSol: balance === null ? null : sol(balance),
        floorSol: sol(floor),
      },
    ),
    ...cronAlarms(cron),
  ];
}

/** Shown before the operator sends more SOL, which would follow the rest after a theft. */
function whereSolWent({ custody, operations }: StatusReport, nowMs: number): string | null {
  if (custody !== null && custody.unexplainedSpends.length > 0)
    return `unexplained: ${spendsText(custody.unexplainedSpends)}; send none`;
  const spent = new Map<string, bigint>();
  for (const { kind, amountLamports, signature, createdAt } of operations ?? [])
    if (signature !== null && amountLamports !== null && nowMs - Date.parse(createdAt) < DAY_MS)
      spent.set(kind, (spent.get(kind) ?? 0n) + BigInt(amountLamports));
  const sums = [...spent].map(([kind, lamports]) => `${kind} ${sol(lamports)}`);
  return operations === null
    ? null
    : `the newest ${operations.length} operations of the last day: ${sums.join(', ') || 'none'}; if this does not explain the balance, send none`;
}

const CUSTODY_ALARMS: readonly AlarmName[] = [
  'unexplained_spend',
  'signing_frozen',
  'operation_stuck',
  'nodes_disagree',
  'quorum_missing',
  'solana_stalled',
  'swaps_refused',
  'mint_skipped',
  'database_behind',
  'database_refuses_rows',
  'database_restored',
];

/** Alarms whose condition cannot be read now, so that an earlier one is not over. */
const unreadAlarms = (
  { custody, backing, database, cron }: StatusReport,
  { balance }: SolLevel,
): AlarmName[] => [
  ...(custody === null ? CUSTODY_ALARMS : []),
  ...(backing.state === 'unknown' ? (['supply_above_reserve'] as const) : []),
  ...(balance === null ? (['sol_low'] as const) : []),
  ...(database === null ? (['quote_budget_low'] as const) : []),
  ...(cron === null ? (['cron_missing'] as const) : []),
];

/** What leaves the reserve without a row, and why nothing does. */
function spendingAlarms(custody: Custody, nowMs: number): Alarm[] {
  const { swapsRefused: refused, unexplainedSpends } = custody;
  return [
    ...when(
      unexplainedSpends.length > 0,
      'unexplained_spend',
      "The reserve's key signed transactions that no row explains. Someone else may have it.",
      { spends: spendsText(unexplainedSpends) },
    ),
    ...when(
      refused !== null && nowMs - Date.parse(refused.since) >= REFUSAL_PATIENCE_MS,
      'swaps_refused',
      `Every swap has been refused since ${refused?.since}.`,
      { code: refused?.code ?? null },
    ),
  ];
}

function custodyAlarms(custody: Custody, nowMs: number): Alarm[] {
  const { frozen, heldOperations, nodes, mint, mirrorBehindSince: behind, mirrorRefusedRows } = custody;
  const { disagreementAt, quorumMissingSince, stalledSince, consensus, configured, quorum } = nodes;
  const { quotes, bridgeFault } = custody;
  return [
    ...when(Boolean(frozen), 'signing_frozen', `Nothing is signed: ${frozen}.`, {
      openOperations: custody.openOperations,
    }),
    ...when(heldOperations > 0, 'operation_stuck', 'Operations, rewards or refunds await the operator.', {
      held: heldOperations,
    }),
    ...when(
      disagreementAt !== null,
      'nodes_disagree',
      `Two Solana nodes returned different finalized data at ${disagreementAt}.`,
      { nodes: configured },
    ),
    ...when(
      quorumMissingSince !== null,
      'quorum_missing',
      `Since ${quorumMissingSince} too few Solana nodes agree on a read that moves money.`,
      { nodes: configured, quorum },
    ),
    ...when(stalledSince !== null, 'solana_stalled', `Solana has finalized no slot since ${stalledSince}.`, {
      consensus,
    }),
    ...when(
      quotes.left < FEW_QUOTES,
      'quote_budget_low',
      'Estimates have nearly used their bridge quotes of two hours.',
      { left: quotes.left, maximum: quotes.maximum },
    ),
    ...when(
      bridgeFault === 'fees_over_cap',
      'bridge_fees_over_cap',
      'The fees inside the bridge’s quotes exceed our cap, so every swap is refused.',
    ),
    ...when(
      bridgeFault === 'request_rejected',
      'bridge_rejects_request',
      'The bridge rejects a fixed field of our requests, so every swap is refused.',
    ),
    ...when(mint?.ok === false, 'mint_skipped', `The daily mint of ABSR waits: ${mint?.reason}.`, {
      day: mint?.day ?? null,
    }),
    ...when(
      behind !== null && nowMs - Date.parse(behind) > MIRROR_PATIENCE_MS,
      'database_behind',
      `D1 has not accepted changes since ${behind}.`,
    ),
    ...when(mirrorRefusedRows > 0, 'database_refuses_rows', 'D1 refuses rows while it accepts others.', {
      rows: mirrorRefusedRows,
    }),
    ...when(
      custody.mirrorRestored,
      'database_restored',
      'D1 was restored to an older state. `ops republish` sends its rows again.',
    ),
  ];
}

/** What left the reserve, and to whom. */
const spendsText = (spends: Custody['unexplainedSpends']): string =>
  spends
    .map(({ signature, moved }) => {
      const parts = moved.map(
        ({ mint, atoms, receiver }) =>
          `${mint === null ? `${sol(BigInt(atoms))} SOL` : `${atoms} atoms of ${mint}`} to ${receiver ?? 'nobody'}`,
      );
      return `${signature} (${parts.join(', ') || 'no balance changed'})`;
    })
    .join('; ');

/** A trigger that has never run is not late: the daily one first runs at the midnight after a deployment. */
function cronAlarms(cron: StatusReport['cron']): Alarm[] {
  const late = (cron ?? []).filter((beat) => !beat.ok && beat.lastRunAt !== null);
  const said = late.map(({ trigger, lastRunAt }) => `the ${trigger} one last at ${lastRunAt}`);
  return when(late.length > 0, 'cron_missing', `Cron triggers are late: ${said.join(', ')}.`);
}

/** Names the service that reports, because several services may share a channel. */
export type Reporter = {
  /** Origin; empty if not configured. */
  readonly service: string;
};

export type AlarmMessage = Reporter & {
  /** The members below as lines of text, which chat services show. */
  readonly text: string;
  readonly alarms: readonly {
    readonly name: string;
    readonly change: 'raised' | 'cleared' | 'test';
    readonly reason: string;
    /** ISO 8601. */
    readonly since: string;
    readonly figures: Figures;
    /** URL of its row in the runbook. */
    readonly runbook: string;
  }[];
  /** Names of all active alarms. */
  readonly active: readonly string[];
  /** ISO 8601. */
  readonly at: string;
};

const RUNBOOK = 'https://github.com/sluice-example/sluice/blob/main/docs/run/runbook.md';

const linesOf = ({ change, name, reason, since, figures, runbook }: AlarmMessage['alarms'][number]) => [
  `${change.toUpperCase()} ${name}: ${reason}`,
  [`since ${since}`, ...Object.entries(figures).map(([key, value]) => `${key} ${value ?? 'unknown'}`)].join(
    ', ',
  ),
  runbook,
];

function messageOf(
  reporter: Reporter,
  alarms: readonly Omit<AlarmMessage['alarms'][number], 'runbook'>[],
  active: readonly string[],
  at: string,
): AlarmMessage {
  const linked = alarms.map((alarm) => ({ ...alarm, runbook: `${RUNBOOK}#${alarm.name}` }));
  const title = `Sluice ${reporter.service || 'without PUBLIC_BASE_URL'}`;
  return { ...reporter, text: [title, ...linked.flatMap(linesOf)].join('\n'), alarms: linked, active, at };
}

/** A test message, which shows that alarms arrive. */
export const testMessage = (reporter: Reporter, at: string): AlarmMessage =>
  messageOf(
    reporter,
    [
      {
        name: 'test_alarm',
        change: 'test',
        reason: 'This is a test. Nothing is wrong.',
        since: at,
        figures: {},
      },
    ],
    [],
    at,
  );

export type RaiseAlarmsDeps = {
  readonly reporter: Reporter;
  readStatus(): Promise<StatusReport>;
  readSol(): Promise<SolLevel>;
  readonly alarms: Pick<AlarmStore, 'note' | 'settle'>;
  /** Posts to the operator's webhook; absent if not configured. */
  readonly notify?: ((message: AlarmMessage) => Promise<void>) | undefined;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  readonly now: () => number;
};

/** Compares the current alarms with the stored ones. The next run repeats a failed webhook call. */
export async function raiseAlarms(d: RaiseAlarmsDeps): Promise<void> {
  const now = d.now();
  const at = new Date(now).toISOString();
  const [status, level] = await Promise.all([d.readStatus(), d.readSol()]);
  const active = alarmsOf(status, level, now);
  const names = active.map(({ name }) => name);
  const rows = await d.alarms.note(names, at);
  const since = (name: string) => rows.find((row) => row.name === name)?.since ?? at;
  const raised = active.filter(({ name }) => rows.some((row) => row.name === name && !row.reported));
  const lasting: readonly string[] = [...names, ...unreadAlarms(status, level)];
  const ended = rows.filter(({ name }) => !lasting.includes(name)).map(({ name }) => name);
  if (raised.length === 0 && ended.length === 0) return;
  const severity = raised.length > 0 ? 'alarm' : 'info';
  const raisedNames = raised.map(({ name }) => name);
  d.log({ level: severity, event: 'alarms_changed', raised: raisedNames, cleared: ended, active: names });
  const changes = [
    ...raised.map((alarm) => ({ ...alarm, change: 'raised' as const, since: since(alarm.name) })),
    ...ended.map((name) => ({
      name,
      change: 'cleared' as const,
      reason: 'The condition is over.',
      since: since(name),
      figures: {},
    })),
  ];
  await d.notify?.(messageOf(d.reporter, changes, names, at));
  await d.alarms.settle(raisedNames, ended);
}
