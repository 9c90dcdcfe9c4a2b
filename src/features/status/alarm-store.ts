/**
 * Stores the active alarms in D1, so that each is reported once. While D1 does not respond, nothing is stored, and each run
 * reports its alarms again.
 * @module
 */
type AlarmRow = {
  readonly name: string;
  /** When it was first raised, ISO 8601. */
  readonly since: string;
  /** Whether the alarm was written to the log and sent to the webhook. */
  readonly reported: boolean;
};

export type AlarmStore = ReturnType<typeof createAlarmStore>;

export function createAlarmStore(db: D1Database) {
  const select = () => db.prepare('SELECT name, since, reported FROM alarms ORDER BY since, name');
  type Stored = { name: string; since: string; reported: number };
  return {
    /** Stores the names that have no row yet. Returns every row, including alarms whose end was not reported yet. */
    async note(names: readonly string[], at: string): Promise<AlarmRow[]> {
      const insert = db.prepare(
        'INSERT INTO alarms (name, since, reported) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
      );
      try {
        const results = await db.batch<Stored>([...names.map((name) => insert.bind(name, at)), select()]);
        const stored = results.at(-1)?.results ?? [];
        return stored.map((row) => ({ ...row, reported: row.reported === 1 }));
      } catch {
        return names.map((name) => ({ name, since: at, reported: false }));
      }
    },
    /** Marks reported alarms, and removes those whose end was reported. If D1 fails, the next run reports them again. */
    async settle(reported: readonly string[], ended: readonly string[]): Promise<void> {
      const changes = [
        ...reported.map((name) => db.prepare('UPDATE alarms SET reported = 1 WHERE name = ?').bind(name)),
        ...ended.map((name) => db.prepare('DELETE FROM alarms WHERE name = ?').bind(name)),
      ];
      await db.batch(changes).catch(() => undefined);
    },
    /** The stored names. */
    async names(): Promise<string[]> {
      return (await select().all<Stored>()).results.map(({ name }) => name);
    },
  };
}
