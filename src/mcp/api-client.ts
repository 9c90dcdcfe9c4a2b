/**
 * Calls of the HTTP API through its TypeScript client. Every failure is a ToolFailure: the code of the API's
 * error, and the next step in words that a model can follow.
 * @module
 */

import {
  type Answer as ApiAnswer,
  type Failure as ApiFailure,
  type CallOptions,
  createClient,
  type Input,
  type Invoice,
  type KeyStore,
  type OperationName,
  type SwapStatus,
  type UntilOptions,
  type Waited,
} from '../../packages/client/src/index.ts';
import type { ErrorAction } from '../core/errors.ts';

export type Failure = {
  readonly error_code: string;
  readonly error: string;
  readonly action: string;
  /** The next step, in one or two sentences. */
  readonly next_step: string;
  readonly retryable: boolean;
  /** Seconds. */
  readonly retry_after_s?: number;
  readonly request_id?: string;
  readonly details?: unknown;
  /** Key of a creation whose outcome is not known yet. A repeated call with it returns the outcome. */
  readonly idempotencyKey?: string;
};

const NEXT_STEPS: Record<ErrorAction, string> = {
  fix_request: 'Correct the argument named in the error and call the tool again.',
  check_id: 'Check the id: use the exact value that the creating call returned.',
  retry_later:
    'Nothing was lost. Wait for retry_after_s seconds (30 if it is absent), then make the same call.',
  retry_with_same_key:
    'The first call with this idempotencyKey is still running. Wait for retry_after_s seconds, then make the same call with it.',
  retry_with_new_key:
    'This call moved nothing. Call again without idempotencyKey, so that a new key is made.',
  top_up_wallet: 'The reserve has too little SOL. Use a smaller amount, or tell the operator to add SOL.',
  poll_status:
    'Do not create again. Read the state of the existing record: details has it, or call the status tool.',
  pay_missing_amount: 'Tell the user to pay details.missingLamports to the same reference.',
  use_another_deposit: 'Tell the user that this payment earns nothing; another one is needed.',
  none: 'Nothing needs to be done.',
  contact_operator: "The service's operator must act. Show the error to the user; do not retry.",
  report_request_id:
    'Tell the user the request_id, so that the operator can find the cause. Do not retry at once.',
};

/** A newer service may add actions; those are passed on by name. */
export const nextStep = (action: string): string =>
  (NEXT_STEPS as Readonly<Record<string, string>>)[action] ?? `The service advises: ${action}.`;

/** Thrown by a tool; shown to the model as an `isError` result. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.error);
    this.failure = failure;
  }
}

/** Arguments that cannot be sent. @param repair how to correct them */
export const invalidArguments = (error: string, repair: string): ToolFailure =>
  new ToolFailure({
    error_code: 'INVALID_ARGUMENTS',
    error,
    action: 'fix_request',
    next_step: repair,
    retryable: false,
  });

/** An operation whose response is a JSON object. */
export type JsonOperation = {
  [Name in OperationName]: ApiAnswer<Name> extends object ? Name : never;
}[OperationName];

export type Api = ReturnType<typeof createApi>;

export type ApiOptions = {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly fetch: typeof globalThis.fetch;
  /** Sent with every request, such as the address of the client that this call serves. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Idempotency keys whose outcome the caller does not know. */
  readonly keys?: KeyStore;
  /** The next step when the service does not respond. */
  readonly unreachableRepair: string;
};

/** Time limit of one call. A creation can wait 25 s for its outcome; a host waits about 60 s for a tool. */
const TIMEOUT_MS = 45_000;
const MAX_REASON_CHARS = 200;

function failureFor(
  failure: ApiFailure,
  answered: Headers | null,
  unreachable: (reason: string) => Failure,
): Failure {
  switch (failure.kind) {
    case 'unreachable':
      return unreachable(
        failure.reason === 'timeout' ? `did not respond within ${TIMEOUT_MS / 1000} s` : 'cannot be reached',
      );
    case 'unreadable':
      return unreachable(`returned status ${failure.status} without JSON of this API`);
    case 'invalid':
      return notSent(failure.cause);
    case 'upstream':
      return passedOn(failure.status, failure.body, answered);
    case 'refused': {
      const { kind: _kind, status: _status, ...problem } = failure;
      const action = problem.action ?? 'report_request_id';
      return { ...problem, action, next_step: nextStep(action) };
    }
  }
}

