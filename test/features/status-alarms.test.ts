import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UNKNOWN_COVERAGE } from '../../src/core/coverage.ts';
import { type AlarmStore, createAlarmStore } from '../../src/features/status/alarm-store.ts';
import {
  ALARMS,
  type AlarmMessage,
  alarmsOf,
  raiseAlarms,
  testMessage,
} from '../../src/features/status/check-alarms.ts';
import { schemaFingerprint } from '../../src/features/status/database-store.ts';
import { createHeartbeat, type StatusReport, type TextStore } from '../../src/features/status/get-status.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString();
const SOL = { balance: 10_000_000_000n, floor: 100_000_000n };

const NODES = {
  configured: 2,
  quorum: 2,
  disagreementAt: null,
  quorumMissingSince: null,
  stalledSince: null,
  consensus: 'unknown' as const,
};

const CALM: StatusReport = {
  ok: true,
  release: { version: null, commit: null, id: null, deployedAt: null },
  upstreams: [],
  cron: [
    { trigger: 'minute', lastRunAt: iso(30_000), ok: true },
    { trigger: 'daily', lastRunAt: null, ok: false },
  ],
  custody: {
    release: 'v1',
    lastWakeAt: iso(20_000),
    swapsRefused: null,
    unexplainedSpends: [],
    frozen: null,
    paused: null,
    openOperations: 1,
    heldOperations: 0,
    mint: { day: '2026-11-20', state: 'minted', reason: null, ok: true },
    mirrorBehindSince: null,
    mirrorRefusedRows: 0,
    mirrorRestored: false,
    limits: [],
    quotes: { used: 1, maximum: 120, left: 119 },
    bridgeFault: null,
    nodes: NODES,
  },
  backing: { ...UNKNOWN_COVERAGE, ok: true, state: 'covered', gapSatoshis: '5' },
  alarms: [],
  database: { schema: 'abc' },
  operations: [],
  as_of: iso(0),
  stale: false,
};
const custody = (over: object) => ({ ...CALM, custody: { ...CALM.custody, ...over } }) as StatusReport;

const STOLEN = {
  signature: 'stolen',
  time: null,
  moved: [{ mint: null, atoms: '9000000000', receiver: 'thief' }],
  memo: null,
};

const CASES: readonly (readonly [(typeof ALARMS)[number], StatusReport, typeof SOL])[] = [
  ['signing_frozen', custody({ frozen: 'unexpected_debit' }), SOL],
  ['unexplained_spend', custody({ unexplainedSpends: [STOLEN] }), SOL],
  ['swaps_refused', custody({ swapsRefused: { code: 'SWAP_LIMIT_REACHED', since: iso(600_000) } }), SOL],
  ['operation_stuck', custody({ heldOperations: 1 }), SOL],
  ['mint_skipped', custody({ mint: { day: '2026-11-20', state: 'failed', reason: 'x', ok: false } }), SOL],
  ['database_behind', custody({ mirrorBehindSince: iso(90_000) }), SOL],
  ['database_refuses_rows', custody({ mirrorRefusedRows: 1 }), SOL],
  ['database_restored', custody({ mirrorRestored: true }), SOL],
  [
    'supply_above_reserve',
    { ...CALM, backing: { ...CALM.backing, ok: false, state: 'short', gapSatoshis: '-1' } },
    SOL,
  ],
  ['sol_low', CALM, { ...SOL, balance: 199_999_999n }],
  ['quote_budget_low', custody({ quotes: { used: 115, maximum: 120, left: 5 } }), SOL],
  ['cron_missing', { ...CALM, cron: [{ trigger: 'daily', lastRunAt: iso(30 * 3_600_000), ok: false }] }, SOL],
  ['status_unreadable', { ...CALM, database: null }, SOL],
  ['status_unreadable', { ...CALM, custody: null }, SOL],
  ['nodes_disagree', custody({ nodes: { ...NODES, disagreementAt: iso(60_000) } }), SOL],
  ['bridge_fees_over_cap', custody({ bridgeFault: 'fees_over_cap' }), SOL],
  ['bridge_rejects_request', custody({ bridgeFault: 'request_rejected' }), SOL],
  ['solana_stalled', custody({ nodes: { ...NODES, stalledSince: iso(180_000) } }), SOL],
  ['quorum_missing', custody({ nodes: { ...NODES, quorumMissingSince: iso(900_000) } }), SOL],
];

