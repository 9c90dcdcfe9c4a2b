/**
 * Stores the active alarms in D1, because locations with different copies of KV would report one alarm twice. While D1 does
 * not respond, KV stores new alarms; the first run after the outage moves them to D1.
 * @module
 */
import * as z from 'zod';
import { parseJson } from '../../core/json.ts';
import type { TextStore } from './get-status.ts';

const AlarmRow = z.object({
  name: z.string(),
  /** When it was first raised, ISO 8601. */
  since: z.string(),
  /** Whether the alarm was written to the log and sent to the webhook. */
  reported: z.boolean(),
});
export type AlarmRow = z.output<typeof AlarmRow>;

export type AlarmStore = ReturnType<typeof createAlarmStore>;

const OUTAGE_KEY = 'alarms:outage';

export function createAlarmStore(db: D1Database, kv: TextStore) {
  async function readOutage(): Promise<AlarmRow[]> {
    const text = await kv.get(OUTAGE_KEY, 'text');
    return text ? z.array(AlarmRow).parse(parseJson(text)) : [];
  }
  const writeOutage = (rows: readonly AlarmRow[]) =>
    kv.put(OUTAGE_KEY, rows.length === 0 ? '' : JSON.stringify(rows));
  const insert = ({ name, since, reported }: AlarmRow) =>
    db
      .prepare('INSERT INTO alarms (name, since, reported) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .bind(name, since, Number(reported));
  const select = () => db.prepare('SELECT name, since, reported FROM alarms ORDER BY since, name');
  type Stored = { name: string; since: string; reported: number };
  return {
    /** Stores the names that have no row yet. Returns every row, including alarms whose end was not reported yet. */
    async note(names: readonly string[], at: string): Promise<AlarmRow[]> {
      const outage = await readOutage();
      const fresh = names
        .filter((name) => !outage.some((row) => row.name === name))
        .map((name) => ({ name, since: at, reported: false }));
      const rows = [...outage, ...fresh];
      try {
        const results = await db.batch<Stored>([...rows.map(insert), select()]);
        if (outage.length > 0) await writeOutage([]);
        const stored = results.at(-1)?.results ?? [];
        return stored.map((row) => ({ ...row, reported: row.reported === 1 }));
      } catch {
        if (fresh.length > 0) await writeOutage(rows);
        return rows;
      }
    },
    /** Marks reported alarms, and removes those whose end was reported. */
    async settle(reported: readonly string[], ended: readonly string[]): Promise<void> {
      try {
        await db.batch([
          ...reported.map((name) => db.prepare('UPDATE alarms SET reported = 1 WHERE name = ?').bind(name)),
          ...ended.map((name) => db.prepare('DELETE FROM alarms WHERE name = ?').bind(name)),
        ]);
      } catch {
        const rows = (await readOutage()).filter(({ name }) => !ended.includes(name));
        await writeOutage(
          rows.map((row) => (reported.includes(row.name) ? { ...row, reported: true } : row)),
        );
      }
    },
    /** The stored names. */
    async names(): Promise<string[]> {
      try {
        return (await select().all<Stored>()).results.map(({ name }) => name);
      } catch {
        return (await readOutage()).map(({ name }) => name);
      }
    },
  };
}
