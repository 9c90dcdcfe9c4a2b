import { describe, expect, it } from 'vitest';
import { UNKNOWN_COVERAGE } from '../../src/core/coverage.ts';
import type { Debt, OperatorView } from '../../src/custody/operator-api.ts';
import { ALARMS, type AlarmFacts, type AlarmName, alarmsOf } from '../../src/features/status/alarm-rules.ts';
import { type AlarmRow, createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { type AlarmMessage, raiseAlarms, testMessage } from '../../src/features/status/check-alarms.ts';
import { schemaFingerprint } from '../../src/features/status/database-store.ts';
import { createHeartbeat, type StatusReport, type TextStore } from '../../src/features/status/get-status.ts';
import { AGREEMENT } from '../kit/fake-chain.ts';
import { rows } from '../kit/scenes.ts';

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
  signedByReserve: true,
  moved: [{ mint: null, atoms: '9000000000', receiver: 'thief' }],
  memo: null,
};

const VIEW: OperatorView = {
  lastRun: null,
  open: [],
  debts: [],
  failing: [],
  recent: [],
  solana: AGREEMENT,
  backlog: 0,
  journalBytes: null,
};
const facts = (status: StatusReport, over: Partial<AlarmFacts> = {}): AlarmFacts => ({
  status,
  view: VIEW,
  level: SOL,
  nowMs: NOW,
  ...over,
});
const viewed = (change: Partial<OperatorView>): AlarmFacts => facts(CALM, { view: { ...VIEW, ...change } });
const debt = (name: Debt['name'], awaitOperator: number, count = awaitOperator): AlarmFacts => {
  const owed = {
    atoms: 1_500_000_000n,
    oldestMs: NOW - 3 * 3_600_000,
    examples: [{ id: 'one', reason: 'late' }],
  };
  return viewed({ debts: [{ name, count, awaitOperator, ...owed }] });
};
const FAILING = { work: 'payout', id: 'deposit:1', failures: 4, reason: 'timeout' };

const nodes = (change: object): AlarmFacts => facts(custody({ nodes: { ...NODES, ...change } }));
const SHORT = { ...CALM.backing, ok: false, state: 'short', gapSatoshis: '-1' } as const;
const UNCOVERED: StatusReport = { ...CALM, backing: { ...UNKNOWN_COVERAGE, ok: false } };
const LATE = { trigger: 'daily', lastRunAt: iso(30 * 3_600_000), ok: false } as const;
const DOWN = { name: 'esplora-1', ok: false, needed: true, ms: 9, circuit: 'closed' } as const;
const WALKS = [
  'spends_unread',
  'treasury_walk_stuck',
  'treasury_history_pruned',
  'treasury_walk_behind',
] as const;

const CASES: readonly (readonly [AlarmName, AlarmFacts])[] = [
  ['signing_frozen', facts(custody({ frozen: 'unexpected_debit' }))],
  ['unexplained_spend', facts(custody({ unexplainedSpends: [STOLEN] }))],
  ['swaps_refused', facts(custody({ swapsRefused: { code: 'SWAP_LIMIT_REACHED', since: iso(600_000) } }))],
  ['operation_stuck', facts(custody({ heldOperations: 1 }))],
  ['mint_skipped', facts(custody({ mint: { day: '2026-11-20', state: 'failed', reason: 'x', ok: false } }))],
  ['database_behind', facts(custody({ mirrorBehindSince: iso(90_000) }))],
  ['database_refuses_rows', facts(custody({ mirrorRefusedRows: 1 }))],
  ['database_restored', facts(custody({ mirrorRestored: true }))],
  ['supply_above_reserve', facts({ ...CALM, backing: SHORT })],
  ['sol_low', facts(CALM, { level: { ...SOL, balance: 199_999_999n } })],
  ['quote_budget_low', facts(custody({ quotes: { used: 115, maximum: 120, left: 5 } }))],
  ['cron_missing', facts({ ...CALM, cron: [LATE] })],
  ['status_unreadable', facts({ ...CALM, database: null })],
  ['status_unreadable', facts({ ...CALM, custody: null }, { view: null })],
  ['source_down', facts({ ...CALM, upstreams: [DOWN] })],
  ['source_down', facts(UNCOVERED)],
  ['nodes_disagree', nodes({ disagreementAt: iso(60_000) })],
  ['bridge_fees_over_cap', facts(custody({ bridgeFault: 'fees_over_cap' }))],
  ['bridge_rejects_request', facts(custody({ bridgeFault: 'request_rejected' }))],
  ['solana_stalled', nodes({ stalledSince: iso(180_000) })],
  ['quorum_missing', nodes({ quorumMissingSince: iso(900_000) })],
  ['work_failed', viewed({ failing: [FAILING] })],
  ...WALKS.map((event) => [event, viewed({ recent: [{ event, about: 'rpc-1' }] })] as const),
  ['refund_due', debt('refund_due', 2)],
  ['payment_unmatched', debt('payment_unmatched', 1)],
  ['payout_owed', debt('payout_owed', 1)],
];

