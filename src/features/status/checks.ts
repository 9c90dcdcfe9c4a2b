/**
 * The checks that decide `/api/ready` and are part of `/api/status`. Each check names what fails.
 * @module
 */
import { AppError } from '../../core/errors.ts';
import type { SigningState } from '../../custody/operator-api.ts';
import { timely } from './database-store.ts';

export type Check = { readonly name: string; readonly ok: boolean; readonly reason: string | null };

/** The conditions for moving money. Each check runs separately, so one response names every failure. */
export type ReadyDeps = {
  /** Names of missing or invalid settings; the secret keys are the custodian's. */
  readonly missingVariables: readonly string[];
  /** Runs one statement that does not read a row. @throws Error when D1 does not respond or a table is missing */
  pingDatabase(): Promise<void>;
  signingState(): Promise<SigningState>;
};

/** @param reason of the failure, or null */
export const check = (name: string, reason: string | null): Check => ({ name, ok: reason === null, reason });

export async function checkReady(deps: ReadyDeps): Promise<Check[]> {
  const signing = deps.signingState();
  const [database, custody, keys] = await Promise.all([
    outcome('database', async () => {
      await timely(deps.pingDatabase());
      return null;
    }),
    outcome('custody', async () => {
      const { frozen } = await signing;
      if (frozen === 'unverified')
        return 'unverified: the journal has not been compared with the database and the chain yet';
      return frozen && `signing is frozen: ${frozen}`;
    }),
    signing.then(() => [], namedBy),
  ]);
  const missing = [...new Set([...deps.missingVariables, ...keys])];
  const absent = missing.length > 0 ? `missing or invalid: ${missing.join(', ')}` : null;
  return [check('config', absent), database, custody];
}

/** The variables that a NOT_CONFIGURED error names; an empty list for any other error. */
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