describe('alarms', () => {
  it('raises no alarm when all is well, or while no daily mint has run yet', () => {
    expect(alarmsOf(CALM, SOL, NOW)).toEqual([]);
    expect(alarmsOf(CALM, { ...SOL, balance: null }, NOW)).toEqual([]);
    const briefly = { code: 'UPSTREAM_FAILED', since: iso(599_000) };
    expect(alarmsOf(custody({ swapsRefused: briefly }), SOL, NOW)).toEqual([]);
    expect(alarmsOf(custody({ mirrorBehindSince: iso(5_000), mint: null }), SOL, NOW)).toEqual([]);
  });

  it.each(CASES)('the cause of the alarm %s raises this alarm and no other', (name, status, sol) => {
    const [alarm, ...others] = alarmsOf(status, sol, NOW);
    expect([alarm?.name, others]).toEqual([name, []]);
    expect(alarm?.reason).toMatch(/^[A-Z].{10,140}\.$/);
    expect(alarm?.reason).not.toMatch(/null|undefined|NaN/);
  });

  it('low SOL after a theft names the thief before the operator sends more', () => {
    const status = custody({ unexplainedSpends: [STOLEN], frozen: 'unexplained_spend' });
    const alarms = alarmsOf(status, { ...SOL, balance: 1n }, NOW);
    expect(alarms.map(({ name }) => name)).toEqual(['unexplained_spend', 'signing_frozen', 'sol_low']);
    expect(alarms[0]?.figures).toEqual({ spends: 'stolen (9 SOL to thief)' });
    expect(alarms[2]?.figures.whereItWent).toBe('unexplained: stolen (9 SOL to thief); send none');
  });

  it('every alarm has a case in this test', () => {
    expect(new Set(CASES.map(([name]) => name))).toEqual(new Set(ALARMS));
  });
});

function memory(): TextStore {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key) ?? null,
    put: async (key, value) => void kept.set(key, value),
  };
}

/** The rows of one D1, whatever location asks. */
function rowsInOnePlace() {
  let rows: Awaited<ReturnType<AlarmStore['note']>> = [];
  return {
    async note(names: readonly string[], at: string) {
      for (const name of names)
        if (!rows.some((row) => row.name === name)) rows.push({ name, since: at, reported: false });
      return rows.map((row) => ({ ...row }));
    },
    async settle(reported: readonly string[], ended: readonly string[]) {
      rows = rows
        .filter(({ name }) => !ended.includes(name))
        .map((row) => ({ ...row, reported: row.reported || reported.includes(row.name) }));
    },
  };
}

