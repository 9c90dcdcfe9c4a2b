/** Compares a running service's own report with this folder and these settings. */
import * as z from 'zod';
import type { Health, Ready, Reserves, Status } from '../../packages/client/src/operations.ts';
import { createMintKeys } from '../../src/custody/kernel/signer.ts';
import { createDatabaseStore, schemaFingerprint } from '../../src/features/status/database-store.ts';
import { openD1 } from '../../test/kit/d1.ts';
import { type Finding, noteIf, problem, problemIf, type Settings } from './finding.ts';

const OpsRows = z.looseObject({ rows: z.array(z.looseObject({ fingerprint: z.string() })) });
const TIMEOUT_MS = 15_000;
/** Longest wait for a custodian that is starting: it first verifies its journal. */
const START_MS = 30_000;
const START_POLL_MS = 2_000;

/** The fingerprint of a database made by schema.sql. */
export const expectedSchema = async (): Promise<string> =>
  schemaFingerprint(await createDatabaseStore(openD1().d1).columns());

/** @param origin of the running service */
export async function checkService(origin: string, settings: Settings): Promise<Finding[]> {
  /** The response, or undefined unless it has this member. */
  async function read<T extends object>(path: string, member: keyof T): Promise<T | undefined> {
    try {
      const response = await fetch(`${origin}${path}`, {
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'manual',
      });
      const body: unknown = await response.json();
      return Object.hasOwn(Object(body), member) ? (body as T) : undefined;
    } catch {
      return undefined;
    }
  }
  for (let waited = 0; waited < START_MS; waited += START_POLL_MS) {
    const state = (await read<Health>('/api/health', 'state'))?.state;
    if (state !== 'starting') break;
    await new Promise<void>((resolve) => setTimeout(resolve, START_POLL_MS));
  }
  const [ready, status, reserves] = await Promise.all([
    read<Ready>('/api/ready', 'checks'),
    read<Status>('/api/status', 'custody'),
    read<Reserves>('/api/reserves', 'bitcoin'),
  ]);
  if (!ready || !status)
    return [
      problem(
        'service-unreachable',
        `No service of this version responds at ${origin}.`,
        'Deploy it, or name its origin with --service.',
      ),
    ];
  return [
    ...ready.checks
      .filter(({ ok, name }) => !ok && name !== 'custody')
      .map(({ name, reason }) =>
        problem(
          'service-not-ready',
          `${name}: ${reason}.`,
          'Set the missing variables with `npm run deploy -- --secrets-only`.',
        ),
      ),
    ...(reserves ? checkAddresses(reserves, settings) : []),
    ...checkStatus(status, await expectedSchema()),
    ...checkCustody(status),
    ...checkAlarms(status),
    ...(await checkSecretsOf(origin, settings)),
  ];
}

/** Compares the secrets that the running service can compare without showing them. Changes nothing. */
async function checkSecretsOf(origin: string, settings: Settings): Promise<Finding[]> {
  const { OPS_SECRET: secret, MINT_KEY_SEED: seed } = settings;
  if (!secret) return [];
  const response = await fetch(`${origin}/api/ops`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'fingerprint' }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  if (response?.status === 401 || response?.status === 404)
    return [
      problem(
        'ops-secret-other',
        response.status === 401
          ? 'The running service has a different OPS_SECRET: it cannot be paused with this one.'
          : 'The running service has no OPS_SECRET: it cannot be paused.',
        'Set it again with `npm run deploy -- --secrets-only`.',
      ),
    ];
  const answer = OpsRows.safeParse(await response?.json().catch(() => undefined)).data;
  const running = answer?.rows[0]?.fingerprint;
  if (!seed) return [];
  return problemIf(
    running !== undefined && running !== createMintKeys(seed).address('doctor'),
    'mint-seed-other',
    'The running service has a different MINT_KEY_SEED: the mints of its open invoices come from that one.',
    'Find out which one is right before you deploy; a copy of the wrong one recovers nothing.',
  );
}

function checkAddresses({ bitcoin, solana }: Reserves, settings: Settings): Finding[] {
  const running = { RESERVE_SOLANA_ADDRESS: solana.address, RESERVE_BTC_ADDRESS: bitcoin.address };
  return Object.entries(running).flatMap(([name, address]) =>
    problemIf(
      Boolean(settings[name]) && settings[name] !== address,
      'service-other-reserve',
      `The running service has a different ${name} from these settings.`,
      'First find out which one is right.',
    ),
  );
}

