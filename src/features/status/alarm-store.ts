/**
 * Stores the active alarms in D1, so that each is sent only once. While D1 does not respond, alarms are not stored, and
 * each run sends its alarms again.
 * @module
 */
import { timely } from './database-store.ts';

type Counted = {
  readonly name: string;
  readonly count: number;
  /** Ids of the things that the alarm is about; empty if they have none. */
  readonly ids: readonly string[];
};

type Begun = Counted & {
  /** When the condition began, as known when the alarm was first raised, ISO 8601. */
  readonly since: string;
};

export type AlarmRow = Begun & {
  /**
   * When the log and the webhook last received the alarm, ISO 8601; null before they did. `count` is the lowest count
   * since then, `ids` the ids in that message.
   */
  readonly sentAt: string | null;
};

/** How long an alarm must last before it is sent, in milliseconds, because most causes end by themselves. */
const PATIENCE_MS: Readonly<Record<string, number>> = { source_down: 10 * 60_000 };

/** Whether an alarm is sent only after the time in `PATIENCE_MS`. */
export const needsPatience = (name: string): boolean => name in PATIENCE_MS;

/** True if an alarm has not lasted long enough to be sent. @param since when it was first raised, ISO 8601 */
export const isTooNew = (name: string, since: string, nowMs: number): boolean =>
  nowMs - Date.parse(since) < (PATIENCE_MS[name] ?? 0);

type StoredRow = Omit<AlarmRow, 'ids'> & { readonly ids: string };

export type AlarmStore = ReturnType<typeof createAlarmStore>;

export function createAlarmStore(db: D1Database) {
  const select = () =>
    db.prepare(
      'SELECT name, since, sent_at AS sentAt, things AS count, ids FROM alarms ORDER BY since, name',
    );
  const rowOf = (row: StoredRow): AlarmRow => ({ ...row, ids: JSON.parse(row.ids) });
  return {
    /**
     * Adds a row for each new alarm, and lowers a stored count if the current count is lower. Returns every row,
     * including alarms whose end has not been sent yet.
     */
    async note(active: readonly Begun[]): Promise<AlarmRow[]> {
      const insert = db.prepare(
        `INSERT INTO alarms (name, since, things, ids) VALUES (?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET things = excluded.things
         WHERE excluded.things < things`,
      );
      try {
        const batch = db.batch<StoredRow>([
          ...active.map(({ name, since, count, ids }) =>
            insert.bind(name, since, count, JSON.stringify(ids)),
          ),
          select(),
        ]);
        const results = await timely(batch);
        return results.at(-1)?.results.map(rowOf) ?? [];
      } catch {
        return active.map((alarm) => ({ ...alarm, sentAt: null }));
      }
    },
    /** Stores what was sent, and deletes the alarms whose end was sent. If D1 fails, the next run sends them again. */
    async settle(sent: readonly Counted[], ended: readonly string[], at: string): Promise<void> {
      const update = db.prepare('UPDATE alarms SET sent_at = ?, things = ?, ids = ? WHERE name = ?');
      const changes = [
        ...sent.map(({ name, count, ids }) => update.bind(at, count, JSON.stringify(ids), name)),
        ...ended.map((name) => db.prepare('DELETE FROM alarms WHERE name = ?').bind(name)),
      ];
      await timely(db.batch(changes)).catch(() => undefined);
    },
    async rows(): Promise<AlarmRow[]> {
      return (await select().all<StoredRow>()).results.map(rowOf);
    },
  };
}
