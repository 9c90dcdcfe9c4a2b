import { describe, expect, it } from 'vitest';
import { UNKNOWN_COVERAGE } from '../../src/core/coverage.ts';
import type { Debt, OperatorView } from '../../src/custody/operator-api.ts';
import { ALARMS, type AlarmFacts, type AlarmName, alarmsOf } from '../../src/features/status/alarm-rules.ts';
import { createAlarmStore } from '../../src/features/status/alarm-store.ts';
import { type AlarmMessage, raiseAlarms, testMessage } from '../../src/features/status/check-alarms.ts';
import { schemaFingerprint } from '../../src/features/status/database-store.ts';
import { createHeartbeat, type StatusReport } from '../../src/features/status/get-status.ts';
import { openD1 } from '../kit/d1.ts';
import { AGREEMENT } from '../kit/fake-chain.ts';
import { createKv } from '../kit/platform/memory-kv.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString();
const SOL = { balance: 10_000_000_000n, floor: 100_000_000n };

const NODES = {
  ...{ configured: 2, quorum: 2, consensus: 'unknown' as const },
  ...{ disagreementAt: null, quorumMissingSince: null, stalledSince: null },
};

const CALM: StatusReport = {
  ok: true,
  release: { version: null, commit: null, id: null, deployedAt: null },
  upstreams: [],
  cron: [
    { trigger: 'minute', lastRunAt: iso(30_000), ok: true },
    { trigger: 'daily', lastRunAt: null, ok: true },
  ],
  custody: {
    ...{ release: 'v1', lastWakeAt: iso(20_000), swapsRefused: null, unexplainedSpends: [] },
    ...{ frozen: null, paused: null, openOperations: 1, heldOperations: 0 },
    mint: { day: '2026-11-20', state: 'minted', reason: null, ok: true },
    ...{ mirrorBehindSince: null, mirrorRefusedRows: 0, mirrorRestored: false },
    ...{ limits: [], quotes: { used: 1, maximum: 120, left: 119 }, bridgeFault: null, nodes: NODES },
  },
  backing: { ...UNKNOWN_COVERAGE, ok: true, state: 'covered', gapSatoshis: '5' },
  ...{ alarms: [], database: { schema: 'abc' }, operations: [], as_of: iso(0), stale: false },
};
const custody = (over: object) => ({ ...CALM, custody: { ...CALM.custody, ...over } }) as StatusReport;

const STOLEN = {
  ...{ signature: 'stolen', time: null, signedByReserve: true, memo: null },
  moved: [{ mint: null, atoms: '9000000000', receiver: 'thief' }],
};

