/**
 * The class for expected failures and the table of the shared codes. Codes are part of the wire contract: add
 * new ones, never rename or reuse any. Each feature adds its own table; app.ts merges them and refuses
 * duplicates.
 * @module
 */

/** The caller's next step, by action: the text of the API document and of docs/errors.md. */
export const ERROR_ACTIONS = {
  fix_request: 'Correct the fields named in error and details, then send the request again.',
  check_id:
    'Check the id in the path or body. It must be an id from an earlier answer: id of a swap, invoice_id, listing_request_id or the signature of a deposit.',
  retry_later: 'Nothing was lost. Wait retry_after_s seconds (30 if absent), then repeat the request.',
  retry_with_same_key:
    'Wait retry_after_s seconds, then repeat the request with the same Idempotency-Key. It returns the first outcome.',
  retry_with_new_key:
    'This request moved nothing. Send it again, with a new Idempotency-Key if you sent one.',
  top_up_wallet: 'The reserve has too little SOL. Use a smaller amount, or ask the operator to add SOL.',
  poll_status: 'The work has begun. Read its record until it is final; do not start it again.',
  pay_missing_amount: 'Pay details.missingLamports to the same reference; payments are added up.',
  use_another_deposit:
    'This deposit earns nothing, and repeating the request does not change that. Claim another deposit.',
  none: 'Nothing needs to be done.',
  contact_operator: "Only the service's operator can resolve this. Do not repeat the request.",
  report_request_id: 'Report request_id to the operator. Do not repeat the request at once.',
} as const;

export type ErrorAction = keyof typeof ERROR_ACTIONS;

export type ErrorEntry = {
  /** The usual HTTP status; a route may return a different one. */
  readonly status: number;
  readonly action: ErrorAction;
  /** True when the same request may succeed later without a change. */
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
    meaning: 'This Idempotency-Key was already used with a different request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    action: 'retry_with_same_key',
    retryable: true,
    meaning:
      'The first request with this Idempotency-Key is still running. Repeat the request with the same key.',
  },
  ROUTE_NOT_FOUND: { status: 404, action: 'fix_request', retryable: false, meaning: 'No such path.' },
  NOT_FOUND: {
    status: 404,
    action: 'check_id',
    retryable: false,
    meaning: 'There is no record with this id.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    action: 'fix_request',
    retryable: false,
    meaning: 'The path does not support this method. See the Allow header.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    action: 'fix_request',
    retryable: false,
    meaning: 'The body is larger than 16 KiB.',
  },
  RATE_LIMITED: {
    status: 429,
    action: 'retry_later',
    retryable: true,
    meaning: 'Too many requests from this address. Wait for Retry-After seconds.',
  },
  UPSTREAM_FAILED: {
    status: 502,
    action: 'retry_later',
    retryable: true,
    meaning: 'An upstream service failed or returned invalid data; details.upstream names it.',
  },
  NOT_CONFIGURED: {
    status: 503,
    action: 'contact_operator',
    retryable: false,
    meaning: 'The operator has not configured this area; details.variables lists the missing variables.',
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning: 'The database is not available. Nothing was lost; cached reads still work.',
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
    meaning: 'An unexpected failure. Report the request_id.',
  },
} as const satisfies ErrorTable;

/** The errors of a route that reads a JSON body. */
export const BODY_ERRORS = [
  'INVALID_INPUT',
  'INVALID_JSON',
  'UNSUPPORTED_CONTENT_TYPE',
  'BODY_TOO_LARGE',
] as const satisfies (keyof typeof SHARED_ERRORS)[];

type Options = {
  /** Overrides the table's status if the contract requires it. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Sent to the caller: no secret, no upstream URL. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

/** An expected failure. `message` and `details` are sent to the caller; `cause` is only logged. */
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

/** An upstream that failed, was late, or returned an undocumented shape. */
export const upstreamFailed = (upstream: string, reason: string, cause?: unknown): AppError =>
  new AppError('UPSTREAM_FAILED', `${upstream}: ${reason}`, { details: { upstream, reason }, cause });

/** An area without configuration. @param variables names of the missing or invalid variables, never values */
export const notConfigured = (variables: readonly string[]): AppError =>
  new AppError('NOT_CONFIGURED', `The operator has not configured ${variables.join(', ')}.`, {
    details: { variables },
  });

export const databaseUnavailable = (message: string, cause: unknown): AppError =>
  new AppError('DATABASE_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

/** The error for a refusal that was returned as a value. */
export const refusalError = ({
  code,
  message,
  retryAfterSeconds,
  details,
}: Pick<AppError, 'code' | 'message'> & Pick<Options, 'retryAfterSeconds' | 'details'>): AppError =>
  new AppError(code, message, { retryAfterSeconds, details });
