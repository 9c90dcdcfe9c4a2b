/**
 * Builds the dependencies of the operator's route, the status and the alarms.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { Deps } from '../app.ts';
import type { Config } from '../config.ts';
import { failureReason } from '../core/errors.ts';
import { listBalances } from '../features/ops/list-balances.ts';
import { createRefundStore } from '../features/ops/refund-store.ts';
import type { OpsReport } from '../features/ops/routes.ts';
import { getReserves } from '../features/reserves/get-reserves.ts';
import { readCoverage } from '../features/reserves/get-summary.ts';
import type { AlarmFacts } from '../features/status/alarm-rules.ts';
import { createAlarmStore } from '../features/status/alarm-store.ts';
import { type AlarmMessage, type Reporter, testMessage } from '../features/status/check-alarms.ts';
import { checkReady } from '../features/status/checks.ts';
import { createDatabaseStore } from '../features/status/database-store.ts';
import { createHeartbeat, readRelease, readState, type StatusReport } from '../features/status/get-status.ts';
import { readOperatorState, stateText } from '../features/status/operator-state.ts';
import { atPriority } from '../providers/admission.ts';
import { createWebhook } from '../providers/webhook.ts';
import { missingAnywhere, missingFor } from './missing-settings.ts';
import { accountReader, knownMints, reservesDeps, type Sources } from './sources.ts';
import { fetchFor, type Wired } from './telemetry.ts';
import { type UpstreamProbed, upstreamProbes } from './upstream-probes.ts';

export function opsDeps(sources: Sources): Deps['ops'] {
  return {
    opsSecret: sources.config.OPS_SECRET,
    custody: sources.custody,
    refunds: createRefundStore(sources.env.DB),
    missingForMint: missingFor(sources.config, 'mint'),
    probeUpstreams: () => probeAll(sources),
    sendTestAlarm: testAlarmOf(sources.config, sources.env.KV),
    readState: () => showState(sources),
  };
}

/** The facts that decide the alarms, with a status that was just read. */
export async function alarmFacts(sources: Sources, status: StatusReport): Promise<AlarmFacts> {
  const { config, custody, reserve } = sources;
  const readSol = async () =>
    reserve.solanaAddress ? (await getReserves(reservesDeps(sources))).solana?.balanceLamports : null;
  const [view, balance] = await Promise.all([
    custody.operatorView().catch(() => null),
    readSol().catch(() => null),
  ]);
  const level = { balance: balance == null ? null : BigInt(balance), floor: config.RESERVE_FLOOR_SOL };
  return { status, view, level, nowMs: Date.now() };
}

async function showState(sources: Sources): Promise<OpsReport> {
  const { config, env, custody } = sources;
  const balances = {
    reserve: sources.reserve,
    treasuryAddress: sources.treasuryAddress,
    knownMints: knownMints(config),
    bitcoinSources: sources.esploras,
    readAccounts: accountReader(sources.rpc),
  };
  const state = await readOperatorState({
    readBalances: () => listBalances(balances),
    readState: () => readState(statusDeps(sources)),
    readFacts: (status) => alarmFacts(sources, status),
    probeNodes: () => custody.probeNodes(),
    databaseBytes: () => createDatabaseStore(env.DB).bytes(),
    readCalls: () => createHeartbeat(env.KV).calls(),
    operatingFloat: config.OPERATING_FLOAT_SOL,
    ...reporterOf(config),
  });
  return { ok: state.isComplete, message: stateText(state), state };
}

/**
 * Health and readiness are polled often, so an isolate reads the custodian and the database at most once in this time.
 */
const READY_POLICY = { freshMs: 2_000, revalidateMs: 0, staleMs: 0 };

export function statusDeps(sources: Sources): Deps['status'] {
  const { env, config, cache, memory, custody } = sources;
  const signingState = async () =>
    (await memory.read('signing-state', READY_POLICY, () => custody.signingState())).value;
  const ready = () =>
    checkReady({
      missingVariables: missingAnywhere(config),
      pingDatabase: () => createDatabaseStore(env.DB).ping(),
      signingState: () => custody.signingState(),
    });
  return {
    cache,
    memory,
    custody,
    reserveAddress: sources.reserve.solanaAddress,
    signingState,
    checkReady: async () => (await memory.read('ready', READY_POLICY, ready)).value,
    database: createDatabaseStore(sources.reads),
    readBeats: (nowMs) => createHeartbeat(env.KV).read(nowMs, env.VERSION?.timestamp),
    readCoverage: () => readCoverage(reservesDeps(sources)),
    probeUpstreams: async () =>
      (await probeAll(sources)).map(({ name, ok, needed, ms }) => ({ name, ok, needed, ms })),
    openCircuits: () => config.admission.openCircuits(),
    readAlarms: () => createAlarmStore(env.DB).rows(),
    readRelease: () => readRelease({ assets: env.ASSETS, memory, metadata: env.VERSION }),
    now: Date.now,
  };
}

/** The name of this service in alarm messages. */
export const reporterOf = (config: Config): Reporter => ({
  service: config.PUBLIC_BASE_URL ?? '',
});

/** Undefined if no webhook is configured. */
export function alarmWebhook(
  config: Wired,
  kv: KVNamespace,
): ((message: AlarmMessage) => Promise<void>) | undefined {
  const { ALARM_WEBHOOK_URL: url } = config;
  if (url === undefined) return undefined;
  const post = createWebhook({ url, fetch: fetchFor(config, 'ALARM_WEBHOOK_URL') });
  return (message) => {
    const call = post(message);
    waitUntil(createHeartbeat(kv).noted('webhook', Date.now(), call));
    return call;
  };
}

function testAlarmOf(config: Wired, kv: KVNamespace): (() => Promise<string>) | undefined {
  const notify = alarmWebhook(config, kv);
  return (
    notify &&
    (async () => {
      const message = testMessage(reporterOf(config), new Date().toISOString());
      await notify(message);
      return message.text;
    })
  );
}

/** Probes every upstream. The custodian probes its own nodes, because nothing else may call them. */
async function probeAll(sources: Sources): Promise<UpstreamProbed[]> {
  const own = upstreamProbes(sources).map(async ({ name, needed, ask }): Promise<UpstreamProbed> => {
    const failure = await atPriority('probe', ask).then(() => null, failureReason);
    return { name, ok: failure === null, needed, ms: sources.config.admission.durationOf(name), failure };
  });
  const nodes = await sources.custody
    .probeNodes()
    .catch((error: unknown) => [{ name: 'solana-rpc', ms: 0, failure: failureReason(error), slot: null }]);
  return [
    ...nodes.map(({ name, ms, failure }) => ({ name, ms, failure, ok: failure === null, needed: true })),
    ...(await Promise.all(own)),
  ];
}
