/**
 * The checks behind both `/api/status` and `/api/ready`. Each names what fails.
 * @module
 */
import { AppError } from '../../core/errors.ts';
import type { SigningState } from '../../custody/api.ts';
import type { StatusReport } from './get-status.ts';

export type Check = { readonly name: string; readonly ok: boolean; readonly reason: string | null };

/** The conditions for moving money. Each check runs separately, so one response names every failure. */
export type ReadyDeps = {
  /** Names of missing or invalid settings; the secret keys are the custodian's. */
  readonly missingVariables: readonly string[];
  /** One statement that reads no row. @throws Error when D1 does not respond or a table is missing */
  pingDatabase(): Promise<void>;
  signingState(): Promise<SigningState>;
};

/** @param reason of the failure, or null */
const check = (name: string, reason: string | null): Check => ({ name, ok: reason === null, reason });

export async function checkReady(deps: ReadyDeps): Promise<Check[]> {
  const signing = deps.signingState();
  const [database, custody, keys] = await Promise.all([
    outcome('database', async () => {
      await deps.pingDatabase();
      return null;
    }),
    outcome('custody', async () => {
      const { frozen } = await signing;
      if (frozen === 'unverified')
        return 'unverified: the journal was not yet compared with the database and the chain';
      return frozen && `signing is frozen: ${frozen}`;
    }),
    signing.then(() => [], namedBy),
  ]);
  const missing = [...new Set([...deps.missingVariables, ...keys])];
  const absent = missing.length > 0 ? `missing or invalid: ${missing.join(', ')}` : null;
  return [check('config', absent), database, custody];
}

/** The variables that a NOT_CONFIGURED error names; none for any other error. */
const namedBy = (error: unknown): string[] =>
  error instanceof AppError && Array.isArray(error.details?.variables)
    ? error.details.variables.map(String)
    : [];

/** @param read the reason for a failure, or null */
async function outcome(name: string, read: () => Promise<string | null>): Promise<Check> {
  try {
    return check(name, await read());
  } catch (error) {
    const table = /\bno such table: (\w+)/.exec(error instanceof Error ? error.message : '')?.[1];
    return check(
      name,
      table === undefined ? 'does not respond' : `table ${table} is missing: apply the migrations`,
    );
  }
}

type Shown = Omit<StatusReport, 'ok'>;

/** The checks of the parts of the status. A part that cannot be read fails. */
export const shownChecks = (shown: Shown): Check[] => [
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
    check('mirror', mirrorRefusedRows > 0 ? `D1 refuses ${mirrorRefusedRows} rows` : null),
  ];
}

function sourcesReason(upstreams: Shown['upstreams']): string | null {
  const failed = upstreams.filter(({ ok, needed }) => needed && !ok).map(({ name }) => name);
  return failed.length > 0 ? `do not respond: ${failed.join(', ')}` : null;
}

/** Before the first midnight of a deployment, the daily trigger has not run. */
function cronReason(cron: Shown['cron']): string | null {
  if (cron === null) return 'the triggers cannot be read';
  const late = cron.filter(
    ({ ok, trigger, lastRunAt }) => !ok && !(trigger === 'daily' && lastRunAt === null),
  );
  return late.length > 0 ? `late: ${late.map(({ trigger }) => trigger).join(', ')}` : null;
}