const VIEW: OperatorView = {
  ...{ lastRun: null, open: [], debts: [], failing: [], recent: [] },
  ...{ solana: AGREEMENT, backlog: 0, journalBytes: null },
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
  const examples = [{ id: 'one', reason: 'late' }];
  const owed = { atoms: 1_500_000_000n, oldestMs: NOW - 3 * 3_600_000, examples };
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
  ['cron_missing', facts({ ...CALM, cron: [{ ...LATE, lastRunAt: null }] })],
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

  const held = {
    ...{ id: 'swap:one', kind: 'swap', state: 'held', reason: 'held_unsettled', lamports: '2000000000' },
    ...{ createdAtMs: NOW - 7 * 3_600_000, awaitsOperator: true },
  } as const;
  const disagreement = { at: NOW, question: 'q', nodes: ['rpc-1', 'rpc-2'] };
  const heldOne = { ...facts(custody({ heldOperations: 1 })), view: { ...VIEW, open: [held] } };
  const disagreeing = {
    ...nodes({ disagreementAt: iso(60_000) }),
    view: { ...VIEW, solana: { ...AGREEMENT, disagreement } },
  };
  it.each<[string, AlarmFacts, object]>([
    ['work', viewed({ failing: [FAILING] }), { work: 'payout deposit:1: 4 failures (timeout)' }],
    ['debts', debt('refund_due', 2), { count: 2, sum: '1.5 SOL', oldest: '3 h', examples: 'one (late)' }],
    ['operations', heldOne, { held: 1, oldest: '7 h', operations: 'swap:one (held_unsettled, 2 SOL)' }],
    ['nodes', disagreeing, { nodes: 'rpc-1, rpc-2', question: 'q' }],
  ])('an alarm names the %s that it is about', (_what, given, figures) => {
    expect(raisedBy(given)[0]?.figures).toEqual(figures);
  });

  it('further failing rows of the same kind of work do not change the ids of the alarm', () => {
    const failing = [FAILING, { ...FAILING, id: 'deposit:2' }, { ...FAILING, work: 'delivery' }];
    expect(raisedBy(viewed({ failing }))[0]?.ids).toEqual(['payout', 'delivery']);
  });

  it("the alarm about low SOL names the thief's address before the operator sends more", () => {
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

describe('a change of alarms', () => {
  const reporter = { service: 'https://sluice.example' };
  /** Alarms that are checked again and again; the webhook refuses so many messages. */
  function watched() {
    const webhook = { refusals: 0 };
    const lines: Readonly<Record<string, unknown>>[] = [];
    const alarms = createAlarmStore(openD1().d1);
    const messages: AlarmMessage[] = [];
    const check = (given: AlarmFacts) =>
      raiseAlarms({
        ...{ reporter, alarms, readFacts: async () => given, log: (line) => lines.push(line) },
        async notify(message) {
          if (webhook.refusals-- > 0) throw new Error('down');
          messages.push(message);
        },
      });
    return { lines, messages, check, webhook };
  }
  const frozen = custody({ frozen: 'unexpected_debit' });

  it.each(CASES)(
    'the cause of %s raises only this alarm, with a reason and a runbook link, and the alarm ends with its cause',
    async (name, given) => {
      const { messages, check } = watched();
      // Some alarms are sent once they have lasted ten minutes.
      for (const [at, shown] of [given, given, facts(CALM)].entries())
        await check({ ...shown, nowMs: shown.nowMs + at * 600_000 });
      const runbook = `https://sluice.example/runbook#${name}`;
      expect(messages.map(({ alarms }) => alarms)).toMatchObject([
        [{ name, change: 'raised', runbook, reason: expect.stringMatching(/^[A-Z0-9].{10,140}\.$/) }],
        [{ name, change: 'cleared', runbook }],
      ]);
      expect(messages[0]?.alarms[0]?.reason).not.toMatch(/null|undefined|NaN| since /);
    },
  );

  const STATES: Readonly<Record<string, (count: number) => AlarmFacts>> = {
    calm: () => facts(CALM),
    frozen: () => facts(frozen),
    short: () => facts({ ...CALM, backing: SHORT }),
    uncovered: () => facts(UNCOVERED),
    unreadable: () => facts({ ...CALM, custody: null }, { view: null }),
    held: (count) => facts(custody({ heldOperations: count })),
    spent: (signature) =>
      facts(custody({ unexplainedSpends: [{ ...STOLEN, signature: `spend-${signature}` }] })),
    unmatched: (count) => debt('payment_unmatched', count),
  };

  eachScene(`
    is sent once when it begins and once when it ends
      | at 0s calm = nothing; at 1m frozen = raised signing_frozen; at 2m frozen = nothing;
        at 3m calm = cleared signing_frozen; at 4m calm = nothing
    does not end while the custodian cannot be read
      | at 0s frozen = raised signing_frozen; at 1m unreadable = raised status_unreadable;
        at 2m frozen = cleared status_unreadable; at 3m calm = cleared signing_frozen
    does not end while the reserve cannot be read
      | at 0s short = raised supply_above_reserve; at 1m uncovered = nothing; at 2m short = nothing;
        at 3m calm = cleared supply_above_reserve
    is sent again when its number grows
      | at 0h held 1 = raised operation_stuck; at 1h held 1 = nothing;
        at 2h held 4 = grown operation_stuck; at 3h held 4 = nothing
    is sent again when its number falls and grows again
      | at 0h held 2 = raised operation_stuck; at 1h held 1 = nothing; at 2h held 2 = grown operation_stuck
    is sent again for another spend after the first spend was acknowledged
      | at 0m spent 1 = raised unexplained_spend; at 1m spent 1 = nothing; at 2m spent 2 = grown unexplained_spend;
        at 3m spent 2 = nothing
    is sent again once a day while it lasts
      | at 0h held 1 = raised operation_stuck; at 23h held 1 = nothing; at 24h held 1 = lasting operation_stuck;
        at 47h held 1 = nothing; at 48h held 1 = lasting operation_stuck
    is sent again at most once an hour if callers can make it grow
      | at 0m unmatched 1 = raised payment_unmatched; at 1m unmatched 2 = nothing; at 59m unmatched 60 = nothing;
        at 60m unmatched 61 = grown payment_unmatched; at 61m unmatched 62 = nothing; at 119m unmatched 120 = nothing
    about a source is never sent if the source responds within ten minutes
      | at 0m uncovered = nothing; at 8m uncovered = nothing; at 9m calm = nothing;
        at 10m uncovered = nothing; at 19m uncovered = nothing; at 20m calm = nothing
    about a source is sent after ten minutes
      | at 0m uncovered = nothing; at 9m uncovered = nothing;
        at 10m uncovered = raised source_down; at 11m calm = cleared source_down
    is sent again if the webhook did not accept it
      | refuse 2; at 0s frozen = Error: down; at 1m frozen = Error: down;
        at 2m frozen = raised signing_frozen; at 3m frozen = nothing
  `)('an alarm %s', async (_title, steps = '') => {
    const { lines, messages, check, webhook } = watched();
    const began = new Map<string, string>();
    const verbs = {
      refuse: (count: string) => Object.assign(webhook, { refusals: Number(count) }),
      /** The changes that a check at this time sends, which the log has too. */
      async at(time: string, state: string, count = '1') {
        const given = STATES[state]?.(Number(count)) ?? facts(CALM);
        const nowMs = NOW + msOf(time);
        for (const { name } of raisedBy(given))
          began.set(name, began.get(name) ?? new Date(nowMs).toISOString());
        const failed = await check({ ...given, nowMs }).catch(String);
        const changed = messages.splice(0).flatMap(({ alarms }) => alarms);
        const [ended, others] = [true, false].map((isEnd) =>
          changed.filter(({ change }) => (change === 'cleared') === isEnd).map(({ name }) => name),
        );
        for (const { name, since } of changed) expect(since, name).toBe(began.get(name));
        const line = { level: others?.length ? 'alarm' : 'info', raised: others, cleared: ended };
        if (!failed) expect(lines).toMatchObject(changed.length ? [line] : []);
        lines.length = 0;
        if (state === 'calm') began.clear();
        return failed ?? (changed.map(({ change, name }) => `${change} ${name}`).join(', ') || 'nothing');
      },
    };
    await playSteps(steps, verbs);
  });

  it('an alarm message names the deployment, the reason, the start, the figures and the runbook section', async () => {
    const { messages, check } = watched();
    await check(facts(frozen));
    await check(facts(CALM, { nowMs: NOW + 60_000 }));
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

  it('the test message does not raise an alarm and states that it is a test', () => {
    const message = testMessage(reporter, iso(0));
    expect(message).toMatchObject({ alarms: [{ name: 'test_alarm', change: 'test' }], active: [] });
    expect(message.text).toContain('Nothing is wrong.');
  });
});

const down = {
  prepare: () => ({ bind: () => ({}), all: () => Promise.reject(new Error('D1_ERROR')) }),
  batch: () => Promise.reject(new Error('D1_ERROR')),
} as never;

it('reports an alarm in each run while D1 does not respond, because the report cannot be stored', async () => {
  const store = createAlarmStore(down);
  for (const since of [iso(60_000), iso(0)]) {
    const alarm = { name: 'status_unreadable', since, count: 1, ids: [] };
    expect(await store.note([alarm])).toEqual([{ ...alarm, sentAt: null }]);
    await store.settle([alarm], [], since);
  }
  await expect(store.rows()).rejects.toThrow('D1_ERROR');
});

it('the heartbeat shows the last run of each trigger and whether the next run is late', async () => {
  const heartbeat = createHeartbeat(createKv().kv);
  const deployedAt = iso(6 * 60_000);
  expect(await heartbeat.read(NOW, deployedAt)).toEqual([
    { trigger: 'minute', lastRunAt: null, ok: false },
    { trigger: 'daily', lastRunAt: null, ok: true },
  ]);
  expect((await heartbeat.read(NOW + 26 * 3_600_000, deployedAt)).map(({ ok }) => ok)).toEqual([
    false,
    false,
  ]);
  await heartbeat.beat('minute', NOW - 4 * 60_000);
  await heartbeat.beat('daily', NOW - 27 * 3_600_000);
  expect(await heartbeat.read(NOW, deployedAt)).toEqual([
    { trigger: 'minute', lastRunAt: iso(240_000), ok: true },
    { trigger: 'daily', lastRunAt: iso(27 * 3_600_000), ok: false },
  ]);
});

it('a trigger that never ran is late if the time of the deployment is unknown', async () => {
  const beats = await createHeartbeat(createKv().kv).read(NOW, undefined);
  expect(beats.map(({ ok }) => ok)).toEqual([false, false]);
});

it('the schema fingerprint depends on every column name, and not on the order of columns', () => {
  expect(schemaFingerprint(['a.x', 'b.y'])).toBe(schemaFingerprint(['b.y', 'a.x']));
  for (const other of [['a.x'], ['a.x', 'b.z'], ['a.xb.y'], ['a.x', 'b.y', 'c.z']])
    expect(schemaFingerprint(other)).not.toBe(schemaFingerprint(['a.x', 'b.y']));
});