const raisedBy = (given: AlarmFacts) => alarmsOf(given).raised;

describe('alarms', () => {
  const recent = { code: 'UPSTREAM_FAILED', since: iso(599_000) };
  it.each<[string, AlarmFacts]>([
    ['all is well and no daily mint has run yet', facts(CALM)],
    ['the balance is unknown', facts(CALM, { level: { ...SOL, balance: null } })],
    ['swaps are refused for less than ten minutes', facts(custody({ swapsRefused: recent }))],
    ['D1 is behind for seconds', facts(custody({ mirrorBehindSince: iso(5_000), mint: null }))],
    ['owed rewards are paid without the operator', debt('payout_owed', 0, 3)],
  ])('raises no alarm while %s', (_when, given) => {
    expect(raisedBy(given)).toEqual([]);
  });

  it.each(CASES)('the cause of the alarm %s raises this alarm and no other', (name, given) => {
    const [alarm, ...others] = raisedBy(given);
    expect([alarm?.name, others]).toEqual([name, []]);
    expect(alarm?.reason).toMatch(/^[A-Z0-9].{10,140}\.$/);
    expect(alarm?.reason).not.toMatch(/null|undefined|NaN| since /);
  });

  const held = {
    ...{ id: 'swap:one', kind: 'swap', state: 'held', reason: 'held_unsettled', lamports: '2000000000' },
    ...{ createdAtMs: NOW - 7 * 3_600_000, awaitsOperator: true },
  } as const;
  const disagreement = { at: NOW, question: 'q', nodes: ['rpc-1', 'rpc-2'] };
  it.each<[string, AlarmFacts, object]>([
    ['work', viewed({ failing: [FAILING] }), { work: 'payout deposit:1: 4 failures (timeout)' }],
    ['debts', debt('refund_due', 2), { count: 2, sum: '1.5 SOL', oldest: '3 h', examples: 'one (late)' }],
    [
      'operations',
      { ...facts(custody({ heldOperations: 1 })), view: { ...VIEW, open: [held] } },
      { held: 1, oldest: '7 h', operations: 'swap:one (held_unsettled, 2 SOL)' },
    ],
    [
      'nodes',
      {
        ...nodes({ disagreementAt: iso(60_000) }),
        view: { ...VIEW, solana: { ...AGREEMENT, disagreement } },
      },
      { nodes: 'rpc-1, rpc-2', question: 'q' },
    ],
  ])('an alarm names the %s that it is about', (_what, given, figures) => {
    expect(raisedBy(given)[0]?.figures).toEqual(figures);
  });

  it('the alarm about low SOL names the thief before the operator sends more', () => {
    const status = custody({ unexplainedSpends: [STOLEN], frozen: 'unexplained_spend' });
    const alarms = raisedBy(facts(status, { level: { ...SOL, balance: 1n } }));
    expect(alarms.map(({ name }) => name)).toEqual(['unexplained_spend', 'signing_frozen', 'sol_low']);
    expect(alarms[0]?.figures).toEqual({ spends: 'stolen (9 SOL to thief)' });
    expect(alarms[2]?.figures?.whereItWent).toBe('unexplained: stolen (9 SOL to thief); send no SOL');
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
  const rows = new Map<string, AlarmRow>();
  return {
    async note(active: readonly { name: string; since: string; count: number }[]) {
      for (const { name, since, count } of active) {
        const row = rows.get(name) ?? { name, since, sentAt: null, count };
        rows.set(name, { ...row, count: Math.min(row.count, count) });
      }
      return [...rows.values()];
    },
    async settle(sent: readonly { name: string; count: number }[], ended: readonly string[], at: string) {
      for (const name of ended) rows.delete(name);
      for (const { name, count } of sent) {
        const row = rows.get(name);
        if (row) rows.set(name, { ...row, count, sentAt: at });
      }
    },
  };
}

describe('a change of alarms', () => {
  const reporter = { service: 'https://sluice.example' };
  /** Alarms that are checked again and again; the webhook refuses the first messages. */
  function watched(refusals = 0) {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const alarms = rowsInOnePlace();
    const messages: AlarmMessage[] = [];
    let refused = 0;
    const check = (given: AlarmFacts) =>
      raiseAlarms({
        reporter,
        readFacts: async () => given,
        alarms,
        log: (line) => lines.push(line),
        async notify(message) {
          if (refused++ < refusals) throw new Error('down');
          messages.push(message);
        },
      });
    const look = (status: StatusReport, nowMs = NOW) =>
      check(facts(status, { nowMs, view: status.custody && VIEW }));
    /** Of every alarm in every message. */
    const changes = () =>
      messages.flatMap(({ alarms: all }) => all.map(({ name, change }) => `${change} ${name}`));
    return { lines, messages, check, look, changes };
  }
  const frozen = custody({ frozen: 'unexpected_debit' });

  it.each(CASES)(
    'the alarm %s is sent when it is raised and when it is over, with its row of the runbook',
    async (name, given) => {
      const { messages, check, changes } = watched();
      // Some alarms are sent once they have lasted ten minutes.
      for (const [at, shown] of [given, given, facts(CALM)].entries())
        await check({ ...shown, nowMs: shown.nowMs + at * 600_000 });
      expect(changes()).toEqual([`raised ${name}`, `cleared ${name}`]);
      for (const { alarms } of messages)
        expect(alarms[0]?.runbook).toBe(`https://sluice.example/runbook#${name}`);
    },
  );

  it('a change of alarms is logged and sent once when it begins and once when it ends', async () => {
    const { lines, look, changes } = watched();
    for (const status of [CALM, frozen, frozen, frozen, CALM, CALM]) await look(status);
    const changed = { event: 'alarms_changed' };
    expect(lines).toEqual([
      { level: 'alarm', ...changed, raised: ['signing_frozen'], cleared: [], active: ['signing_frozen'] },
      { level: 'info', ...changed, raised: [], cleared: ['signing_frozen'], active: [] },
    ]);
    expect(changes()).toEqual(['raised signing_frozen', 'cleared signing_frozen']);
  });

  it.each<[string, StatusReport, StatusReport]>([
    ['the custodian', frozen, { ...CALM, custody: null }],
    ['the reserve', { ...CALM, backing: SHORT }, UNCOVERED],
  ])('does not report the end of an alarm while %s cannot be read', async (_what, raised, unreadable) => {
    const { lines, look } = watched();
    await look(raised);
    await look(unreadable);
    await look(raised);
    await look(CALM);
    const changes = lines.flatMap(({ cleared }) => cleared);
    expect(changes.filter((name) => name !== 'status_unreadable')).toHaveLength(1);
  });

  it('an alarm message names the deployment, the reason, the start, the figures and the runbook section', async () => {
    const { messages, look } = watched();
    await look(frozen);
    await look(custody({ frozen: null }), NOW + 60_000);
    const runbook = 'https://sluice.example/runbook#signing_frozen';
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

  const HOUR = 3_600_000;
  it.each(
    rows<[string, readonly (readonly [number, number])[], readonly string[]]>(`
    grows                 | [[0, 1], [1, 1], [2, 4], [3, 4]]             | ["raised", "grown"]
    falls and grows again | [[0, 2], [1, 1], [2, 2]]                     | ["raised", "grown"]
    stays for two days    | [[0, 1], [23, 1], [24, 1], [47, 1], [48, 1]] | ["raised", "lasting", "lasting"]
  `),
  )('an alarm whose number %s is sent again', async (_how, steps, changes) => {
    const { messages, look, changes: sent } = watched();
    for (const [hours, held] of steps) await look(custody({ heldOperations: held }), NOW + hours * HOUR);
    expect(sent()).toEqual(changes.map((change) => `${change} operation_stuck`));
    const since = messages.flatMap(({ alarms }) => alarms.map((alarm) => alarm.since));
    expect(new Set(since)).toEqual(new Set([iso(0)]));
  });

  it('an alarm that callers can make grow is sent again at most once an hour', async () => {
    const { check, changes } = watched();
    for (let minute = 0; minute < 120; minute++)
      await check({ ...debt('payment_unmatched', minute + 1), nowMs: NOW + minute * 60_000 });
    expect(changes()).toEqual(['raised payment_unmatched', 'grown payment_unmatched']);
  });

  it('an alarm about a source is sent after ten minutes, and never if the source responds before', async () => {
    const { lines, messages, look, changes } = watched();
    const minutes = (minute: number) => NOW + minute * 60_000;
    for (let minute = 0; minute < 9; minute++) await look(UNCOVERED, minutes(minute));
    await look(CALM, minutes(9));
    expect([messages, lines]).toEqual([[], []]);
    for (let minute = 10; minute <= 20; minute++) await look(UNCOVERED, minutes(minute));
    await look(CALM, minutes(21));
    expect(changes()).toEqual(['raised source_down', 'cleared source_down']);
    expect(messages.map(({ at }) => at)).toEqual([iso(-20 * 60_000), iso(-21 * 60_000)]);
  });

  it('sends a change of alarms again if the webhook did not accept it', async () => {
    const { messages, look } = watched(2);
    await expect(look(frozen)).rejects.toThrow('down');
    await expect(look(frozen)).rejects.toThrow('down');
    await look(frozen);
    await look(frozen);
    expect(messages).toHaveLength(1);
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
    const alarm = { name: 'status_unreadable', since, count: 1 };
    expect(await store.note([alarm])).toEqual([{ ...alarm, sentAt: null }]);
    await store.settle([alarm], [], since);
  }
  await expect(store.rows()).rejects.toThrow('D1_ERROR');
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
