import { z } from '@hono/zod-openapi';
import { type Coverage, UNKNOWN_COVERAGE } from '../../core/coverage.ts';
import { DAY_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { CustodianApi } from '../../custody/api.ts';
import type { CustodyReport, LimitUse } from '../../custody/operator-api.ts';
import { refreshing } from '../../http/cache-policy.ts';
import type { Cache } from '../../http/cached.ts';
import { component } from '../../http/router.ts';
import { type AlarmRow, isTooNew } from './alarm-store.ts';
import { type Check, check } from './checks.ts';
import { type DatabaseStore, type OperationLine, schemaFingerprint, timely } from './database-store.ts';

/** One upstream's state from a probe. */
export const UpstreamState = z.object({
  name: z.string(),
  ok: z.boolean(),
  needed: z.boolean().describe('Whether money depends on it; only such upstreams affect ok'),
  ms: z.int().describe('Response time in milliseconds'),
});

export type StatusReportDeps = {
  readonly cache: Cache;
  /** A cache in this isolate's memory only. */
  readonly memory: Cache;
  readonly custody: Pick<CustodianApi, 'report'>;
  readonly database: Pick<DatabaseStore, 'columns' | 'latestOperations'>;
  readonly readBeats: (nowMs: number) => ReturnType<Heartbeat['read']>;
  /** The checks, which name the missing settings and the parts that do not respond. */
  checkReady(): Promise<readonly Check[]>;
  readCoverage(): Promise<Coverage>;
  /** Alarms of the last cron run. */
  readAlarms(): Promise<readonly AlarmRow[]>;
  readRelease(): Promise<Release>;
  /** Sends one inexpensive request to every upstream. */
  probeUpstreams(): Promise<z.infer<typeof UpstreamState>[]>;
  /** Names of the upstreams that this isolate skips because they hang. */
  openCircuits(): readonly string[];
  readonly now: () => number;
};

/** The content of `/api/status`. */
export type StatusReport = {
  /** Whether every check holds. */
  readonly ok: boolean;
  readonly release: Release;
  readonly upstreams: (z.infer<typeof UpstreamState> & { circuit: 'open' | 'closed' })[];
  readonly cron: z.infer<typeof Beat>[] | null;
  readonly custody: ReturnType<typeof custodyStatus> | null;
  readonly backing: Coverage & { readonly ok: boolean };
  readonly alarms: string[] | null;
  readonly database: { readonly schema: string } | null;
  readonly operations: OperationLine[] | null;
  readonly as_of: string;
  readonly stale: boolean;
};

/**
 * The cron probes every minute and stores the result in KV, which can be a minute old. A cold isolate shows that result
 * and probes in the background.
 */
const UPSTREAM_POLICY = { freshMs: 30_000, revalidateMs: 120_000, staleMs: 300_000, kv: 'read' } as const;
const CUSTODY_POLICY = { freshMs: 5_000, revalidateMs: 10_000, staleMs: 60_000, changedByOperations: true };
const OPERATIONS = 20;

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const leftOf = ({ used, maximum }: LimitUse): bigint => (maximum > used ? maximum - used : 0n);

const limitStatus = (limit: LimitUse) => ({
  name: limit.name,
  label: limit.label,
  unit: limit.unit,
  windowSeconds: limit.windowMs === null ? null : limit.windowMs / 1_000,
  used: limit.used.toString(),
  maximum: limit.maximum.toString(),
  left: leftOf(limit).toString(),
  availableAt: isoOrNull(limit.availableAt),
});

const custodyStatus = (report: CustodyReport) => ({
  release: report.release,
  lastWakeAt: isoOrNull(report.lastWakeMs),
  swapsRefused: report.swapsRefused
    ? { code: report.swapsRefused.code, since: new Date(report.swapsRefused.sinceMs).toISOString() }
    : null,
  unexplainedSpends: report.unexplainedSpends.map((spend) => ({ ...spend, moved: [...spend.moved] })),
  frozen: report.frozen,
  paused: report.paused,
  openOperations: report.openOperations,
  heldOperations: report.heldOperations,
  mint: report.mint,
  mirrorBehindSince: isoOrNull(report.undeliveredSinceMs),
  mirrorRefusedRows: report.refusedRows,
  mirrorRestored: report.mirrorRestored,
  limits: report.limits.map(limitStatus),
  quotes: { ...report.quotes, left: Math.max(report.quotes.maximum - report.quotes.used, 0) },
  bridgeFault: report.bridgeFault,
  nodes: {
    configured: report.solana.nodes,
    quorum: report.solana.quorum,
    disagreementAt: isoOrNull(report.solana.disagreement?.at ?? null),
    quorumMissingSince: isoOrNull(report.solana.quorumMissingSince),
    stalledSince: isoOrNull(report.solana.stalledSince),
    consensus: report.solana.consensus,
  },
});

async function custodyPart(custody: StatusReportDeps['custody']) {
  const report = await custody.report();
  return { shown: custodyStatus(report), openCircuits: report.openCircuits };
}

async function databaseStatus(deps: Pick<StatusReportDeps, 'database'>) {
  const [columns, operations] = await Promise.all([
    deps.database.columns(),
    deps.database.latestOperations(OPERATIONS),
  ]);
  return { schema: schemaFingerprint(columns), operations };
}

/** The facts that decide both `/api/status` and `/api/ready`. */
export type State = { readonly status: StatusReport; readonly checks: readonly Check[] };

/**
 * The state of the whole service. A part that cannot be read is null, and the status is then not ok.
 * @param refresh true for the cron, which probes the upstreams for all isolates and does not use values older than its
 * run
 */
export async function readState(deps: StatusReportDeps, refresh = false): Promise<State> {
  const own = refresh ? { ...CUSTODY_POLICY, notBefore: Number.POSITIVE_INFINITY } : CUSTODY_POLICY;
  const [ready, release, upstreams, custody, database, cron, coverage, alarms] = await Promise.all([
    deps.checkReady(),
    deps.readRelease(),
    deps.cache.read('status:upstreams', refreshing(UPSTREAM_POLICY, refresh), () => deps.probeUpstreams()),
    deps.cache.read('status:custody', own, () => custodyPart(deps.custody)).catch(() => null),
    timely(deps.cache.read('status:database', own, () => databaseStatus(deps))).catch(() => null),
    timely(deps.readBeats(deps.now())).catch(() => null),
    deps.readCoverage().catch(() => UNKNOWN_COVERAGE),
    timely(deps.readAlarms()).then(
      (rows) => rows.filter(({ name, since }) => !isTooNew(name, since, deps.now())).map(({ name }) => name),
      () => null,
    ),
  ]);
  const skipped = [...deps.openCircuits(), ...(custody?.value.openCircuits ?? [])];
  const reads = [upstreams, custody, database].filter((read) => read !== null);
  const ages = [...reads.map(({ asOf }) => asOf), ...(coverage.as_of ? [Date.parse(coverage.as_of)] : [])];
  const shown = {
    release,
    upstreams: upstreams.value.map((upstream) => ({
      ...upstream,
      circuit: skipped.includes(upstream.name) ? ('open' as const) : ('closed' as const),
    })),
    cron,
    custody: custody?.value.shown ?? null,
    backing: { ok: coverage.state === 'covered' || coverage.state === 'no_token', ...coverage },
    alarms,
    database: database && { schema: database.value.schema },
    operations: database?.value.operations ?? null,
    as_of: new Date(Math.min(...ages)).toISOString(),
    stale: coverage.stale || reads.some((read) => read.stale),
  };
  const checks = [...ready, ...shownChecks(shown)];
  return { checks, status: { ok: checks.every(({ ok }) => ok), ...shown } };
}

type Shown = Omit<StatusReport, 'ok'>;

/** The checks of the parts of the status. A part that cannot be read fails. */
const shownChecks = (shown: Shown): Check[] => [
  ...custodyChecks(shown.custody),
  check('sources', sourcesReason(shown.upstreams)),
  check('cron', cronReason(shown.cron)),
  check('rows', shown.database === null ? 'the rows of D1 cannot be read' : null),
  check('backing', shown.backing.ok ? null : `the backing of ABSR is ${shown.backing.state}`),
];

function custodyChecks(custody: Shown['custody']): Check[] {
  if (custody === null) return [check('swaps', 'the custodian does not report')];
  const { paused, swapsRefused, nodes, heldOperations, mint, mirrorRefusedRows } = custody;
  const disagreement = nodes.disagreementAt && `nodes disagreed at ${nodes.disagreementAt}`;
  const unagreed = nodes.quorumMissingSince && `no quorum since ${nodes.quorumMissingSince}`;
  const stalled = nodes.stalledSince && `no finalized slot since ${nodes.stalledSince}`;
  return [
    check('swaps', paused ? `paused: ${paused}` : swapsRefused && `refused: ${swapsRefused.code}`),
    check('nodes', stalled ?? unagreed ?? disagreement),
    check('operations', heldOperations > 0 ? `${heldOperations} await the operator` : null),
    check('mint', mint?.ok === false ? `the daily mint waits: ${mint.reason}` : null),
    check('mirror', mirrorRefusedRows > 0 ? `rows that D1 refuses: ${mirrorRefusedRows}` : null),
  ];
}

function sourcesReason(upstreams: Shown['upstreams']): string | null {
  const failed = upstreams.filter(({ ok, needed }) => needed && !ok).map(({ name }) => name);
  return failed.length > 0 ? `do not respond: ${failed.join(', ')}` : null;
}

function cronReason(cron: Shown['cron']): string | null {
  if (cron === null) return 'the triggers cannot be read';
  const late = cron.filter(({ ok }) => !ok);
  return late.length > 0 ? `late: ${late.map(({ trigger }) => trigger).join(', ')}` : null;
}

/** The methods of KV that store one line of text per key. */
export type TextStore = {
  get(key: string, type: 'text'): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
};

export type Heartbeat = ReturnType<typeof createHeartbeat>;

/** Cron triggers, and the milliseconds without a run after which each is late. */
const PATIENCE_MS = { minute: 5 * 60_000, daily: 26 * 3_600_000 };

export const Beat = z.object({
  trigger: z.enum(['minute', 'daily']),
  lastRunAt: z.iso.datetime().nullable(),
  ok: z.boolean().describe('False if late, counted from its last run, or from the deployment'),
});

/** The newest call to the operator's webhook or to the monitor. */
export type OutsideCall = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly failure: string | null;
};
const OUTSIDE = ['webhook', 'monitor'] as const;
export type Outside = (typeof OUTSIDE)[number];

