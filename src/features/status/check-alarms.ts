/**
 * Reports an alarm in the log and to the operator's webhook. It is sent when it is raised, when its count grows, once a
 * day while it lasts, and when it ends.
 * @module
 */
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { type Alarm, type AlarmFacts, alarmsOf, type Figures } from './alarm-rules.ts';
import { type AlarmRow, type AlarmStore, isTooNew, needsPatience } from './alarm-store.ts';

/** Names the service that reports, because several services may share a channel. */
export type Reporter = {
  /** Origin; empty if not configured. */
  readonly service: string;
};

type Change = 'raised' | 'grown' | 'lasting' | 'cleared' | 'test';

export type AlarmMessage = Reporter & {
  /** The members below as plain text, which chat services show. */
  readonly text: string;
  readonly alarms: readonly {
    readonly name: string;
    readonly change: Change;
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

type Line = Omit<AlarmMessage['alarms'][number], 'runbook'>;

const linesOf = ({ change, name, reason, since, figures, runbook }: AlarmMessage['alarms'][number]) => [
  `${change.toUpperCase()} ${name}: ${reason}`,
  [`since ${since}`, ...Object.entries(figures).map(([key, value]) => `${key} ${value ?? 'unknown'}`)].join(
    ', ',
  ),
  runbook,
];

function messageOf(
  reporter: Reporter,
  alarms: readonly Line[],
  active: readonly string[],
  at: string,
): AlarmMessage {
  const linked = alarms.map((alarm) => ({ ...alarm, runbook: `${reporter.service}/runbook#${alarm.name}` }));
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
  readFacts(): Promise<AlarmFacts>;
  readonly alarms: Pick<AlarmStore, 'note' | 'settle'>;
  /** Posts to the operator's webhook; absent if not configured. */
  readonly notify?: ((message: AlarmMessage) => Promise<void>) | undefined;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
};

/** Why an active alarm is sent now; undefined if its last message is still correct. */
function changeOf(
  { count = 1, ids = [], isOfCallers }: Alarm,
  row: AlarmRow,
  nowMs: number,
): Change | undefined {
  if (row.sentAt === null) return 'raised';
  const age = nowMs - Date.parse(row.sentAt);
  if (age >= DAY_MS) return 'lasting';
  // A message whose ids could not be read names no ids.
  const hasOther = row.ids.length > 0 && ids.some((id) => !row.ids.includes(id));
  const hasNew = count > row.count || hasOther;
  return hasNew && (!isOfCallers || age >= HOUR_MS) ? 'grown' : undefined;
}

/** Compares the current alarms with the stored ones. The next run repeats a failed webhook call. */
export async function raiseAlarms(deps: RaiseAlarmsDeps): Promise<void> {
  const facts = await deps.readFacts();
  const at = new Date(facts.nowMs).toISOString();
  const { raised, unread } = alarmsOf(facts);
  const rows = await deps.alarms.note(
    raised.map(({ name, since, count = 1, ids = [] }) => ({ name, since: since ?? at, count, ids })),
  );
  const waiting = rows.filter(
    ({ name, since, sentAt }) => sentAt === null && isTooNew(name, since, facts.nowMs),
  );
  const active = raised.filter(({ name }) => !waiting.some((row) => row.name === name));
  const names = active.map(({ name }) => name);
  const changes = active.flatMap((alarm): Line[] => {
    const row = rows.find(({ name }) => name === alarm.name);
    const change = row && changeOf(alarm, row, facts.nowMs);
    if (!change) return [];
    const { name, reason, figures = {} } = alarm;
    return [{ name, change, reason, figures, since: row.since }];
  });
  const lasting: readonly string[] = [...raised.map(({ name }) => name), ...unread];
  const over = rows.filter(({ name }) => !lasting.includes(name));
  // The end of an alarm is not sent if the alarm itself was not sent.
  const isUnsent = ({ name, sentAt }: AlarmRow) => sentAt === null && needsPatience(name);
  const ended = over.filter((row) => !isUnsent(row));
  const unsent = over.filter(isUnsent).map(({ name }) => name);
  if (unsent.length > 0) await deps.alarms.settle([], unsent, at);
  if (changes.length === 0 && ended.length === 0) return;
  const sent = changes.map(({ name }) => name);
  deps.log({
    level: sent.length > 0 ? 'alarm' : 'info',
    event: 'alarms_changed',
    raised: sent,
    cleared: ended.map(({ name }) => name),
    active: names,
  });
  const cleared = ended.map(({ name, since }): Line => {
    return { name, change: 'cleared', reason: 'The condition is over.', since, figures: {} };
  });
  await deps.notify?.(messageOf(deps.reporter, [...changes, ...cleared], names, at));
  await deps.alarms.settle(
    active
      .filter(({ name }) => sent.includes(name))
      .map(({ name, count = 1, ids }) => {
        const known = rows.find((row) => row.name === name)?.ids ?? [];
        return { name, count, ids: ids ?? known };
      }),
    ended.map(({ name }) => name),
    at,
  );
}
