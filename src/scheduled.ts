/**
 * The cron triggers' tasks. They run separately: a failing task is logged and does not stop the others.
 * @module
 */
import { failureReason } from './providers/solana-rpc.ts';

export type ScheduledTask = { readonly name: string; readonly run: () => Promise<unknown> };

export type ScheduledDeps = {
  /** Every minute; also sets lost alarms again. */
  readonly everyMinute: readonly ScheduledTask[];
  /** Once a day, after midnight UTC. */
  readonly daily: readonly ScheduledTask[];
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
};

const EVERY_MINUTE = '* * * * *';

export async function runScheduled(cron: string, d: ScheduledDeps): Promise<void> {
  const tasks = cron === EVERY_MINUTE ? d.everyMinute : d.daily;
  await Promise.all(
    tasks.map(async ({ name, run }) => {
      try {
        await run();
      } catch (error) {
        d.log({ level: 'alarm', event: 'scheduled_task_failed', task: name, reason: failureReason(error) });
      }
    }),
  );
}
