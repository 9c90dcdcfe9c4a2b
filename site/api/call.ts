/**
 * One call to the API of this origin, and its failures as text with a next step.
 * @module
 */
import {
  type Answer,
  type Failure as ApiFailure,
  type CallOptions,
  createCall,
  type Input,
  type KeyStore,
  type OperationName,
} from '../../packages/client/src/index.ts';
import { readTogether } from './together.ts';

/** The texts shown when something did not work. */
export type Failure = {
  readonly code: string;
  /** What happened. */
  readonly text: string;
  /** What to do now. */
  readonly next: string;
  readonly retryAfterSeconds: number | null;
  /** For the operator's log; null when the service was not reached. */
  readonly requestId: string | null;
  /** Whether the service or a source of it failed, rather than this request. The page says once that the service was not reached. */
  readonly isOutage: boolean;
  readonly details: Readonly<Record<string, unknown>>;
};

export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.text);
    this.failure = failure;
  }
}

const KEY_PREFIX = 'sluice:key:';
/** Keys of calls whose outcome is unknown survive a reload of this tab, so that a repeat moves money at most once. */
const tabKeys: KeyStore = {
  get: (call) => inStorage((storage) => storage.getItem(KEY_PREFIX + call)) ?? undefined,
  set: (call, key) => inStorage((storage) => storage.setItem(KEY_PREFIX + call, key)),
  delete: (call) => inStorage((storage) => storage.removeItem(KEY_PREFIX + call)),
};

/** Undefined in a browser that blocks storage: only a reload during a call loses its key there. */
function inStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

/** A visitor sees each failure at once; live figures are polled anyway. */
const SETTINGS = { baseUrl: '', keys: tabKeys, retries: 0 };
const send = createCall({
  ...SETTINGS,
  fetch: (url, init) => fetch(url, { ...init, credentials: 'omit' }),
});
const sendTogether = createCall({
  ...SETTINGS,
  fetch: (url, init) => readTogether(String(url), { ...init, credentials: 'omit' }),
});

const REPEAT_IS_SAFE = 'The outcome is not known yet. Try again: a repeat never sends twice.';

const NEXT_STEPS: Readonly<Record<string, string>> = {
  check_id: 'Check the id.',
  contact_operator: 'Only the operator can resolve this.',
  fix_request: 'Change what the message names, then try again.',
  none: 'No action is needed.',
  pay_missing_amount: 'Pay the missing amount to the same request.',
  poll_status: 'It is in progress. Follow its status.',
  report_request_id: 'Send the operator the request id below.',
  retry_later: 'It is temporary: try again in a moment.',
  retry_with_new_key: 'Nothing moved. Start again.',
  retry_with_same_key: REPEAT_IS_SAFE,
  top_up_wallet: 'The reserve has too little SOL right now. Choose a smaller amount.',
  use_another_deposit: 'This payment cannot earn a reward. Use another one.',
};

/** For failures whose message names nothing that a visitor can change. */
const NEXT_BY_CODE: Readonly<Record<string, string>> = {
  PAYMENT_NOT_BOUND: 'Do not pay again. If the signature is that of your payment, contact the operator.',
  NO_METADATA: 'It cannot be listed without one.',
};

const unreached = (text: string): Failure => ({
  code: 'NOT_REACHED',
  text,
  next: 'Check your connection and try again.',
  retryAfterSeconds: null,
  requestId: null,
  isOutage: true,
  details: {},
});

const TRANSFER_FAILURES = {
  network: 'The service cannot be reached.',
  timeout: 'The service did not respond in time.',
  aborted: 'The call was stopped.',
} as const;

export function failureOf(failure: ApiFailure): Failure {
  if (failure.kind === 'unreachable') return unreached(TRANSFER_FAILURES[failure.reason]);
  if (failure.kind === 'invalid') return failureFrom(failure.cause);
  if (failure.kind !== 'refused')
    return {
      ...unreached(`The service does not respond (status ${failure.status}).`),
      code: 'NO_ANSWER',
      next: 'Try again in a moment.',
    };
  const { error_code: code, error, action, request_id: requestId, retry_after_s: wait, details } = failure;
  const isOutage = failure.retryable && failure.status >= 500;
  const step = NEXT_BY_CODE[code] ?? NEXT_STEPS[action ?? ''] ?? 'Try again in a moment.';
  return {
    code,
    text: code === 'UPSTREAM_FAILED' ? 'A source of this service failed.' : error,
    next: wait === undefined ? step : `${step} Please wait ${waitText(wait)}.`,
    retryAfterSeconds: wait ?? null,
    requestId: requestId || null,
    isOutage,
    details: details ?? {},
  };
}

function waitText(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return seconds < 5400
    ? `about ${Math.ceil(seconds / 60)} minutes`
    : `about ${Math.ceil(seconds / 3600)} hours`;
}

export type Answered<Name extends OperationName> = {
  readonly value: Answer<Name>;
  readonly headers: Headers;
};

/** @param together for a read: whether it shares a request with others of the same moment. @throws CallFailed, and nothing else */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { together = false, ...options }: CallOptions & { readonly together?: boolean } = {},
): Promise<Answered<Name>> {
  const result = await (together ? sendTogether : send)(name, input, options);
  if (result.ok) return result;
  const failure = failureOf(result.failure);
  // A creation without a response keeps its key, so a repeat is safe. A read has no key.
  const isRepeatable = result.failure.kind !== 'refused' && result.idempotencyKey !== undefined;
  throw new CallFailed(isRepeatable ? { ...failure, next: REPEAT_IS_SAFE } : failure);
}

/** What is deployed with the pages could not be loaded. */
export const siteUnreached = (): CallFailed => new CallFailed(unreached(TRANSFER_FAILURES.network));

/** A file that is deployed with the pages. @throws CallFailed */
export const readSiteFile = async <T>(path: string): Promise<T> => JSON.parse(await readSiteText(path));

/** @throws CallFailed */
export async function readSiteText(path: string): Promise<string> {
  try {
    const response = await fetch(path, { credentials: 'omit' });
    if (response.ok) return await response.text();
  } catch {
    // Same as for a failing status.
  }
  throw siteUnreached();
}

export const failureFrom = (thrown: unknown): Failure =>
  thrown instanceof CallFailed
    ? thrown.failure
    : {
        ...unreached(thrown instanceof Error ? thrown.message : 'Something unexpected happened.'),
        isOutage: false,
      };
