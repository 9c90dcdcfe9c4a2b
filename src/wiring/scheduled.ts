/**
 * The tasks of the cron triggers.
 * @module
 */
import type { Deps } from '../app.ts';
import { AppError, failureReason } from '../core/errors.ts';
import { prewarmCurrencies } from '../features/exchange/quote.ts';
import { findPool } from '../features/pools/get-pool.ts';
import { getProof } from '../features/reserves/get-proof.ts';
import { getReserves } from '../features/reserves/get-reserves.ts';
import { alertUndercollateralized } from '../features/reserves/get-summary.ts';
import { listBitcoin, listSolana } from '../features/reserves/list-transactions.ts';
import { createAlarmStore } from '../features/status/alarm-store.ts';
import { type RaiseAlarmsDeps, raiseAlarms } from '../features/status/check-alarms.ts';
import { createHeartbeat, getStatus } from '../features/status/get-status.ts';
import { purgeUnpaid } from '../features/tokens/unpaid-store.ts';
import { alarmWebhook, apiDeps, reporterOf, sourcesFor } from './api.ts';
import type { Wired } from './telemetry.ts';

type ScheduledTask = { readonly name: string; readonly run: () => Promise<unknown> };

const EVERY_MINUTE = '* * * * *';

/** Runs the tasks of a trigger separately: a failing task is logged and does not stop the others. */
export async function runScheduled(cron: string, env: Env): Promise<void> {
  const tasks = cron === EVERY_MINUTE ? minuteTasks(env) : dailyTasks(env);
  const { log } = sourcesFor(env);
  await Promise.all(
    tasks.map(async ({ name, run }) => {
      try {
        await run();
      } catch (error) {
        log({ level: 'alarm', event: 'scheduled_task_failed', task: name, reason: failureReason(error) });
      }
    }),
  );
}

/** One of these tasks sets the custodian's alarm again if it was lost. */
function minuteTasks(env: Env): readonly ScheduledTask[] {
  const { config, custody, log, reserve } = sourcesFor(env);
  const deps = apiDeps(env);
  const { now } = deps.status;
  const heartbeat = createHeartbeat(env.KV);
  const beaten = heartbeat.beat('minute', now());
  /** Reads the heartbeat only after the write, because KV caches a read for a minute. */
  const readStatus = () => beaten.catch(() => undefined).then(() => getStatus(deps.status, true));
  return [
    { name: 'heartbeat', run: () => beaten },
    { name: 'wake', run: () => custody.wake() },
    { name: 'alert_undercollateralized', run: () => alertUndercollateralized({ ...deps.reserves, log }) },
    ...(reserve.bitcoinAddress && reserve.solanaAddress ? prewarmedReads(deps) : []),
    ...prewarmedPools(deps),
    { name: 'alarms', run: () => watchAlarms(env, config, deps, readStatus) },
  ];
}

/**
 * After midnight UTC: the mint's own cron. The first tick after the mint's time begins the day's operation in the
 * custodian.
 */
const dailyTasks = (env: Env): readonly ScheduledTask[] => [
  { name: 'heartbeat', run: () => createHeartbeat(env.KV).beat('daily', Date.now()) },
  { name: 'wake', run: () => sourcesFor(env).custody.wake() },
  { name: 'purge_unpaid', run: () => purgeUnpaid(env.DB, Date.now()) },
];

/** Reports each alarm once: in the log, and to the operator's webhook if one is configured. */
function watchAlarms(
  env: Env,
  config: Wired,
  { log, reserves, status }: Pick<Deps, 'log' | 'reserves' | 'status'>,
  readStatus: RaiseAlarmsDeps['readStatus'],
): Promise<void> {
  return raiseAlarms({
    reporter: reporterOf(config),
    readStatus,
    readSol: async () => {
      const solana = reserves.reserve.solanaAddress ? (await getReserves(reserves)).solana : undefined;
      const balance = solana?.balanceLamports ?? null;
      return { balance: balance === null ? null : BigInt(balance), floor: config.RESERVE_FLOOR_SOL };
    },
    alarms: createAlarmStore(env.DB),
    notify: alarmWebhook(config),
    log,
    now: status.now,
  });
}

/** Values that the cron reads for all isolates. */
const prewarmedReads = ({ reserves, swap, exchange: { changenow, ...exchange } }: Deps) => [
  { name: 'prewarm_reserves', run: () => getReserves(reserves, true) },
  { name: 'prewarm_bitcoin_list', run: () => listBitcoin(reserves, true) },
  { name: 'prewarm_solana_list', run: () => listSolana(reserves, true) },
  { name: 'prewarm_proof', run: () => getProof(reserves, true).catch(ignoreNotConfigured) },
  // The custodian asks the bridge once its bound is outdated, which also ends or raises the bridge's alarms.
  { name: 'read_minimum', run: () => swap.custody.swapRoom() },
  {
    name: 'prewarm_currencies',
    run: async () =>
      changenow && prewarmCurrencies({ ...exchange, changenow }, reserves.now()).catch(() => undefined),
  },
];

/** If this read fails, the status shows why, and requests get the last value. */
const prewarmedPools = ({ pools }: Deps): readonly ScheduledTask[] =>
  [...new Set(Object.values(pools.addresses))].map((address) => ({
    name: 'prewarm_pool',
    run: () => findPool(pools, address, true).catch(() => undefined),
  }));

/** A watch-only reserve has no proof before the operator's first signature. */
function ignoreNotConfigured(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'NOT_CONFIGURED')) throw error;
}