/** What the service owes somebody, by the name of its alarm. */
const DEBTS: Readonly<Record<string, readonly [what: string, fix: string]>> = {
  refund_due: ['Payments bought nothing and are owed back.', '`npm run ops -- refund ID` pays each.'],
  payout_owed: ['Rewards are owed and not paid.', '`npm run ops -- held` lists those that await you.'],
  payment_unmatched: [
    'Payments fit no invoice or request.',
    '`npm run ops -- unmatched` lists them, and `npm run ops -- refund SIGNATURE` pays one back.',
  ],
};

/** The open alarms of the last minute. Each has a row in the runbook. */
const checkAlarms = ({ alarms }: Status): Finding[] =>
  (alarms ?? []).map((name) => {
    const [what, fix] = DEBTS[name] ?? ['The service has raised this alarm.', ''];
    const row = `docs/run/runbook.md has its row.`;
    return problem(name in DEBTS ? 'debt-owed' : 'alarm-active', `${name}: ${what}`, `${fix} ${row}`.trim());
  });

function checkStatus({ cron, backing, custody, database }: Status, schema: string): Finding[] {
  const late = (cron ?? []).filter(({ ok }) => !ok);
  return [
    ...problemIf(
      database === null,
      'd1-unreachable',
      'D1 does not respond to the service.',
      'Check the platform’s status page; nothing is lost meanwhile.',
    ),
    ...problemIf(
      database !== null && database.schema !== schema,
      'schema-outdated',
      'The columns of D1 differ from those of schema.sql.',
      'Run `npx wrangler d1 migrations apply DB --remote`; docs/run/deploy.md describes upgrades.',
    ),
    ...noteIf(
      custody?.quotes.left === 0,
      'quotes-spent',
      'Estimates have used all their bridge quotes of two hours.',
      'Wait; if it happens again, request a larger quota with NEAR_INTENTS_JWT.',
    ),
    ...late.map(({ trigger, lastRunAt }) =>
      problem(
        'cron-late',
        `The ${trigger} trigger ${lastRunAt === null ? 'has never run' : `ran last at ${lastRunAt}`}.`,
        "Check the Worker's triggers in the dashboard, and its log.",
      ),
    ),
    ...problemIf(
      !backing.ok,
      'supply-above-reserve',
      'There is more ABSR than the reserve covers.',
      'Stop minting (`npm run ops -- pause`) and find out where the BTC went.',
    ),
  ];
}

function checkCustody({ custody }: Status): Finding[] {
  if (custody === null)
    return [
      problem('custodian-unreachable', 'The custodian does not respond.', 'Check the log of the Worker.'),
    ];
  const isDisabled = custody.paused === 'disabled';
  const spent = custody.limits.flatMap(({ name, left }) => (left === '0' ? [name] : []));
  return [
    ...problemIf(
      custody.frozen !== null,
      'signing-frozen',
      `Signing is frozen: ${custody.frozen}.`,
      'docs/run/runbook.md lists what to do for each reason.',
    ),
    ...problemIf(
      custody.paused !== null,
      'paused',
      isDisabled ? 'No swap begins: SWAPS_DISABLED is on.' : `Nothing new is signed: ${custody.paused}.`,
      isDisabled
        ? 'Remove SWAPS_DISABLED when swaps may run.'
        : 'Run `npm run ops -- resume` when the reason no longer applies.',
    ),
    ...problemIf(
      custody.heldOperations > 0,
      'operation-held',
      `${custody.heldOperations} operations await the operator.`,
      '`npm run ops -- state` lists them; docs/run/runbook.md lists the next steps.',
    ),
    ...noteIf(
      custody.mirrorBehindSince !== null,
      'mirror-behind',
      `D1 has not accepted changes since ${custody.mirrorBehindSince}.`,
      'Nothing is lost. Check D1 if this continues.',
    ),
    ...problemIf(
      custody.mirrorRefusedRows > 0,
      'mirror-refuses-rows',
      `D1 refuses ${custody.mirrorRefusedRows} rows while it accepts others.`,
      '`npm run ops -- republish` lists them with the error, and tries them again.',
    ),
    ...problemIf(
      custody.mint?.ok === false,
      'mint-skipped',
      `The daily mint of ABSR waits: ${custody.mint?.reason ?? 'unknown'}.`,
      'docs/use/reserve.md explains each reason.',
    ),
    ...noteIf(
      spent.length > 0,
      'cap-used-up',
      `These limits are used up: ${spent.join(', ')}.`,
      'Wait, or raise the limit if you want to.',
    ),
  ];
}
