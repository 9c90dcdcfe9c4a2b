import { AppError, notConfigured } from '../core/errors.ts';
import type { Busy, CustodianApi, NotConfigured } from '../custody/api.ts';
import { noteCausedRows } from '../http/read-session.ts';
import type { Line } from './telemetry.ts';

const isNotConfigured = (result: unknown): result is NotConfigured =>
  typeof result === 'object' && result !== null && 'notConfigured' in result;

/** The arguments and the results are those of `CustodianRpc`. */
type Stub = Readonly<Record<keyof CustodianApi, (...args: unknown[]) => Promise<unknown>>>;

const isBusy = (result: unknown): result is Busy =>
  typeof result === 'object' && result !== null && 'busy' in result;

const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('CUSTODIAN_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

type Options = {
  readonly env: Pick<Env, 'CUSTODIAN'>;
  readonly reserveAddress: string | null;
  /** Settings without which the custodian does not start. */
  readonly missing: readonly string[];
  readonly log: (line: Line) => void;
};

/** The custodian's verbs: `change` if the caller reads the changed rows from D1 next. */
const VERBS: Readonly<Record<keyof CustodianApi, 'change' | 'other'>> = {
  createSwap: 'change',
  previewSwap: 'other',
  findSwap: 'other',
  swapRoom: 'other',
  report: 'other',
  signingState: 'other',
  openRequest: 'change',
  findRequest: 'other',
  confirmPayment: 'change',
  proof: 'other',
  draftProof: 'other',
  submitProof: 'other',
  previewMint: 'other',
  listMints: 'other',
  wake: 'other',
  claimDeposit: 'change',
  findClaim: 'other',
  listAsryEpochs: 'other',
  ops: 'other',
};

/**
 * Calls the custodian's Durable Object.
 * @throws AppError CUSTODIAN_UNAVAILABLE when a call fails, although it may have taken effect; NOT_CONFIGURED
 */
export function createCustodianClient({ env, reserveAddress, missing, log }: Options): CustodianApi {
  async function call(verb: keyof CustodianApi, args: unknown[]): Promise<unknown> {
    if (reserveAddress === null || missing.length > 0) throw notConfigured(missing);
    let result: unknown;
    try {
      const stub = env.CUSTODIAN.getByName(reserveAddress) as unknown as Stub;
      result = await stub[verb](...args);
    } catch (cause) {
      log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
      throw unavailable('The custodian does not respond.', cause);
    }
    if (isBusy(result)) throw unavailable('The custodian serves as many reads as it can.');
    if (isNotConfigured(result)) throw notConfigured(result.notConfigured);
    if (VERBS[verb] === 'change') noteCausedRows();
    return result;
  }

  const verbs = Object.keys(VERBS) as (keyof CustodianApi)[];
  const calls = verbs.map((verb) => [verb, (...args: unknown[]) => call(verb, args)]);
  return Object.fromEntries(calls) as CustodianApi;
}
