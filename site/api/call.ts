/**
 * One call to the API of this origin, and its failures as words with a next step.
 * @module
 */

/** What a visitor is told when something did not work. */
export type Failure = {
  readonly code: string;
  /** What happened. */
  readonly text: string;
  /** What to do now. */
  readonly next: string;
  readonly retryAfterSeconds: number | null;
  /** The same idempotency key will never bring another answer: the next try needs a new one. */
  readonly needsNewKey: boolean;
  /** For the operator's log; null when the service was not reached. */
  readonly requestId: string | null;
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

/** The service answers within 25 s even when it waits for a chain; what takes longer is lost. */
const PATIENCE_MS = 40_000;

const NEXT_STEPS: Readonly<Record<string, string>> = {
  check_id: 'Check the id: it is the one that this site or the API gave you.',
  contact_operator: 'The operator has to act. Trying again will not help.',
  fix_request: 'Change what the message names, then try again.',
  none: 'Nothing is left to do.',
  pay_missing_amount: 'Pay the missing amount to the same request.',
  poll_status: 'It is under way. Follow its status instead of starting again.',
  report_request_id: 'Please tell the operator the request id below.',
  retry_later: 'Nothing was lost. Try again in a moment.',
  retry_with_new_key: 'Nothing moved. Start again.',
  retry_with_same_key: 'The outcome is not known yet. Try again: nothing is sent twice.',
  top_up_wallet: 'The reserve holds too little SOL now. Choose a smaller amount.',
  use_another_deposit: 'This deposit cannot earn a reward. Use another one.',
};

type Body = Readonly<Record<string, unknown>>;
const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const unreached = (text: string): Failure => ({
  code: 'NOT_REACHED',
  text,
  next: 'Check your connection and try again. Your money is safe: nothing is sent twice.',
  retryAfterSeconds: null,
  needsNewKey: false,
  requestId: null,
  details: {},
});

export function failureOf(status: number, headers: Headers, body: unknown): Failure {
  if (!isBody(body) || textOf(body.error_code) === undefined)
    return {
      ...unreached(`The service did not answer as it should (status ${status}).`),
      code: 'NO_ANSWER',
      next: 'It may be starting or down. Try again in a moment.',
    };
  const wait = typeof body.retry_after_s === 'number' ? body.retry_after_s : null;
  const step = NEXT_STEPS[textOf(body.action) ?? ''] ?? 'Try again in a moment.';
  return {
    code: textOf(body.error_code) ?? 'UNKNOWN',
    text: textOf(body.error) ?? 'The service refused.',
    next: wait === null ? step : `${step} The service asks to wait ${waitText(wait)}.`,
    retryAfterSeconds: wait,
    needsNewKey: body.action === 'retry_with_new_key',
    requestId: textOf(body.request_id) ?? headers.get('x-request-id'),
    details: isBody(body.details) ? body.details : {},
  };
}

function waitText(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return seconds < 5400
    ? `about ${Math.ceil(seconds / 60)} minutes`
    : `about ${Math.ceil(seconds / 3600)} hours`;
}

export type Answered<T> = { readonly value: T; readonly headers: Headers };

export type Send = {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
};

/** @throws CallFailed, and nothing else */
export async function call<T>(path: string, send?: Send): Promise<Answered<T>> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (send?.body !== undefined) headers['content-type'] = 'application/json';
  if (send?.idempotencyKey !== undefined) headers['idempotency-key'] = send.idempotencyKey;
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method: send === undefined ? 'GET' : 'POST',
      headers,
      credentials: 'omit',
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(send?.body === undefined ? {} : { body: JSON.stringify(send.body) }),
    });
    text = await response.text();
  } catch (cause) {
    const slow = cause instanceof DOMException && cause.name === 'TimeoutError';
    throw new CallFailed(
      unreached(slow ? 'The service did not answer in time.' : 'The service cannot be reached.'),
    );
  }
  const body = parsed(text);
  if (!response.ok || body === undefined)
    throw new CallFailed(failureOf(response.status, response.headers, body));
  // Shape by contract: the same schemas check the answer on the other side.
  return { value: body as T, headers: response.headers };
}

/** Undefined for what is no JSON, such as the page of a proxy that stands in for the service. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const failureFrom = (thrown: unknown): Failure =>
  thrown instanceof CallFailed
    ? thrown.failure
    : unreached(thrown instanceof Error ? thrown.message : 'Something unexpected happened.');
