import { base58 } from '@scure/base';
import { scriptOf } from './bitcoin-wallet.ts';
import type { SolanaKey } from './keys.ts';

export const SOL_ASSET = 'nep141:sol.omft.near';
export const BTC_ASSET = 'nep141:btc.omft.near';

export type SwapStatus =
  | 'PENDING_DEPOSIT'
  | 'KNOWN_DEPOSIT_TX'
  | 'PROCESSING'
  | 'INCOMPLETE_DEPOSIT'
  | 'SUCCESS'
  | 'REFUNDED'
  | 'FAILED';

export interface QuoteRequest {
  readonly dry: boolean;
  readonly swapType: string;
  readonly slippageTolerance: number;
  readonly originAsset: string;
  readonly depositType: string;
  readonly destinationAsset: string;
  readonly amount: string;
  readonly refundTo: string;
  readonly refundType: string;
  readonly recipient: string;
  readonly recipientType: string;
  readonly deadline: string;
  readonly [key: string]: unknown;
}

export interface QuoteAnswer {
  readonly correlationId: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly quoteRequest: QuoteRequest;
  readonly quote: Readonly<Record<string, unknown>>;
}

/** A swap with a deposit address. What it owes is what was truly asked, whatever its quote claimed. */
export interface Swap {
  readonly answer: QuoteAnswer;
  readonly deposit: SolanaKey;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly minAmountOut: bigint;
  readonly recipient: string;
  readonly refundTo: string;
  /** Milliseconds since 1970; later deposits are sent back. */
  readonly deadline: number;
  status: SwapStatus;
  updatedAt: string;
  received: bigint;
  depositHashes: string[];
  paidHashes: string[];
  /** Satoshis that the status claims were paid. */
  paidSats: bigint;
  refunded: bigint;
  refundReason: string | null;
}

const REQUIRED = [
  'dry',
  'swapType',
  'slippageTolerance',
  'originAsset',
  'depositType',
  'destinationAsset',
  'amount',
  'refundTo',
  'refundType',
  'recipient',
  'recipientType',
  'deadline',
];

const fails = (check: () => unknown): boolean => {
  try {
    return check() === false;
  } catch {
    return true;
  }
};

/** Checks a quote request as the service does; answers its refusal as text, or the request. */
export function readQuoteRequest(body: string): QuoteRequest | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'Invalid JSON body';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Invalid request body';
  const request = value as QuoteRequest;
  const missing = REQUIRED.find((key) => request[key] === undefined || request[key] === null);
  if (missing !== undefined) return `${missing} should not be empty`;
  if (typeof request.dry !== 'boolean') return 'dry must be a boolean value';
  if (request.swapType !== 'EXACT_INPUT') return 'swapType is not supported here';
  if (!Number.isInteger(request.slippageTolerance) || request.slippageTolerance < 0)
    return 'slippageTolerance must be a number';
  if (request.originAsset !== SOL_ASSET || request.destinationAsset !== BTC_ASSET)
    return 'tokenOut is not valid';
  if (typeof request.amount !== 'string' || !/^[1-9]\d*$/.test(request.amount))
    return 'amount must be a number string';
  if (fails(() => scriptOf(request.recipient))) return 'recipient is not valid';
  if (fails(() => base58.decode(request.refundTo).length === 32)) return 'refundTo is not valid';
  if (!(Date.parse(request.deadline) > Date.now())) return 'deadline must be in the future';
  if (request.depositType !== 'ORIGIN_CHAIN' || request.refundType !== 'ORIGIN_CHAIN')
    return 'depositType is not supported here';
  if (request.recipientType !== 'DESTINATION_CHAIN') return 'recipientType is not supported here';
  return request;
}

/** Atoms as decimal text without trailing zeros. */
export function formatUnits(atoms: bigint, decimals: number): string {
  const digits = atoms.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = digits.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

const link = (base: string, hashes: readonly string[]): unknown[] =>
  hashes.map((hash) => ({ hash, explorerUrl: `${base}${hash}` }));

/** The answer of `GET /v0/status`. */
export function showSwap(swap: Swap): Record<string, unknown> {
  const { answer } = swap;
  return {
    correlationId: answer.correlationId,
    quoteResponse: {
      ...answer,
      quoteRequest: {
        depositMode: 'SIMPLE',
        virtualChainRecipient: null,
        virtualChainRefundRecipient: null,
        referral: null,
        ...answer.quoteRequest,
      },
    },
    status: swap.status,
    updatedAt: swap.updatedAt,
    swapDetails: {
      intentHashes: [],
      nearTxHashes: [],
      originChainTxHashes: link('https://solscan.io/tx/', swap.depositHashes),
      destinationChainTxHashes: link('https://mempool.space/tx/', swap.paidHashes),
      ...(swap.received === 0n
        ? {}
        : {
            depositedAmount: swap.received.toString(),
            depositedAmountFormatted: formatUnits(swap.received, 9),
            amountIn: swap.amountIn.toString(),
            amountInFormatted: formatUnits(swap.amountIn, 9),
            slippage: answer.quoteRequest.slippageTolerance,
          }),
      ...(swap.paidSats === 0n
        ? {}
        : {
            amountOut: swap.paidSats.toString(),
            amountOutFormatted: formatUnits(swap.paidSats, 8),
            withdrawFee: answer.quote.withdrawFee,
          }),
      ...(swap.refunded === 0n
        ? {}
        : {
            refundedAmount: swap.refunded.toString(),
            refundedAmountFormatted: formatUnits(swap.refunded, 9),
          }),
      ...(swap.refundReason === null ? {} : { refundReason: swap.refundReason }),
    },
  };
}
