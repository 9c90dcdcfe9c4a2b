import { afterEach, expect, it, vi } from 'vitest';
import { createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { raiseAlarms } from '../../src/features/status/check-alarms.ts';
import { checkReady } from '../../src/features/status/checks.ts';

afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => undefined);

it('alarms are sent while D1 hangs', async () => {
  vi.useFakeTimers();
  const statement = { bind: () => statement };
  const db = { prepare: () => statement, batch: never } as unknown as D1Database;
  const sent: string[] = [];
  const status = { custody: null, database: null, upstreams: [], backing: { state: 'unknown' }, cron: null };
  const raised = raiseAlarms({
    reporter: { service: '' },
    readFacts: async () => ({ status, view: null, level: { balance: null, floor: 0n }, nowMs: 0 }) as never,
    alarms: createAlarmStore(db),
    notify: async ({ active }) => void sent.push(...active),
    log: () => undefined,
  });
  await vi.advanceTimersByTimeAsync(20_000);
  await raised;
  expect(sent).toContain('status_unreadable');
});

it('a service whose D1 hangs says that the database does not respond', async () => {
  vi.useFakeTimers();
  const checks = checkReady({
    missingVariables: [],
    pingDatabase: never,
    signingState: async () => ({ frozen: null }) as never,
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await checks).toContainEqual({ name: 'database', ok: false, reason: 'does not respond' });
});