/**
 * When each cron trigger last ran. KV may lag by a minute, far less than the five minutes after which the minute
 * trigger is late.
 */
export const createHeartbeat = (kv: TextStore) => ({
  /** @param nowMs Unix milliseconds */
  async beat(trigger: keyof typeof PATIENCE_MS, nowMs: number): Promise<void> {
    await kv.put(`cron:${trigger}`, String(nowMs));
  },

  /** Stores the result of a call to the webhook or the monitor. */
  async noted(name: Outside, nowMs: number, call: Promise<unknown>): Promise<void> {
    const failure = await call.then(() => null, failureReason);
    await kv.put(`called:${name}`, JSON.stringify({ at: nowMs, failure } satisfies OutsideCall));
  },

  /** The newest call to each; null before the first call. */
  async calls(): Promise<Readonly<Record<Outside, OutsideCall | null>>> {
    const [webhook, monitor] = await Promise.all(
      OUTSIDE.map(
        async (name): Promise<OutsideCall | null> =>
          JSON.parse((await kv.get(`called:${name}`, 'text')) ?? 'null'),
      ),
    );
    return { webhook: webhook ?? null, monitor: monitor ?? null };
  },

  /**
   * @param deployedAt when the running version was uploaded, in ISO 8601; empty or undefined if unknown, and a trigger
   * that never ran is then late
   */
  async read(nowMs: number, deployedAt: string | undefined): Promise<z.infer<typeof Beat>[]> {
    return Promise.all(
      Beat.shape.trigger.options.map(async (trigger) => {
        const text = await kv.get(`cron:${trigger}`, 'text');
        const at = Number(text ?? Number.NaN);
        const hasRun = Number.isFinite(at);
        const waitedMs = nowMs - (hasRun ? at : Date.parse(deployedAt ?? ''));
        const lastRunAt = hasRun ? new Date(at).toISOString() : null;
        return { trigger, lastRunAt, ok: waitedMs < PATIENCE_MS[trigger] };
      }),
    );
  },
});

