import { describe, expect, it } from 'vitest';
import { coverageOf, UNKNOWN_COVERAGE } from '../../src/core/coverage.ts';
import { checkReady } from '../../src/features/status/checks.ts';
import { readState, type StatusReportDeps } from '../../src/features/status/get-status.ts';
import { statusRoutes } from '../../src/features/status/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { routerOver } from '../kit/router.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const cap = {
  ...({ label: 'SOL in a window', unit: 'lamports', windowMs: 3_600_000, availableAt: null } as const),
  ...{ used: 500_000_000n, maximum: 4_000_000_000n },
};
const broken = async (): Promise<never> => {
  throw new Error('secret-of-the-inside');
};

const newCache = (kv?: Pick<KVNamespace, 'get' | 'put'>): Cache =>
  new Cache({ kv, now: () => NOW, defer: () => undefined });

const COVERED = coverageOf(
  { value: { confirmed: '55' }, asOf: NOW, stale: false },
  { value: { atoms: '50', decimals: 0 }, asOf: NOW, stale: false },
  true,
);

const UP = { name: 'rpc', ok: true, needed: true, ms: 1 };
const SOLANA = {
  ...{ nodes: 2, quorum: 2, disagreement: null, quorumMissingSince: null, quorumMissing: null },
  ...({ stalledSince: null, consensus: 'unknown' } as const),
};
const LIMITS = [
  ...(['hour', 'day', 'unsettled'] as const).map((name) => ({ name, ...cap })),
  { name: 'cost_day' as const, ...cap, used: 5_000_000_000n },
];
const ISO = new Date(NOW).toISOString();
const HEALTHY: StatusReportDeps = {
  ...{ cache: newCache(), memory: newCache() },
  custody: {
    report: async () => ({
      ...{ watchOnly: false, solana: SOLANA, openCircuits: [], mint: null, release: 'v1', lastWakeMs: NOW },
      ...{ swapsRefused: null, unexplainedSpends: [], frozen: null, paused: null, openOperations: 1 },
      ...{ heldOperations: 0, undeliveredSinceMs: null, refusedRows: 0, mirrorRestored: false },
      ...{ limits: LIMITS, quotes: { used: 3, maximum: 100 }, bridgeFault: null },
    }),
  },
  database: { columns: async () => ['a.b'], latestOperations: async () => [] },
  readBeats: async () => [{ trigger: 'minute', lastRunAt: ISO, ok: true }],
  ...{ checkReady: async () => [], readCoverage: async () => COVERED, readAlarms: async () => [] },
  readRelease: async () => ({ version: '0.1.0', commit: 'c', id: 'v', deployedAt: ISO }),
  ...{ probeUpstreams: async () => [UP], openCircuits: () => [], now: () => NOW },
};
type Over = Partial<StatusReportDeps>;
/** A custodian whose report differs by this. */
const custody = (change: object): Over => ({
  custody: { report: async () => ({ ...(await HEALTHY.custody.report()), ...change }) },
});
const look = (over: Over = {}) =>
  readState({ ...HEALTHY, cache: newCache(), memory: newCache(), ...over }).then(({ status }) => status);