describe('a change of alarms', () => {
  const reporter = { service: 'https://sluice.example' };
  function watched(notify?: (message: AlarmMessage) => Promise<void>) {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const alarms = rowsInOnePlace();
    const look = (status: StatusReport, at = NOW) =>
      raiseAlarms({
        reporter,
        readStatus: async () => status,
        readSol: async () => SOL,
        alarms,
        log: (line) => lines.push(line),
        now: () => at,
        notify,
      });
    return { lines, look };
  }
  const frozen = custody({ frozen: 'unexpected_debit' });

  it('a change of alarms is logged and sent once when it begins and once when it ends', async () => {
    const messages: AlarmMessage[] = [];
    const { lines, look } = watched(async (message) => void messages.push(message));
    for (const status of [CALM, frozen, frozen, frozen, CALM, CALM]) await look(status);
    const changed = { event: 'alarms_changed' };
    expect(lines).toEqual([
      { level: 'alarm', ...changed, raised: ['signing_frozen'], cleared: [], active: ['signing_frozen'] },
      { level: 'info', ...changed, raised: [], cleared: ['signing_frozen'], active: [] },
    ]);
    expect(messages.map(({ alarms }) => alarms.map(({ name, change }) => [name, change]))).toEqual([
      [['signing_frozen', 'raised']],
      [['signing_frozen', 'cleared']],
    ]);
  });

  it.each<[string, StatusReport, StatusReport]>([
    ['the custodian', frozen, { ...CALM, custody: null }],
    [
      'the reserve',
      { ...CALM, backing: { ...CALM.backing, ok: false, state: 'short' } },
      { ...CALM, backing: { ...UNKNOWN_COVERAGE, ok: false } },
    ],
  ])('reports no end of an alarm while %s cannot be read', async (_what, raised, unreadable) => {
    const { lines, look } = watched();
    await look(raised);
    await look(unreadable);
    await look(raised);
    await look(CALM);
    const changes = lines.flatMap(({ cleared }) => cleared);
    expect(changes.filter((name) => name !== 'status_unreadable')).toHaveLength(1);
  });

  it('an alarm message names the deployment, the reason, the start, the figures and the runbook section', async () => {
    const messages: AlarmMessage[] = [];
    const { look } = watched(async (message) => void messages.push(message));
    await look(frozen);
    await look(custody({ frozen: null }), NOW + 60_000);
    // The two URLs change together.
    const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      repository: { url: string };
    };
    const origin = repository.url.replace(/^git\+|\.git$/g, '');
    const runbook = `${origin}/blob/main/docs/run/runbook.md#signing_frozen`;
    expect(messages[0]?.text.split('\n')).toEqual([
      'Sluice https://sluice.example',
      'RAISED signing_frozen: Nothing is signed: unexpected_debit.',
      'since 2026-11-20T12:00:00.000Z, openOperations 1',
      runbook,
    ]);
    expect(messages[0]).toMatchObject({
      ...reporter,
      active: ['signing_frozen'],
      alarms: [{ reason: 'Nothing is signed: unexpected_debit.', figures: { openOperations: 1 }, runbook }],
    });
    expect(messages[1]?.text.split('\n')).toEqual([
      'Sluice https://sluice.example',
      'CLEARED signing_frozen: The condition is over.',
      'since 2026-11-20T12:00:00.000Z',
      runbook,
    ]);
  });

  it('sends a change of alarms again if the webhook did not accept it', async () => {
    let failures = 2;
    const messages: AlarmMessage[] = [];
    const { look } = watched(async (message) => {
      if (failures-- > 0) throw new Error('down');
      messages.push(message);
    });
    await expect(look(frozen)).rejects.toThrow('down');
    await expect(look(frozen)).rejects.toThrow('down');
    await look(frozen);
    await look(frozen);
    expect(messages).toHaveLength(1);
  });

  it('logs a change of alarms when no webhook is configured', async () => {
    const { lines, look } = watched();
    await look(frozen);
    expect(lines).toHaveLength(1);
  });

  it('the test message raises no alarm and says that nothing is wrong', () => {
    const message = testMessage(reporter, iso(0));
    expect(message).toMatchObject({ alarms: [{ name: 'test_alarm', change: 'test' }], active: [] });
    expect(message.text).toContain('Nothing is wrong.');
  });
});

const down = {
  prepare: () => ({ bind: () => ({}), all: () => Promise.reject(new Error('D1_ERROR')) }),
  batch: () => Promise.reject(new Error('D1_ERROR')),
} as never;

it('reports an alarm in each run while D1 does not respond, because nothing stores that it was reported', async () => {
  const store = createAlarmStore(down);
  for (const since of [iso(60_000), iso(0)]) {
    expect(await store.note(['status_unreadable'], since)).toEqual([
      { name: 'status_unreadable', since, reported: false },
    ]);
    await store.settle(['status_unreadable'], []);
  }
  await expect(store.names()).rejects.toThrow('D1_ERROR');
});

it('the heartbeat shows the last run of each trigger and whether the next one is late', async () => {
  const heartbeat = createHeartbeat(memory());
  expect(await heartbeat.read(NOW)).toEqual([
    { trigger: 'minute', lastRunAt: null, ok: false },
    { trigger: 'daily', lastRunAt: null, ok: false },
  ]);
  await heartbeat.beat('minute', NOW - 4 * 60_000);
  await heartbeat.beat('daily', NOW - 27 * 3_600_000);
  expect(await heartbeat.read(NOW)).toEqual([
    { trigger: 'minute', lastRunAt: iso(240_000), ok: true },
    { trigger: 'daily', lastRunAt: iso(27 * 3_600_000), ok: false },
  ]);
});

it('the schema fingerprint depends on every column name, and not on the order of columns', () => {
  expect(schemaFingerprint(['a.x', 'b.y'])).toBe(schemaFingerprint(['b.y', 'a.x']));
  for (const other of [['a.x'], ['a.x', 'b.z'], ['a.xb.y'], ['a.x', 'b.y', 'c.z']])
    expect(schemaFingerprint(other)).not.toBe(schemaFingerprint(['a.x', 'b.y']));
});