export function createApi({ origin, fetch, headers = {}, keys, unreachableRepair }: ApiOptions) {
  const client = createClient({
    baseUrl: origin,
    headers,
    timeoutMs: TIMEOUT_MS,
    // No retries here: a failure gives the model the key and the next step, and the model repeats the call.
    retries: 0,
    ...(keys && { keys }),
    fetch: followingApiPaths(fetch, origin),
  });

  const failureOf = (failure: ApiFailure, answered: Headers | null): Failure =>
    failureFor(failure, answered, (reason) => ({
      error_code: 'API_UNREACHABLE',
      error: `The service at ${origin} ${reason}.`,
      action: 'retry_later',
      next_step: unreachableRepair,
      retryable: true,
    }));

  async function newest<Name extends OperationName, Over extends ApiAnswer<Name>>(
    waited: Promise<Waited<Name, Over>>,
  ): Promise<ApiAnswer<Name>> {
    const result = await waited;
    if (result.ok) return result.value;
    if (result.failure.kind === 'unfinished') return result.failure.value;
    throw new ToolFailure(failureOf(result.failure, result.headers));
  }

  return {
    /** The state once it is final, or the newest state at the limit. @throws ToolFailure */
    waitForSwap: (id: string, limits: UntilOptions<SwapStatus>) => newest(client.waitForSwap(id, limits)),
    /** See `waitForSwap`. @throws ToolFailure */
    waitForInvoice: (id: string, limits: UntilOptions<Invoice>) => newest(client.waitForInvoice(id, limits)),
    /** @throws ToolFailure */
    async call<Name extends OperationName>(name: Name, input: Input<Name>, options?: CallOptions) {
      const result = await client.call(name, input, options);
      if (result.ok) return result;
      throw new ToolFailure(failureOf(result.failure, result.headers));
    },
    /**
     * Creates something at most once. Returns the response, its key, and whether the response was stored before.
     * @throws ToolFailure, with the key when the outcome is not known
     */
    async create<Name extends JsonOperation>(name: Name, input: Input<Name>, options?: CallOptions) {
      const result = await client.call(name, input, options);
      const { idempotencyKey } = result;
      if (result.ok) return { ...result.value, idempotencyKey, replayed: result.replayed };
      const failure = failureOf(result.failure, result.headers);
      throw new ToolFailure(idempotencyKey === undefined ? failure : withKey(failure, idempotencyKey));
    },
  };
}

const withKey = (failure: Failure, idempotencyKey: string): Failure => ({
  ...failure,
  idempotencyKey,
  next_step: `${failure.next_step} When you call again, pass idempotencyKey "${idempotencyKey}": with it the creation happens at most once.`,
});

/** Follows a redirect only to a path of the API, because the API does not redirect elsewhere. */
const followingApiPaths =
  (fetch: typeof globalThis.fetch, origin: string): typeof globalThis.fetch =>
  async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const target = response.headers.get('location');
    return response.status === 307 && target?.startsWith('/api/')
      ? fetch(`${origin}${target}`, { ...init, redirect: 'manual' })
      : response;
  };

/** Arguments that a request cannot contain, such as a string with half of a surrogate pair. */
const notSent = (cause: unknown): Failure =>
  invalidArguments(
    `The call cannot be sent: ${cause instanceof Error ? cause.message : String(cause)}.`,
    nextStep('fix_request'),
  ).failure;

/** An error of the pool API, which the service passes on with its original body. */
function passedOn(
  status: number,
  body: Readonly<Record<string, unknown>>,
  answered: Headers | null,
): Failure {
  const text = [body.error, body.message].find((part) => typeof part === 'string');
  const reason = typeof text === 'string' ? `: ${text.slice(0, MAX_REASON_CHARS)}` : '';
  const retryable = status === 429 || status >= 500;
  const action = retryable ? 'retry_later' : status === 404 ? 'check_id' : 'fix_request';
  const wait = Number(answered?.get('retry-after') ?? Number.NaN);
  return {
    error_code: 'UPSTREAM_REFUSED',
    error: `The upstream replied with status ${status}${reason}.`,
    action,
    next_step: nextStep(action),
    retryable,
    ...(Number.isFinite(wait) ? { retry_after_s: wait } : {}),
  };
}

/** The keys of one client in a store that several clients share. */
export const keysOf = (client: string, keys: KeyStore): KeyStore => ({
  get: (call) => keys.get(`${client}\n${call}`),
  set: (call, key) => keys.set(`${client}\n${call}`, key),
  delete: (call) => keys.delete(`${client}\n${call}`),
});
