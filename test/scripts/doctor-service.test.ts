import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { checkService, expectedSchema } from '../../scripts/doctor/check-service.ts';
import type { Settings } from '../../scripts/doctor/finding.ts';
import { exampleOf } from '../kit/example.ts';

/** The doctor's findings for a healthy service with this change. */
async function found(
  custody: object,
  settings: Settings = {},
  ops: () => Response = () => Response.json({}),
  alarms: readonly string[] = [],
  { checks = [] as object[], cronOk = true, lastRunAt = new Date().toISOString() as string | null } = {},
) {
  const status = exampleOf('getStatus');
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/health': { state: 'running' },
    '/api/ready': { checks },
    '/api/status': {
      ...status,
      cron: status.cron.map((trigger: object) => ({
        ...trigger,
        lastRunAt,
        ok: cronOk,
      })),
      // The example was recorded while the world worked.
      custody: { ...status.custody, mirrorBehindSince: null, ...custody },
      alarms,
      database: { ...status.database, schema: await expectedSchema() },
    },
    '/api/reserves': exampleOf('getReserves'),
  };
  vi.stubGlobal('fetch', async (url: string) =>
    url.endsWith('/api/ops') ? ops() : Response.json(bodies[new URL(url).pathname]),
  );
  return checkService('https://sluice.example', settings);
}

afterEach(() => void vi.unstubAllGlobals());

it('the doctor finds no problem in a healthy service', async () => {
  expect(await found({})).toEqual([]);
});

it.each([
  ['runs late', '2026-11-20T12:00:00.000Z'],
  ['has never run', null],
])('the doctor reports a missing variable and a cron that %s', async (_title, lastRunAt) => {
  const checks = [{ name: 'config', ok: false, reason: 'missing or invalid: PUBLIC_BASE_URL' }];
  const findings = await found({}, {}, undefined, [], { checks, cronOk: false, lastRunAt });
  expect(new Set(findings.map(({ name }) => name))).toEqual(new Set(['service-not-ready', 'cron-late']));
  expect(findings.filter(({ name }) => name === 'cron-late')).toHaveLength(2);
});

it('the doctor refers to the page that explains why a mint waits', async () => {
  const [finding] = await found({ mint: { ok: false, reason: 'upstream_tips_apart' } });
  expect(finding).toMatchObject({ name: 'mint-skipped', level: 'problem' });
  const page = /docs\/[\w/-]+\.md/.exec(finding?.fix ?? '')?.[0] ?? '';
  expect(readFileSync(page, 'utf8')).toContain('`upstream_tips_apart`');
});

it.each([
  ['operator', 'Nothing new is signed', 'npm run ops -- resume'],
  ['disabled', 'No swap begins', 'SWAPS_DISABLED'],
])("the doctor's advice depends on the reason why the service is paused: %s", async (paused, what, fix) => {
  const [finding] = await found({ paused });
  expect(finding).toMatchObject({ name: 'paused', level: 'problem' });
  expect(finding?.what).toContain(what);
  expect(finding?.fix).toContain(fix);
});

it("the doctor reports the service's debts, and every other open alarm", async () => {
  const findings = await found({}, {}, undefined, ['refund_due', 'payout_owed', 'sol_low']);
  expect(findings.map(({ name, level, what }) => [name, level, what.split(':')[0]])).toEqual([
    ['debt-owed', 'problem', 'refund_due'],
    ['debt-owed', 'problem', 'payout_owed'],
    ['alarm-active', 'problem', 'sol_low'],
  ]);
  expect(findings[0]?.fix).toContain('ops -- refund');
});

it('the doctor names every exhausted limit, including limits that it does not know', async () => {
  const limits = [
    { name: 'day', left: '1' },
    { name: 'creations_day', left: '0' },
    { name: 'new_cap', left: '0' },
  ];
  expect(await found({ limits })).toMatchObject([
    { name: 'cap-used-up', level: 'note', what: 'These limits are used up: creations_day, new_cap.' },
  ]);
});

it('the doctor waits while /api/health reports that the service is starting', async () => {
  vi.useFakeTimers();
  try {
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      const starts = asked.filter((path) => path === '/api/health').length < 3;
      if (pathname === '/api/health') return Response.json({ state: starts ? 'starting' : 'running' });
      return Response.json({});
    });
    const findings = checkService('https://sluice.example', {});
    await vi.runAllTimersAsync();
    expect(await findings).toMatchObject([{ name: 'service-unreachable' }]);
    expect(asked.slice(0, 3)).toEqual(['/api/health', '/api/health', '/api/health']);
    expect(asked).toHaveLength(6);
  } finally {
    vi.useRealTimers();
  }
});

it('the doctor reports that signing is frozen, and why', async () => {
  expect(await found({ frozen: 'journal_behind_mirror' })).toMatchObject([
    { name: 'signing-frozen', level: 'problem', what: expect.stringContaining('journal_behind_mirror') },
  ]);
});

it.each([401, 404])('the doctor reports a service that refuses OPS_SECRET with status %d', async (status) => {
  const settings = { OPS_SECRET: 'x'.repeat(64) };
  const findings = await found({}, settings, () => new Response('{}', { status }));
  expect(findings).toMatchObject([{ name: 'ops-secret-other', level: 'problem' }]);
});
