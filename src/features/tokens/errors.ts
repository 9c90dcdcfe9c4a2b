import type { ErrorTable } from '../../core/errors.ts';

const badRequest = { status: 400, action: 'fix_request', retryable: false } as const;
const conflict = { status: 409, action: 'fix_request', retryable: false } as const;

export const TOKEN_ERRORS = {
  INVALID_TOKEN_TEXT: {
    ...badRequest,
    meaning:
      'Name, symbol, description or image cannot be shown safely by wallets; details.fault is the reason.',
  },
  CONTRADICTING_OPTIONS: {
    ...badRequest,
    meaning: 'The options exclude each other; details.reason names them.',
  },
  METAPLEX_UNAVAILABLE: {
    ...badRequest,
    meaning: 'The Metaplex metadata program is not on this chain; ask for token-2022 instead.',
  },
  CREATION_REFUSED: {
    ...badRequest,
    meaning: 'The chain refuses this creation in a simulation. Nothing was charged.',
  },
  NOT_A_MINT: { ...badRequest, meaning: 'The chain has no token mint at this address.' },
  NO_METADATA: { ...badRequest, meaning: 'The token has no name on the chain, by either metadata standard.' },
  ALREADY_LISTED: {
    ...conflict,
    action: 'none',
    meaning: 'The token is listed already; details.tokenId names it.',
  },
  INVALID_SIGNATURE: { ...badRequest, meaning: 'tx_signature is not a Solana signature.' },
  PAYMENT_FAILED: { ...badRequest, meaning: 'The transaction failed on the chain; it paid nothing.' },
  PAYMENT_NOT_FINAL: {
    status: 409,
    action: 'retry_later',
    retryable: true,
    meaning: 'The payment is not final yet, or the chain does not know it.',
  },
  PAYMENT_NOT_BOUND: {
    ...conflict,
    meaning:
      "The transaction carries neither this request's reference nor exactly its amount, so it does not pay for it.",
  },
  PAYMENT_ALREADY_USED: {
    ...conflict,
    meaning: 'The transaction serves another purpose; details.purpose names it.',
  },
  PAYMENT_INCOMPLETE: {
    status: 409,
    action: 'pay_missing_amount',
    retryable: false,
    meaning: 'More must be paid to the same reference; details.missingLamports tells how much.',
  },
  REFUND_DUE: {
    ...conflict,
    action: 'none',
    meaning:
      'The payment bought nothing: it came too late, or the creation failed for good. It is recorded as owed back to its payer.',
  },
  INVOICE_IN_PROGRESS: {
    status: 409,
    action: 'poll_status',
    retryable: true,
    meaning: 'The payment has arrived and the work has begun; GET the invoice or the token to see its end.',
  },
  SPENDING_LIMIT_REACHED: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning:
      'The reserve cannot serve another creation now: details.limit is operating_float or creations_day. Nothing was charged.',
  },
  TOO_MANY_OPEN_REQUESTS: {
    status: 429,
    action: 'retry_later',
    retryable: true,
    meaning:
      'Too many requests of this address or of all callers wait for payment; pay one or let it expire.',
  },
} as const satisfies ErrorTable;
