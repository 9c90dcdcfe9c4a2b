/**
 * The class for expected failures and the table of their codes. Codes are part of the wire contract: add new codes, but
 * never rename or reuse one.
 * @module
 */
import { OPERATION_LIMITS } from './operation-limits.ts';

/** The caller's next step for each action. The API document and docs/use/errors.md show these texts. */
export const ERROR_ACTIONS = {
  fix_request: 'Correct the fields named in error and details, then send the request again.',
  check_id: 'Check the id in the path or body. It must come from an earlier response.',
  retry_later: 'Nothing was lost. Wait retry_after_s seconds (30 if absent), then repeat the request.',
  retry_with_same_key:
    'Wait retry_after_s seconds, then repeat the request with the same Idempotency-Key. It returns the first outcome.',
  retry_with_new_key:
    'This request moved nothing. Send it again, with a new Idempotency-Key if you sent one.',
  top_up_wallet: 'The reserve has too little SOL. Use a smaller amount, or ask the operator to add SOL.',
  poll_status: 'The work has started. Read its record until it is final; do not start it again.',
  pay_missing_amount: 'Pay details.missingLamports to the same reference; payments are added up.',
  use_another_deposit: 'This payment earns nothing. Claim another payment.',
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

const permanent = (status: number, action: ErrorAction, meaning: string): ErrorEntry => {
  return { status, action, retryable: false, meaning };
};
const transient = (status: number, action: ErrorAction, meaning: string): ErrorEntry => {
  return { status, action, retryable: true, meaning };
};

const badRequest = (meaning: string): ErrorEntry => permanent(400, 'fix_request', meaning);
const uselessDeposit = (meaning: string): ErrorEntry => permanent(400, 'use_another_deposit', meaning);
const unavailable = (meaning: string): ErrorEntry => transient(503, 'retry_later', meaning);

/** Names of the limits on swaps. The limit of a single swap is left out, because it gives AMOUNT_TOO_LARGE. */
const swapLimits = Object.entries(OPERATION_LIMITS).flatMap(([name, { kind, windowMs }]) =>
  kind === 'swap' && windowMs !== 0 ? [name] : [],
);

const CODES = {
  INVALID_INPUT: badRequest(
    'A parameter or body member is missing, malformed or out of range; details.issues names it.',
  ),
  INVALID_JSON: badRequest('The body is not valid JSON.'),
  UNSUPPORTED_CONTENT_TYPE: badRequest('The body must be sent as application/json.'),
  UNSUPPORTED_CONTENT_ENCODING: permanent(
    415,
    'fix_request',
    'The body is compressed. Send it without Content-Encoding.',
  ),
  INVALID_IDEMPOTENCY_KEY: badRequest('Idempotency-Key must be 16 to 128 visible ASCII characters.'),
  IDEMPOTENCY_KEY_REUSED: permanent(
    422,
    'retry_with_new_key',
    'This Idempotency-Key was already used with a different request.',
  ),
  IDEMPOTENCY_IN_PROGRESS: transient(
    409,
    'retry_with_same_key',
    'The first request with this Idempotency-Key is still running. Repeat the request with the same key.',
  ),
  ROUTE_NOT_FOUND: permanent(404, 'fix_request', 'This path does not exist.'),
  NOT_FOUND: permanent(404, 'check_id', 'There is no record with this id.'),
  METHOD_NOT_ALLOWED: permanent(
    405,
    'fix_request',
    'The path does not support this method. See the Allow header.',
  ),
  BODY_TOO_LARGE: permanent(413, 'fix_request', 'The body is larger than 16 KiB.'),
  RATE_LIMITED: transient(429, 'retry_later', 'This address sent too many requests.'),
  UPSTREAM_FAILED: transient(
    502,
    'retry_later',
    'An upstream failed or returned invalid data; details.upstream may name it.',
  ),
  NOT_CONFIGURED: permanent(
    503,
    'contact_operator',
    'This area is not configured; details.variables lists the missing variables.',
  ),
  DATABASE_UNAVAILABLE: unavailable('The database is not available. Nothing was lost.'),
  CUSTODIAN_UNAVAILABLE: unavailable(
    'The custodian does not respond, or is overloaded with reads. Repeat with the same Idempotency-Key: money moves at most once.',
  ),
  INTERNAL: permanent(500, 'report_request_id', 'The service failed unexpectedly.'),

  // The operator route
  UNAUTHORIZED: permanent(
    401,
    'fix_request',
    'The operator route needs the operator secret as a bearer token.',
  ),

  // ABSR
  PRICE_DIVERGENT: unavailable('The price venues differ by more than 1 %.'),

  // Swaps
  INSUFFICIENT_BALANCE: permanent(
    400,
    'top_up_wallet',
    'After floor, operating float, reservations and network fee, the reserve has less SOL than the amount.',
  ),
  AMOUNT_TOO_SMALL: badRequest(
    'The amount is below minAmountSol of GET /api/swap/min; details has the bound and its source.',
  ),
  AMOUNT_TOO_LARGE: badRequest(
    "The amount is above the cap of one swap (details.maxAmountLamports), or above the bridge's maximum.",
  ),
  SWAP_LIMIT_REACHED: unavailable(
    `The amount would exceed a swap limit: details.limit is one of ${swapLimits.join(', ')}.`,
  ),
  SWAPS_PAUSED: unavailable('Signing of swaps is stopped; details.reason names why.'),
  QUOTE_BUDGET_SPENT: unavailable("The bridge's quotes for all clients are used up."),
  QUOTE_REFUSED: transient(
    502,
    'retry_with_new_key',
    "The bridge's quote did not pass our checks; details.reason names the check. Status 503: the bridge cannot quote at the moment (no_route, pair_paused, bridge_refused). Nothing was signed.",
  ),
  BRIDGE_REQUEST_INVALID: permanent(
    503,
    'contact_operator',
    'The bridge rejects a fixed field of our request. The operator has received an alarm. Nothing was signed.',
  ),
  PRICE_UNAVAILABLE: transient(
    502,
    'retry_with_new_key',
    'No two independent price sources agree, so no quote can be checked. Nothing was signed.',
  ),

  // Exchange
  EXCHANGE_CURRENCY_UNKNOWN: badRequest(
    "The provider does not support this currency; details.candidates lists the ticker's codes by network.",
  ),
  EXCHANGE_PAIR_INACTIVE: badRequest('The provider does not currently exchange this pair.'),
  EXCHANGE_AMOUNT_OUT_OF_RANGE: badRequest(
    "The amount is outside the provider's range; details has minAmount and maxAmount.",
  ),
  EXCHANGE_ADDRESS_INVALID: badRequest(
    'The provider refuses payoutAddress or refundAddress for its currency.',
  ),
  EXCHANGE_REFUSED: badRequest(
    'The provider refused the exchange for the reason in details.provider_code; none was created.',
  ),
  EXCHANGE_OUTCOME_UNKNOWN: permanent(
    502,
    'retry_with_new_key',
    'The provider may have created an exchange, but its pay-in address is unknown. No money moved, and unused exchanges expire. Pay nothing and create again.',
  ),

  // Analytics
  ANALYTICS_WRITE_FAILED: transient(500, 'retry_later', 'The view was not counted.'),
  ANALYTICS_READ_FAILED: transient(500, 'retry_later', 'The page-view counters cannot be read.'),

  // ASRY
  DEPOSIT_NOT_FOUND: transient(400, 'retry_later', 'No node has this transaction yet.'),
  DEPOSIT_NOT_FINAL: transient(
    409,
    'retry_later',
    'The payment is not final on the chain yet. Nothing was consumed.',
  ),
  DEPOSIT_FAILED: uselessDeposit('The transaction failed on the chain.'),
  DEPOSIT_NO_CREDIT: uselessDeposit(
    "The transaction does not credit the treasury's associated USDC or USDT account.",
  ),
  DEPOSIT_WRONG_ASSET: badRequest('The payment is in the other asset; details.creditedAsset names it.'),
  DEPOSIT_AMOUNT_MISMATCH: badRequest(
    'The treasury received a different amount than the request names; details has both. Nothing was consumed.',
  ),
  OLDER_THAN_RECORDS: permanent(
    409,
    'contact_operator',
    'The payment or request is older than the records of this service, which start at details.recordsSince. Nothing was consumed.',
  ),
  DEPOSIT_TOO_OLD: uselessDeposit(
    'The payment is from before the first reward epoch, or older than the maximum age.',
  ),
  DEPOSIT_TOO_SMALL: uselessDeposit('The payment is too small to earn anything.'),
  DEPOSIT_NOT_ELIGIBLE: uselessDeposit(
    'The payment is a transfer by the service itself, or has no sender; details.reason says which.',
  ),
  DEPOSIT_HELD: permanent(
    409,
    'contact_operator',
    'The chain does not show clearly who sent the payment; details.reason names the cause.',
  ),
  DEPOSIT_BOTH_ASSETS: permanent(409, 'contact_operator', 'One transaction credits both USDC and USDT.'),
  DEPOSIT_ALREADY_USED: permanent(
    409,
    'use_another_deposit',
    'The transaction has already paid for something else.',
  ),
  CLAIM_IN_PROGRESS: transient(
    409,
    'poll_status',
    'The whole payment is claimed, and a reward is being paid; details.claim is the record.',
  ),
  ALREADY_CLAIMED: permanent(
    409,
    'none',
    'Nothing is left to claim; details.claim shows the payouts, their times and transactions.',
  ),
  REWARD_USD_UNAVAILABLE: badRequest(
    'ASRY has no price in this epoch. Omit rewardUsd to get the whole reward.',
  ),
  CLAIMS_PAUSED: unavailable('Signing is stopped; details.reason names why. Nothing was consumed.'),

  // Pools
  DEX_NON_JSON: transient(
    502,
    'retry_later',
    'The pool API returned something other than JSON; body_preview has its first 500 characters.',
  ),

  // Nostr
  RELAYS_FAILED: transient(
    500,
    'retry_later',
    'No relay responded, and no earlier result is stored; relay_status lists each failure.',
  ),

  // Tokens, listings and their payments
  INVALID_TOKEN_TEXT: badRequest(
    'Wallets cannot show the name, symbol, description or image safely; details.fault is the reason.',
  ),
  CONTRADICTING_OPTIONS: badRequest('The options contradict each other; details.reason names them.'),
  METAPLEX_UNAVAILABLE: badRequest('This chain has no Metaplex metadata program. Use token-2022 instead.'),
  CREATION_REFUSED: badRequest('The chain rejects this creation in a simulation. Nothing was charged.'),
  NOT_A_MINT: badRequest('The chain has no token mint at this address.'),
  NO_METADATA: badRequest('The token has no name on the chain, by either metadata standard.'),
  LISTING_REFUSED: badRequest(
    "A key or rule of the mint can take or block every holder's tokens; details.powers names it.",
  ),
  ALREADY_LISTED: permanent(409, 'none', 'The token is already listed; details.tokenId names it.'),
  INVALID_SIGNATURE: badRequest('tx_signature is not a Solana signature.'),
  PAYMENT_FAILED: badRequest('The transaction failed on the chain.'),
  PAYMENT_NOT_FINAL: transient(409, 'retry_later', 'The payment is not final yet, or it does not exist.'),
  PAYMENT_NOT_BOUND: permanent(
    409,
    'fix_request',
    'This transaction does not pay this request: reference and amount both differ. If details.receivedLamports is set, the treasury received that amount, and the operator will return it.',
  ),
  PAYMENT_ALREADY_USED: permanent(
    409,
    'fix_request',
    'The transaction already serves another purpose; details.purpose names it.',
  ),
  PAYMENT_INCOMPLETE: permanent(
    409,
    'pay_missing_amount',
    'The payment is incomplete. Pay details.missingLamports to the same reference.',
  ),
  REFUND_DUE: permanent(
    409,
    'none',
    'The payment came too late, or its purchase failed. The payment is recorded for a refund to its payer.',
  ),
  INVOICE_IN_PROGRESS: transient(409, 'poll_status', 'The payment has arrived and the work has started.'),
  SALES_PAUSED: unavailable('Signing is stopped; details.reason names why. Nothing was charged.'),
  SPENDING_LIMIT_REACHED: unavailable(
    'The reserve cannot serve another creation yet; details.limit names the limit. Nothing was charged.',
  ),
  TOO_MANY_OPEN_REQUESTS: transient(
    429,
    'retry_later',
    'Too many requests by this address or by all callers await payment.',
  ),
};

export type ErrorCode = keyof typeof CODES;

export const ERRORS: ErrorTable & typeof CODES = CODES;

/** The errors of a route that reads a JSON body. */
export const BODY_ERRORS = [
  'INVALID_INPUT',
  'INVALID_JSON',
  'UNSUPPORTED_CONTENT_TYPE',
  'UNSUPPORTED_CONTENT_ENCODING',
  'BODY_TOO_LARGE',
] as const satisfies ErrorCode[];

type Options = {
  /** Overrides the table's status if the API contract requires it. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The caller's next step, if it differs from that of the code. */
  readonly action?: ErrorAction | undefined;
  /** Sent to the caller: no secret, no upstream URL. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

/** An expected failure. `message` and `details` are sent to the caller; `cause` is only logged. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly action: ErrorAction | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.action = options.action;
    this.details = options.details;
  }
}

/** An upstream that failed, was late, or returned an undocumented shape. */
export const upstreamFailed = (upstream: string, reason: string, cause?: unknown): AppError =>
  new AppError('UPSTREAM_FAILED', `The upstream service ${upstream} failed.`, {
    details: { upstream, reason },
    cause,
  });

/** Seconds to wait after a 429 that has no `Retry-After` in seconds. */
const RATE_LIMIT_PAUSE_SECONDS = 60;

/** An upstream that refused a request because of its rate limit. @param retryAfter the header `Retry-After` */
export const upstreamLimited = (upstream: string, retryAfter?: string | null): AppError =>
  new AppError('UPSTREAM_FAILED', `The upstream service ${upstream} limits our requests.`, {
    retryAfterSeconds: /^[1-9]\d{0,3}$/.test(retryAfter ?? '')
      ? Number(retryAfter)
      : RATE_LIMIT_PAUSE_SECONDS,
    details: { upstream, reason: 'rate_limited' },
  });

/**
 * The error of an area without configuration. @param variables names of the missing or invalid variables, never values
 */
export const notConfigured = (variables: readonly string[]): AppError =>
  new AppError('NOT_CONFIGURED', `The operator has not configured ${variables.join(', ')}.`, {
    details: { variables },
  });

export const databaseUnavailable = (message: string, cause: unknown): AppError =>
  new AppError('DATABASE_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

/** An error without its cause, as plain data. */
export type ErrorParts = Pick<AppError, 'code' | 'message'> & Omit<Options, 'cause'>;

/** The error for a refusal that was returned as a value. */
export const refusalError = ({
  code,
  message,
  retryAfterSeconds,
  details,
  status,
  action,
}: ErrorParts): AppError =>
  // During a deployment the custodian may run a newer release, whose codes this one does not know.
  code in ERRORS
    ? new AppError(code, message, { retryAfterSeconds, details, status, action })
    : new AppError('CUSTODIAN_UNAVAILABLE', message, { retryAfterSeconds: retryAfterSeconds ?? 30 });

/** An error response that the upstream's protocol defines. The upstream itself works. */
export class UpstreamRefusal extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Short reason of an upstream's failure, without secrets: safe to store and to show. */
export function failureReason(error: unknown): string {
  if (error instanceof UpstreamRefusal) return error.reason;
  if (error instanceof AppError) return String(error.details?.reason ?? error.code);
  return 'unexpected';
}

/** A short reason, and the upstream's name if only one failed. */
export type UpstreamFailure = { readonly reason: string; readonly upstream: string | null };

export function upstreamFailure(error: unknown): UpstreamFailure {
  const upstream = error instanceof AppError ? error.details?.upstream : undefined;
  return { reason: failureReason(error), upstream: typeof upstream === 'string' ? upstream : null };
}
