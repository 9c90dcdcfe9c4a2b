/**
 * One class for expected failures and the table of the shared codes. Codes are part of the wire contract: add,
 * never rename or reuse. Each feature adds its own table; app.ts merges them and refuses a clash.
 * @module
 */

/** The caller's next step, by action: the text of the API document and of docs/errors.md. */
export const ERROR_ACTIONS = {
  fix_request: 'Correct what error and details name, then send the request again.',
  check_id:
    'Check the id in the path or body: it is the one that the request which created the thing returned, such as id of a swap, invoice_id, listing_request_id or the signature of a deposit.',
  retry_later: 'Nothing was lost. Wait retry_after_s seconds, 30 if it is absent, then repeat the request.',
  retry_with_same_key:
    'Wait retry_after_s seconds, then repeat the request with the same Idempotency-Key: it returns the first outcome.',
  retry_with_new_key:
    'This request moved nothing. Send it again, with a new Idempotency-Key where one was sent.',
  top_up_wallet: 'The reserve holds too little SOL: use a smaller amount, or ask the operator to top it up.',
  poll_status: 'The work has begun. Read the record of it until it is over; do not start it again.',
  pay_missing_amount: 'Pay details.missingLamports to the same reference; the payments are added up.',
  use_another_deposit: 'This deposit earns nothing and no repeat changes that. Claim another deposit.',
  none: 'Nothing needs to be done.',
  contact_operator: 'Only the operator of the service can resolve this. Do not repeat the request.',
  report_request_id: 'Report request_id to the operator. Do not repeat the request at once.',
} as const;

export type ErrorAction = keyof typeof ERROR_ACTIONS;

export type ErrorEntry = {
  /** The usual HTTP status; a route may answer another one. */
  readonly status: number;
  readonly action: ErrorAction;
  /** True when the same request can succeed later without a change. */
  readonly retryable: boolean;
  readonly meaning: string;
};

export type ErrorTable = Readonly<Record<string, ErrorEntry>>;

export const SHARED_ERRORS = {
  INVALID_INPUT: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'A parameter or body member is missing, malformed or out of range; details.issues names it.',
  },
  INVALID_JSON: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The body is not valid JSON.',
  },
  UNSUPPORTED_CONTENT_TYPE: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'The body must be sent as application/json.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    action: 'fix_request',
    retryable: false,
    meaning: 'Idempotency-Key must be 16 to 128 visible ASCII characters.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    action: 'retry_with_new_key',
    retryable: false,
    meaning: 'This Idempotency-Key was used before with another request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    action: 'retry_with_same_key',
    retryable: true,
    meaning: 'The first request with this Idempotency-Key is still running; repeat it with the same key.',
  },
  ROUTE_NOT_FOUND: { status: 404, action: 'fix_request', retryable: false, meaning: 'No such path.' },
  NOT_FOUND: {
    status: 404,
    action: 'check_id',
    retryable: false,
    meaning: 'No record has this id.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    action: 'fix_request',
    retryable: false,
    meaning: 'The path exists but not with this method; see the Allow header.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    action: 'fix_request',
    retryable: false,
    meaning: 'The body is over 16 KiB.',
  },
  RATE_LIMITED: {
    status: 429,
    action: 'retry_later',
    retryable: true,
    meaning: 'Too many requests from this address; wait for Retry-After seconds.',
  },
  UPSTREAM_FAILED: {
    status: 502,
    action: 'retry_later',
    retryable: true,
    meaning: 'A service that the answer depends on failed or answered nonsense; details.upstream names it.',
  },
  NOT_CONFIGURED: {
    status: 503,
    action: 'contact_operator',
    retryable: false,
    meaning: 'The operator has not configured this area; details.variables names what is missing.',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'The database of records does not answer. Nothing was lost; reads from cache still work.',
  },
  CUSTODIAN_UNAVAILABLE: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'The custodian does not answer. Repeat with the same Idempotency-Key: money moves at most once.',
  },
  INTERNAL: {
    status: 500,
    action: 'report_request_id',
    retryable: false,
    meaning: 'An unexpected failure; report the request_id.',
  },
} as const satisfies ErrorTable;

/** What a route that reads a JSON body refuses it for. */
export const BODY_ERRORS = [
  'INVALID_INPUT',
  'INVALID_JSON',
  'UNSUPPORTED_CONTENT_TYPE',
  'BODY_TOO_LARGE',
] as const satisfies (keyof typeof SHARED_ERRORS)[];

type Options = {
  /** Overrides the table's status where the contract says so. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Reaches the caller: no secret, no upstream URL. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

/** An expected failure. `message` and `details` reach the caller; `cause` reaches only the log. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: string;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
  }
}

/** An upstream that failed, was late, or answered in an undocumented shape. */
export const upstreamFailed = (upstream: string, reason: string, cause?: unknown): AppError =>
  new AppError('UPSTREAM_FAILED', `${upstream}: ${reason}`, { details: { upstream, reason }, cause });

/** An area that the operator has not configured. @param variables the names that are missing or wrong, never values */
export const notConfigured = (variables: readonly string[]): AppError =>
  new AppError('NOT_CONFIGURED', `The operator has not configured ${variables.join(', ')}.`, {
    details: { variables },
  });

export const databaseUnavailable = (message: string, cause: unknown): AppError =>
  new AppError('DATABASE_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

/** A refusal that came as a value, as it is thrown. */
export const refusalError = ({
  code,
  message,
  retryAfterSeconds,
  details,
}: Pick<AppError, 'code' | 'message'> & Pick<Options, 'retryAfterSeconds' | 'details'>): AppError =>
  new AppError(code, message, { retryAfterSeconds, details });
