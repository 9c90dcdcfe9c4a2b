import { AppError, notConfigured } from '../core/errors.ts';
import type { CustodianApi } from '../custody/api.ts';
import { noteCausedRows } from '../http/read-session.ts';
import type { Telemetry } from './telemetry.ts';

/** Verbs whose caller reads the changed rows from D1 next. */
const CHANGES: ReadonlySet<keyof CustodianApi> = new Set([
  'createSwap',
  'openRequest',
  'confirmPayment',
  'claimDeposit',
]);

/**
 * The stub of the custodian: each property is a verb of the Durable Object.
 *
 * @param missing variables without which the custodian does not start
 * @throws AppError CUSTODIAN_UNAVAILABLE when a call fails, although it may have taken effect; NOT_CONFIGURED
 */
export function custodianClient(
  env: Env,
  reserveAddress: string | null,
  missing: readonly string[],
  log: Telemetry['log'],
): CustodianApi {
  const verb =
    (name: keyof CustodianApi) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (reserveAddress === null || missing.length > 0) throw notConfigured(missing);
      try {
        const stub = env.CUSTODIAN.getByName(reserveAddress);
        const answer = await (stub[name] as (...args: unknown[]) => unknown)(...args);
        if (CHANGES.has(name)) noteCausedRows();
        return answer;
      } catch (cause) {
        log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
        throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not answer.', {
          retryAfterSeconds: 5,
          cause,
        });
      }
    };
  return new Proxy({} as CustodianApi, { get: (_, name) => verb(name as keyof CustodianApi) });
}
