import type { ErrorTable } from '../../core/errors.ts';

const badRequest = { status: 400, action: 'fix_request', retryable: false } as const;
const conflict = { status: 409, action: 'fix_request', retryable: false } as const;

export const TOKEN_ERRORS = {
  INVALID_TOKEN_TEXT: {
    ...badRequest,
    meaning:
      'Wallets cannot show the name, symbol, description or image safely; details.fault is the reason.',
  },
  CONTRADICTING_OPTIONS: {
    ...badRequest,
    meaning: 'The options contradict each other; details.reason names them.',
  },
  METAPLEX_UNAVAILABLE: {
    ...badRequest,
    meaning: 'This chain has no Metaplex metadata program. Use token-2022 instead.',
  },
  CREATION_REFUSED: {
    ...badRequest,
    meaning: 'The chain rejects this creation in a simulation. Nothing was charged.',
  },
  NOT_A_MINT: { ...badRequest, meaning: 'The chain has no token mint at this address.' },
  NO_METADATA: { ...badRequest, meaning: 'The token has no name on the chain, by either metadata standard.' },
  ALREADY_LISTED: {
    ...conflict,
    action: 'none',
    meaning: 'The token is already listed; details.tokenId names it.',
  },
  INVALID_SIGNATURE: { ...badRequest, meaning: 'tx_signature is not a Solana signature.' },
  PAYMENT_FAILED: { ...badRequest, meaning: 'The transaction failed on the chain; it paid nothing.' },
  PAYMENT_NOT_FINAL: {
    status: 409,
    action: 'retry_later',
    retryable: true,
    meaning: 'The payment is not final yet, or it does not exist.',
  },
  PAYMENT_NOT_BOUND: {
    ...conflict,
    meaning:
      "The transaction contains neither this request's reference nor exactly its amount, so it does not pay for it.",
  },
  PAYMENT_ALREADY_USED: {
    ...conflict,
    meaning: 'The transaction already serves another purpose; details.purpose names it.',
  },
  PAYMENT_INCOMPLETE: {
    status: 409,
    action: 'pay_missing_amount',
    retryable: false,
    meaning: 'The payment is incomplete. Pay details.missingLamports to the same reference.',
  },
  REFUND_DUE: {
    ...conflict,
    action: 'none',
    meaning:
      'The payment bought nothing: it came too late, or the creation failed permanently. It is recorded for a refund to its payer.',
  },
  INVOICE_IN_PROGRESS: {
    status: 409,
    action: 'poll_status',
    retryable: true,
    meaning:
      'The payment has arrived and the work has begun. GET the invoice or the token to see the result.',
  },
  SPENDING_LIMIT_REACHED: {
    status: 503,
    action: 'retry_later',
    retryable: true,
    meaning:
      'The reserve cannot serve another creation now; details.limit names the limit. Nothing was charged.',
  },
  TOO_MANY_OPEN_REQUESTS: {
    status: 429,
    action: 'retry_later',
    retryable: true,
    meaning:
      'Too many requests of this address or of all callers await payment. Pay one of them or let it expire.',
  },
} as const satisfies ErrorTable;
