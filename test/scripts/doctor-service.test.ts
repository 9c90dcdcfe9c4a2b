import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { checkService, expectedSchema } from '../../scripts/doctor/check-service.ts';
import type { Settings } from '../../scripts/doctor/finding.ts';
import { exampleOf } from '../kit/example.ts';
import { eachRow } from '../kit/scenes.ts';

/** How the running service differs from a healthy one, and the settings of this machine. */
type Shown = {
  readonly custody?: object | null;
  readonly status?: object;
  readonly cron?: object;
  readonly checks?: readonly object[];
  readonly settings?: Settings;
  /** Status of the response to OPS_SECRET. */
  readonly ops?: number;
};

/** The doctor's findings for such a service. */
async function found({ custody = {}, status: over, cron, checks = [], settings = {}, ops = 200 }: Shown) {
  const status = exampleOf('getStatus');
  const beat = { lastRunAt: new Date().toISOString(), ok: true, ...cron };
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/health': { state: 'running' },
    '/api/ready': { checks },
    '/api/status': {
      ...{ ...status, alarms: [], database: { schema: await expectedSchema() } },
      cron: status.cron.map((trigger: object) => ({ ...trigger, ...beat })),
      // The example was recorded while the world worked.
      custody: custody && { ...status.custody, mirrorBehindSince: null, ...custody },
      ...over,
    },
    '/api/reserves': exampleOf('getReserves'),
    '/api/ops': { rows: [{ fingerprint: 'of another seed' }] },
  };
  vi.stubGlobal('fetch', async (url: string) => {
    const { pathname } = new URL(url);
    return Response.json(bodies[pathname], { status: pathname === '/api/ops' ? ops : 200 });
  });
  return checkService('https://sluice.example', settings);
}

afterEach(() => void vi.unstubAllGlobals());

eachRow<[what: string, shown: Shown, ...findings: string[]]>(`
  a healthy service                       | {}
  a variable that is missing              | { "checks": [{ "name": "config", "ok": false, "reason": "missing: X" }] } | problem service-not-ready: config: missing: X
  a custodian that is not ready           | { "checks": [{ "name": "custody", "ok": false, "reason": "x" }] }
  a cron that runs late                   | { "cron": { "ok": false, "lastRunAt": "2026-11-20T12:00:00.000Z" } }
    | problem cron-late: The minute trigger ran last at 2026-11-20 | problem cron-late: The daily trigger ran last at 2026-11-20
  a cron that has never run               | { "cron": { "ok": false, "lastRunAt": null } }
    | problem cron-late: The minute trigger has never run | problem cron-late: The daily trigger has never run
  a D1 that does not respond              | { "status": { "database": null } }                          | problem d1-unreachable
  other columns in D1                     | { "status": { "database": { "schema": "other" } } }         | problem schema-outdated
  more ABSR than the reserve covers       | { "status": { "backing": { "ok": false } } }                | problem supply-above-reserve
  debts and another open alarm            | { "status": { "alarms": ["refund_due", "payout_owed", "sol_low"] } }
    | problem debt-owed: refund_due.*ops -- refund | problem debt-owed: payout_owed | problem alarm-active: sol_low
  a custodian that does not respond       | { "custody": null }                                         | problem custodian-unreachable
  signing that is frozen                  | { "custody": { "frozen": "journal_behind_mirror" } }        | problem signing-frozen: .*journal_behind_mirror
  a pause by the operator                 | { "custody": { "paused": "operator" } }                     | problem paused: Nothing new is signed.*npm run ops -- resume
  a pause by SWAPS_DISABLED               | { "custody": { "paused": "disabled" } }                     | problem paused: No swap begins.*SWAPS_DISABLED
  operations that await the operator      | { "custody": { "heldOperations": 2 } }                      | problem operation-held: 2 operations
  a D1 that is behind                     | { "custody": { "mirrorBehindSince": "2026-11-20T12:00" } }  | note mirror-behind: .*2026-11-20T12:00
  rows that D1 refuses                    | { "custody": { "mirrorRefusedRows": 3 } }                   | problem mirror-refuses-rows: D1 refuses 3 rows
  bridge quotes that are used up          | { "custody": { "quotes": { "left": 0 } } }                  | note quotes-spent
  limits that are used up, even unknown ones | { "custody": { "limits": [{ "name": "day", "left": "1" }, { "name": "creations_day", "left": "0" }, { "name": "new_cap", "left": "0" }] } }
    | note cap-used-up: These limits are used up: creations_day, new_cap
  another reserve than that of the settings | { "settings": { "RESERVE_SOLANA_ADDRESS": "other", "RESERVE_BTC_ADDRESS": "other" } }
    | problem service-other-reserve: .*RESERVE_SOLANA_ADDRESS | problem service-other-reserve: .*RESERVE_BTC_ADDRESS
  another OPS_SECRET                      | { "settings": { "OPS_SECRET": "x" }, "ops": 401 }           | problem ops-secret-other: .*different OPS_SECRET
  no OPS_SECRET                           | { "settings": { "OPS_SECRET": "x" }, "ops": 404 }           | problem ops-secret-other: .*has no OPS_SECRET
  another MINT_KEY_SEED                   | { "settings": { "OPS_SECRET": "x", "MINT_KEY_SEED": "seed" } } | problem mint-seed-other
`)('the doctor reports of a service with %s', async (...row) => {
  const [, shown, ...findings] = row as [string, Shown, ...string[]];
  const reported = (await found(shown)).map(
    ({ level, name, what, fix }) => `${level} ${name}: ${what} ${fix}`,
  );
  expect(reported).toEqual(findings.map((text) => expect.stringMatching(`^${text}.*\\S`)));
});

it('the doctor refers to the page that explains why a mint waits', async () => {
  const [finding] = await found({ custody: { mint: { ok: false, reason: 'upstream_tips_apart' } } });
  expect(finding).toMatchObject({ name: 'mint-skipped', level: 'problem' });
  const page = /docs\/[\w/-]+\.md/.exec(finding?.fix ?? '')?.[0] ?? '';
  expect(readFileSync(page, 'utf8')).toContain('`upstream_tips_apart`');
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