describe('the status', () => {
  it('the status is green while every upstream that money depends on works, even if others are down', async () => {
    const down = { name: 'relay-1', ok: false, needed: false, ms: 4_000 };
    const status = await look({ probeUpstreams: async () => [UP, down] });
    expect(status).toMatchObject({
      ok: true,
      backing: { ok: true, reserveSatoshis: '55', supplyAtoms: '50', gapSatoshis: '5', ratio: 1.1 },
      alarms: [],
      stale: false,
    });
    expect(status.custody?.limits).toMatchObject([
      { name: 'hour', label: 'SOL in a window' },
      { name: 'day' },
      { name: 'unsettled', used: '500000000', maximum: '4000000000', left: '3500000000' },
      { name: 'cost_day', left: '0' },
    ]);
  });

  it.each<[string, Over, string]>([
    ['closed while neither the Worker nor the custodian skips the upstream', {}, 'closed'],
    ['open while the Worker skips the upstream', { openCircuits: () => ['rpc'] }, 'open'],
    ['open while the custodian skips the upstream', custody({ openCircuits: ['rpc'] }), 'open'],
  ])('the status shows a circuit as %s', async (_when, over, circuit) => {
    expect((await look(over)).upstreams).toMatchObject([{ name: 'rpc', circuit }]);
  });

  const unset = { name: 'config', ok: false, reason: 'missing or invalid: X' };
  const short = { ...COVERED, state: 'short' as const, gapSatoshis: '-1' };
  it.each<[string, Over]>([
    ['money needs an upstream that is down', { probeUpstreams: async () => [{ ...UP, ok: false }] }],
    ['the custodian does not respond', { custody: { report: broken } }],
    ['every swap is refused', custody({ swapsRefused: { code: 'SWAP_LIMIT_REACHED', sinceMs: NOW } })],
    ['a setting is missing', { checkReady: async () => [unset] }],
    ['signing is paused', custody({ paused: 'operator' })],
    ['the database does not respond', { database: { ...HEALTHY.database, columns: broken } }],
    ['the cron cannot be read', { readBeats: broken }],
    ['tokens are not covered', { readCoverage: async () => short }],
    ['it is not known whether tokens are covered', { readCoverage: async () => UNKNOWN_COVERAGE }],
  ])('the status is red when %s', async (_why, over) => {
    const deps = { ...HEALTHY, cache: newCache(), memory: newCache(), ...over };
    const { status, checks } = await readState(deps);
    expect(status.ok).toBe(false);
    expect(checks.some(({ ok, reason }) => !ok && reason !== null)).toBe(true);
  });

  it("a new isolate shows the cron's probes from KV and does not wait for its own", async () => {
    const { kv } = createKv();
    await readState({ ...HEALTHY, cache: newCache(kv) }, true);
    const later = new Cache({ kv, now: () => NOW + 140_000, defer: () => undefined });
    const hangs = () => new Promise<never>(() => undefined);
    const { upstreams, as_of } = await look({ cache: later, probeUpstreams: hangs });
    expect([upstreams, as_of]).toMatchObject([[{ name: 'rpc', ok: true }], new Date(NOW).toISOString()]);
  });

  it('the as_of time of the status is the time of its oldest figure', async () => {
    const as_of = new Date(NOW - 120_000).toISOString();
    expect((await look({ readCoverage: async () => ({ ...COVERED, as_of }) })).as_of).toBe(as_of);
  });

  it('the status shows null for a part that it cannot read, and no internal reason', async () => {
    const status = await look({
      custody: { report: broken },
      readBeats: broken,
      readCoverage: async () => UNKNOWN_COVERAGE,
      readAlarms: broken,
      database: { ...HEALTHY.database, latestOperations: broken },
    });
    expect(status).toMatchObject({
      ...{ cron: null, custody: null, database: null, operations: null, alarms: null, stale: false },
      backing: { ok: false, ...UNKNOWN_COVERAGE },
    });
    expect(JSON.stringify(status)).not.toContain('secret-of-the-inside');
  });
});

const NOT_COMPARED = 'unverified: the journal has not been compared with the database and the chain yet';
const BEHIND = 'signing is frozen: journal_behind_mirror';
it.each<[string, string | null | undefined, string, number, string | null]>([
  ['is verified', null, 'running', 200, null],
  ['has not compared its journal', 'unverified', 'starting', 503, NOT_COMPARED],
  ['found its journal behind', 'journal_behind_mirror', 'running', 503, BEHIND],
  ['does not respond', undefined, 'starting', 503, 'does not respond'],
])('health and readiness reflect a custodian that %s', async (_what, frozen, state, status, reason) => {
  const signingState = frozen === undefined ? broken : async () => ({ frozen, watchOnly: true });
  const checks = { missingVariables: [], pingDatabase: async () => undefined, signingState };
  const deps = { ...HEALTHY, memory: newCache(), signingState, checkReady: () => checkReady(checks) };
  const call = routerOver(
    () => ({ status: deps }),
    (app) => app.route('/api', statusRoutes),
  );
  const health = await call('/api/health');
  expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ ok: true, state })]);
  const ready = await call('/api/ready');
  expect(ready.status).toBe(status);
  expect(await ready.json()).toMatchObject({
    checks: expect.arrayContaining([{ name: 'custody', ok: reason === null, reason }]),
  });
});
