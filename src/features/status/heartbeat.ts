/**
 * When each cron trigger last ran. Stored in KV, which may lag by a minute; that is enough for a trigger of
 * one minute.
 * @module
 */

/** The part of KV that stores a line of text per key. */
export type TextStore = {
  get(key: string, type: 'text'): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
};

export type Heartbeat = ReturnType<typeof createHeartbeat>;

/** Names of the triggers and the age in milliseconds from which one counts as missing. */
const PATIENCE_MS = { minute: 5 * 60_000, daily: 26 * 3_600_000 } as const;
export type Trigger = keyof typeof PATIENCE_MS;
export const TRIGGERS: readonly Trigger[] = ['minute', 'daily'];

export type Beat = {
  readonly trigger: Trigger;
  /** ISO 8601; null when it never ran. */
  readonly lastRunAt: string | null;
  readonly ok: boolean;
};

export const createHeartbeat = (kv: TextStore) => ({
  /** @param nowMs Unix milliseconds */
  async beat(trigger: Trigger, nowMs: number): Promise<void> {
    await kv.put(`cron:${trigger}`, String(nowMs));
  },

  async read(nowMs: number): Promise<Beat[]> {
    return Promise.all(
      TRIGGERS.map(async (trigger) => {
        const text = await kv.get(`cron:${trigger}`, 'text');
        const at = Number(text ?? Number.NaN);
        if (!Number.isFinite(at)) return { trigger, lastRunAt: null, ok: false };
        return { trigger, lastRunAt: new Date(at).toISOString(), ok: nowMs - at < PATIENCE_MS[trigger] };
      }),
    );
  },
});