/** The build's data in the site's `build.json`, and the platform's metadata of the deployed version. */
export const Release = component('Release', {
  version: z.string().nullable().openapi({ description: 'Version of the package', example: '1.1.0' }),
  commit: z.string().nullable().describe('Commit of the build; ends in -dirty if files had been changed'),
  id: z.string().nullable().describe('Id of the deployed Worker version'),
  deployedAt: z.iso.datetime().nullable().describe('When that version was uploaded'),
}).describe('The running release');
export type Release = z.infer<typeof Release>;

const Build = z.object({ version: z.string(), commit: z.string().nullable() });

type ReleaseDeps = {
  readonly assets: Pick<Fetcher, 'fetch'>;
  /** A cache in this isolate's memory only. */
  readonly memory: Cache;
  readonly metadata: Pick<WorkerVersionMetadata, 'id' | 'timestamp'> | undefined;
};

/** The build's file changes only with a deployment, which starts new isolates. */
const BUILD_POLICY = { freshMs: DAY_MS, revalidateMs: 0, staleMs: 0 };

/** The release; version and commit are null while the build's file cannot be read. */
export async function readRelease({ assets, memory, metadata }: ReleaseDeps): Promise<Release> {
  const { version, commit } = await memory
    .read('build', BUILD_POLICY, async () => {
      const response = await assets.fetch('https://assets/build.json');
      return Build.parse(await response.json());
    })
    .then(
      ({ value }) => value,
      () => ({ version: null, commit: null }),
    );
  return { version, commit, id: metadata?.id || null, deployedAt: metadata?.timestamp || null };
}
