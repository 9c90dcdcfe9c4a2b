/**
 * The conditions that alert the operator. A pure check of the status. One log line and one webhook call when
 * the set of alarms changes, so that one lasting fault causes one message.
 * @module
 */
import type { StatusReport, TextStore } from './get-status.ts';

export type Alarm =
  | 'status_unreadable'
  | 'signing_frozen'
  | 'operation_stuck'
  | 'nodes_disagree'
  | 'quorum_missing'
  | 'mint_skipped'
  | 'supply_above_reserve'
  | 'sol_low'
  | 'quote_budget_low'
  | 'bridge_fees_over_cap'
  | 'database_behind'
  | 'database_refuses_rows'
  | 'database_restored'
  | 'cron_missing';

export type SolLevel = {
  /** Finalized lamports of the reserve; null when no node answered. */
  readonly balance: bigint | null;
  /** Lamports that never leave. */
  readonly floor: bigint;
};

/** Values that are not part of the status. */
export type Measured = SolLevel & {
  /** The fees of the bridge's last quote exceeded our cap, which stops all swaps of its route. */
  readonly feesOverCap: boolean;
};

/** Remaining quotes at which reads will soon be refused. */
const FEW_QUOTES = 12;
/** How long the mirror may lag before it raises an alarm. */
const MIRROR_PATIENCE_MS = 60_000;

export function alarmsOf(status: StatusReport, measured: Measured, nowMs: number): Alarm[] {
  const { custody, backing, database, cron } = status;
  const behind = custody?.mirrorBehindSince;
  const found: readonly (readonly [Alarm, boolean])[] = [
    ['status_unreadable', custody === null || database === null],
    ['signing_frozen', Boolean(custody?.frozen)],
    ['operation_stuck', (custody?.heldOperations ?? 0) > 0],
    ['nodes_disagree', Boolean(custody?.nodes.disagreementAt)],
    ['quorum_missing', Boolean(custody?.nodes.quorumMissingSince)],
    ['mint_skipped', custody?.mint?.ok === false],
    ['supply_above_reserve', !backing.ok],
    // Twice the minimum balance: below it the next large swap is refused.
    ['sol_low', measured.balance !== null && measured.balance < 2n * measured.floor],
    ['quote_budget_low', (database?.quotes.left ?? FEW_QUOTES) < FEW_QUOTES],
    ['bridge_fees_over_cap', measured.feesOverCap],
    ['database_behind', typeof behind === 'string' && nowMs - Date.parse(behind) > MIRROR_PATIENCE_MS],
    ['database_refuses_rows', (custody?.mirrorRefusedRows ?? 0) > 0],
    ['database_restored', custody?.mirrorRepublishing === true],
    ['cron_missing', cron?.some((beat) => !beat.ok && beat.lastRunAt !== null) === true],
  ];
  return found.flatMap(([name, raised]) => (raised ? [name] : []));
}

export type RaiseAlarmsDeps = {
  readStatus(): Promise<StatusReport>;
  readSol(): Promise<SolLevel>;
  readFeesOverCap(): Promise<boolean>;
  /** The alarms of the previous check. */
  readonly memory: TextStore;
  /** Posts JSON to the operator's webhook; absent if not configured. */
  readonly notify?: (message: AlarmMessage) => Promise<void>;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  readonly now: () => number;
};

export type AlarmMessage = {
  /** One line of text, which chat services show. */
  readonly text: string;
  readonly raised: readonly string[];
  readonly cleared: readonly string[];
  readonly active: readonly string[];
  readonly at: string;
};

const KEY = 'alarms:active';

/** Names of the alarms of the previous check. */
export const activeAlarms = async (memory: TextStore): Promise<string[]> =>
  ((await memory.get(KEY, 'text')) ?? '').split(',').filter(Boolean);

/** Compares with the previous check; a failed webhook call is retried at the next one. */
export async function raiseAlarms(d: RaiseAlarmsDeps): Promise<void> {
  const now = d.now();
  const [status, sol, feesOverCap, before] = await Promise.all([
    d.readStatus(),
    d.readSol(),
    d.readFeesOverCap(),
    activeAlarms(d.memory),
  ]);
  const active: readonly string[] = alarmsOf(status, { ...sol, feesOverCap }, now);
  const raised = active.filter((name) => !before.includes(name));
  const cleared = before.filter((name) => !active.includes(name));
  if (raised.length === 0 && cleared.length === 0) return;
  const level = raised.length > 0 ? 'alarm' : 'info';
  d.log({ level, event: 'alarms_changed', raised, cleared, active });
  const text = [
    ...(raised.length > 0 ? [`raised: ${raised.join(', ')}`] : []),
    ...(cleared.length > 0 ? [`cleared: ${cleared.join(', ')}`] : []),
  ].join('; ');
  await d.notify?.({ text: `Sluice ${text}`, raised, cleared, active, at: new Date(now).toISOString() });
  await d.memory.put(KEY, active.join(','));
}
