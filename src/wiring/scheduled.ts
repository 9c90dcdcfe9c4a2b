/**
 * The tasks of the cron triggers.
 * @module
 */
import type { Deps } from '../app.ts';
import { AppError, failureReason, upstreamFailed } from '../core/errors.ts';
import { prewarmCurrencies } from '../features/exchange/quote.ts';
import { findPool } from '../features/pools/get-pool.ts';
import { getProof } from '../features/reserves/get-proof.ts';
import { getReserves } from '../features/reserves/get-reserves.ts';
import { alertUndercollateralized } from '../features/reserves/get-summary.ts';
import { listBitcoin, listSolana } from '../features/reserves/list-transactions.ts';
import { createAlarmStore } from '../features/status/alarm-store.ts';
import { raiseAlarms } from '../features/status/check-alarms.ts';
import { createHeartbeat, readState, type StatusReport } from '../features/status/get-status.ts';
import { purgeUnpaid } from '../features/tokens/unpaid-store.ts';
import { within } from '../http/within.ts';
import { ask, type Fetch } from '../providers/http.ts';
import { apiDeps, sourcesFor } from './api.ts';
import { alarmFacts, alarmWebhook, reporterOf } from './oversight.ts';
import { fetchFor, type Wired } from './telemetry.ts';

type ScheduledTask = { readonly name: string; readonly run: () => Promise<unknown> };

/** Maximum time that this minute's alarm rules wait for the custodian's `wake`. */
const WAKE_MS = 20_000;
/** A task that takes longer is treated as failed, because the next run starts after a minute. */
const LONGEST_MS = 55_000;
const MONITOR_MS = 5_000;
/** The tasks without which the outside monitor is not called. */
const MONITORED = ['wake', 'alarms'];
const EVERY_MINUTE = '* * * * *';

/** Runs the tasks of a trigger separately: a failing task is logged and does not stop the others. */
export async function runScheduled(cron: string, env: Env): Promise<void> {
  const tasks = cron === EVERY_MINUTE ? minuteTasks(env) : dailyTasks(env);
  const { config, log } = sourcesFor(env);
  /** Whether the task succeeded. */
  async function attempt({ name, run }: ScheduledTask): Promise<boolean> {
    try {
      const ended = await within(
        run().then(() => true),
        LONGEST_MS,
      );
      if (ended === undefined) throw upstreamFailed(name, 'timeout');
      return true;
    } catch (error) {
      log({ level: 'alarm', event: 'scheduled_task_failed', task: name, reason: failureReason(error) });
      return false;
    }
  }
  const succeeded = await Promise.all(tasks.map(attempt));
  const isDone = tasks.every(({ name }, index) => !MONITORED.includes(name) || succeeded[index]);
  const url = config.HEARTBEAT_URL;
  if (cron === EVERY_MINUTE && isDone && url !== undefined)
    await attempt({
      name: 'heartbeat_url',
      run: async () => {
        const call = callMonitor(url, fetchFor(config, 'HEARTBEAT_URL'));
        await createHeartbeat(env.KV).noted('monitor', Date.now(), call);
        await call;
      },
    });
}

/** Tells an outside monitor that this run has woken the custodian and checked the alarms. @throws AppError UPSTREAM_FAILED, without the URL */
async function callMonitor(url: string, fetch: Fetch): Promise<void> {
  const { status } = await ask({ fetch, upstream: 'heartbeat', url, timeoutMs: MONITOR_MS });
  if (status < 200 || status > 299) throw upstreamFailed('heartbeat', `status_${status}`);
}

/** One of these tasks sets the custodian's timer again if the platform has lost it. */
function minuteTasks(env: Env): readonly ScheduledTask[] {
  const { config, custody, log, reserve } = sourcesFor(env);
  const deps = apiDeps(env);
  const { now } = deps.status;
  const heartbeat = createHeartbeat(env.KV);
  const beaten = heartbeat.beat('minute', now());
  const woken = custody.wake();
  /**
   * Reads the heartbeat only after the write, because KV caches a read for a minute. Reads the custodian after `wake`,
   * so that this run reports everything that `wake` finds.
   */
  const readStatus = async () => {
    await Promise.allSettled([beaten, within(woken, WAKE_MS)]);
    return (await readState(deps.status, true)).status;
  };
  return [
    { name: 'heartbeat', run: () => beaten },
    { name: 'wake', run: () => woken },
    { name: 'alert_undercollateralized', run: () => alertUndercollateralized({ ...deps.reserves, log }) },
    ...(reserve.bitcoinAddress && reserve.solanaAddress ? prewarmedReads(deps) : []),
    ...prewarmedPools(deps),
    { name: 'alarms', run: async () => watchAlarms(env, config, await readStatus()) },
  ];
}

/**
 * The mint's own cron, after midnight UTC. The first run after the mint's time starts the day's operation in the
 * custodian.
 */
const dailyTasks = (env: Env): readonly ScheduledTask[] => [
  { name: 'heartbeat', run: () => createHeartbeat(env.KV).beat('daily', Date.now()) },
  { name: 'wake', run: () => sourcesFor(env).custody.wake() },
  { name: 'purge_unpaid', run: () => purgeUnpaid(env.DB, Date.now()) },
];

/** Reports alarms in the log, and to the operator's webhook if one is configured. */
function watchAlarms(env: Env, config: Wired, status: StatusReport): Promise<void> {
  const sources = sourcesFor(env);
  return raiseAlarms({
    reporter: reporterOf(config),
    readFacts: () => alarmFacts(sources, status),
    alarms: createAlarmStore(env.DB),
    notify: alarmWebhook(config, env.KV),
    log: sources.log,
  });
}

/** Values that the cron reads for all isolates. */
const prewarmedReads = ({ reserves, swap, exchange: { changenow, ...exchange } }: Deps) => [
  { name: 'prewarm_reserves', run: () => getReserves(reserves, true) },
  { name: 'prewarm_bitcoin_list', run: () => listBitcoin(reserves, true) },
  { name: 'prewarm_solana_list', run: () => listSolana(reserves, true) },
  { name: 'prewarm_proof', run: () => getProof(reserves, true).catch(ignoreNotConfigured) },
  // If the smallest swap is outdated, the custodian requests a quote. The response also raises or ends the bridge's
  // alarms.
  { name: 'read_minimum', run: () => swap.custody.swapRoom() },
  {
    name: 'prewarm_currencies',
    run: async () =>
      changenow && prewarmCurrencies({ ...exchange, changenow }, reserves.now()).catch(() => undefined),
  },
];

/** If one of these reads fails, the status shows why, and callers get the last value. */
const prewarmedPools = ({ pools }: Deps): readonly ScheduledTask[] =>
  [...new Set(Object.values(pools.addresses))].map((address) => ({
    name: 'prewarm_pool',
    run: () => findPool(pools, address, true).catch(() => undefined),
  }));

/** A watch-only reserve has no proof until the operator's first signature. */
function ignoreNotConfigured(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'NOT_CONFIGURED')) throw error;
}
