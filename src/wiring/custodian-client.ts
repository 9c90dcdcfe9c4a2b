import { AppError, notConfigured } from '../core/errors.ts';
import type { CustodianApi, NotConfigured } from '../custody/api.ts';
import { noteCausedRows } from '../http/read-session.ts';
import type { Telemetry } from './telemetry.ts';

/** Verbs whose caller reads the changed rows from D1 next. */
const CHANGES: ReadonlySet<keyof CustodianApi> = new Set([
  'createSwap',
  'openRequest',
  'confirmPayment',
  'claimDeposit',
]);

const isNotConfigured = (answer: unknown): answer is NotConfigured =>
  typeof answer === 'object' && answer !== null && 'notConfigured' in answer;

/**
 * The stub of the custodian: each property is a verb of the Durable Object.
 *
 * @param missing settings without which the custodian does not start
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
        if (isNotConfigured(answer)) throw notConfigured(answer.notConfigured);
        if (CHANGES.has(name)) noteCausedRows();
        return answer;
      } catch (cause) {
        if (cause instanceof AppError) throw cause;
        log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
        throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not answer.', {
          retryAfterSeconds: 5,
          cause,
        });
      }
    };
  return new Proxy({} as CustodianApi, { get: (_, name) => verb(name as keyof CustodianApi) });
}
