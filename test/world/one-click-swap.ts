import { base58 } from '@scure/base';
import { scriptOf } from './bitcoin-wallet.ts';
import type { QuoteKey } from './keys.ts';
import { quoteMessage } from './quote-signature.ts';

export const SOL_ASSET = 'nep141:sol.omft.near';
/** The id of BTC in echoes and signatures. */
export const BTC_ASSET = '1cs_v1:btc:native:coin';
/** The id of BTC in the token list; requests may use either. */
export const LISTED_BTC_ASSET = 'nep141:btc.omft.near';

export type SwapStatus =
  | 'PENDING_DEPOSIT'
  | 'KNOWN_DEPOSIT_TX'
  | 'PROCESSING'
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

/** A swap with a deposit address. It owes the requested output, regardless of its quote. */
export interface Swap {
  readonly answer: QuoteAnswer;
  /** The id of BTC as the client wrote it; the status returns the same id. */
  readonly askedDestination: string;
  /** Its deposit address. */
  readonly deposit: string;
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
  refundHashes: string[];
  paidHashes: string[];
  /** Satoshis paid according to the status. */
  paidSats: bigint;
  /** Lamports; null: the status does not state them. */
  refunded: bigint | null;
  refundReason: string | null;
}

const fails = (check: () => unknown): boolean => {
  try {
    return check() === false;
  } catch {
    return true;
  }
};

const SWAP_TYPES = ['EXACT_INPUT', 'EXACT_OUTPUT', 'FLEX_INPUT', 'ANY_INPUT'];
const TEXTS = ['originAsset', 'destinationAsset', 'amount', 'refundTo', 'recipient', 'deadline'];

/** Refusals of the service's validator, with its texts and in its order. */
function violations(request: QuoteRequest): string[] {
  const isMissing = (key: string): boolean => request[key] === undefined || request[key] === null;
  return [
    ...(isMissing('dry') ? ['dry should not be empty'] : []),
    ...(typeof request.dry === 'boolean' ? [] : ['dry must be a boolean value']),
    ...(SWAP_TYPES.includes(request.swapType)
      ? []
      : [`swapType must be one of the following values: ${SWAP_TYPES.join(', ')}`]),
    ...(Number.isInteger(request.slippageTolerance) && request.slippageTolerance >= 0
      ? []
      : ['slippageTolerance must be a number conforming to the specified constraints']),
    ...TEXTS.filter(isMissing).map((key) => `${key} should not be empty`),
  ];
}

/** The request as the service reads it, or the message of its refusal. */
export function readQuoteRequest(body: string, now: number): QuoteRequest | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'Invalid JSON body';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Invalid request body';
  const request = value as QuoteRequest;
  const violated = violations(request);
  if (violated.length > 0) return violated.join(',');
  if (request.swapType !== 'EXACT_INPUT') return 'swapType is not supported here';
  if (request.originAsset !== SOL_ASSET) return 'tokenIn is not valid';
  if (request.destinationAsset !== BTC_ASSET && request.destinationAsset !== LISTED_BTC_ASSET)
    return 'tokenOut is not valid';
  if (typeof request.amount !== 'string' || !/^[1-9]\d*$/.test(request.amount))
    return 'amount must be a number string';
  if (fails(() => scriptOf(request.recipient))) return 'recipient is not valid';
  if (fails(() => base58.decode(request.refundTo).length === 32)) return 'refundTo is not valid';
  if (!(Date.parse(request.deadline) > now)) return 'deadline must be in the future';
  if (request.depositType !== 'ORIGIN_CHAIN' || request.refundType !== 'ORIGIN_CHAIN')
    return 'depositType is not supported here';
  if (request.recipientType !== 'DESTINATION_CHAIN') return 'recipientType is not supported here';
  return request;
}

/** Atoms as decimal text: no trailing zeros, but at least one decimal. */
export function formatUnits(atoms: bigint, decimals: number): string {
  const digits = atoms.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${digits.slice(0, -decimals)}.${fraction === '' ? '0' : fraction}`;
}

/** The request as an answer repeats it. */
export const echoOf = (asked: QuoteRequest): QuoteRequest => ({
  depositMode: 'SIMPLE',
  confidentiality: 'public',
  quoteWaitingTimeMs: 0,
  insured: false,
  ...asked,
});

export type Figures = {
  readonly amountIn: bigint;
  readonly amountInUsd: string;
  readonly amountOut: bigint;
  readonly amountOutUsd: string;
  readonly minAmountOut: bigint;
  readonly timeEstimate: number;
  readonly refundFee: bigint;
  readonly withdrawFee: bigint;
};

/** @param ends ISO time at which the deposit address closes; null for a dry quote */
export const quoteOf = (figures: Figures, ends: string | null, depositAddress: string | null) => ({
  amountIn: figures.amountIn.toString(),
  amountInFormatted: formatUnits(figures.amountIn, 9),
  amountInUsd: figures.amountInUsd,
  minAmountIn: figures.amountIn.toString(),
  amountOut: figures.amountOut.toString(),
  amountOutFormatted: formatUnits(figures.amountOut, 8),
  amountOutUsd: figures.amountOutUsd,
  minAmountOut: figures.minAmountOut.toString(),
  timeEstimate: figures.timeEstimate,
  refundFee: figures.refundFee.toString(),
  withdrawFee: figures.withdrawFee.toString(),
  ...(ends === null ? {} : { deadline: ends, timeWhenInactive: ends }),
  ...(depositAddress === null ? {} : { depositAddress }),
});

/** @param number of the answer, for its id */
export const answerOf = ({
  quoteRequest,
  quote,
  timestamp,
  key,
  number,
}: {
  quoteRequest: QuoteRequest;
  quote: Readonly<Record<string, unknown>>;
  timestamp: string;
  key: QuoteKey;
  number: number;
}): QuoteAnswer => ({
  quote,
  quoteRequest,
  signature: key.sign(quoteMessage(quoteRequest, quote, timestamp)),
  timestamp,
  correlationId: `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`,
});

const link = (base: string, hashes: readonly string[]): unknown[] =>
  hashes.map((hash) => ({ hash, explorerUrl: `${base}${hash}` }));

/** The three members that show one amount; null until it is known. */
const shownAmount = (name: string, amount: { atoms: bigint; decimals: number; usd: string } | null) => ({
  [name]: amount === null ? null : amount.atoms.toString(),
  [`${name}Formatted`]: amount === null ? null : formatUnits(amount.atoms, amount.decimals),
  [`${name}Usd`]: amount?.usd ?? null,
});

/**
 * The response of `GET /v0/status`: unused members are null, and the asset ids are those of the client's
 * request.
 */
export function showSwap(swap: Swap): Record<string, unknown> {
  const { correlationId, quoteRequest, ...answer } = swap.answer;
  const { dry, swapType, depositMode, slippageTolerance, originAsset, depositType } = quoteRequest;
  const { amount, refundTo, refundType, recipient, recipientType, deadline, referral } = quoteRequest;
  const appFees = ((quoteRequest.appFees ?? []) as readonly object[]).map((fee) => ({
    limitOrderId: null,
    ...fee,
  }));
  const { amountInUsd, amountOutUsd, refundFee, withdrawFee } = answer.quote;
  const hasDeposit = swap.received > 0n;
  const sol = (atoms: bigint) => ({ atoms, decimals: 9, usd: String(amountInUsd) });
  return {
    status: swap.status,
    updatedAt: swap.updatedAt,
    correlationId,
    swapDetails: {
      ...shownAmount('depositedAmount', hasDeposit ? sol(swap.received) : null),
      intentHashes: [],
      nearTxHashes: [],
      ...shownAmount('amountIn', hasDeposit ? sol(swap.amountIn) : null),
      ...shownAmount(
        'amountOut',
        swap.paidSats === 0n ? null : { atoms: swap.paidSats, decimals: 8, usd: String(amountOutUsd) },
      ),
      slippage: hasDeposit ? slippageTolerance : null,
      refundedAmount: swap.refunded?.toString() ?? null,
      refundedAmountFormatted: swap.refunded ? formatUnits(swap.refunded, 9) : '0',
      refundedAmountUsd: swap.refunded ? String(amountInUsd) : '0',
      refundReason: swap.refundReason,
      refundFee,
      withdrawFee,
      originChainTxHashes: link('https://solscan.io/tx/', swap.refundHashes),
      destinationChainTxHashes: link('https://mempool.space/tx/', swap.paidHashes),
    },
    quoteResponse: {
      ...answer,
      quoteRequest: {
        dry,
        swapType,
        depositMode,
        slippageTolerance,
        originAsset,
        depositType,
        destinationAsset: swap.askedDestination,
        amount,
        refundTo,
        refundType,
        recipient,
        recipientType,
        deadline,
        appFees,
        virtualChainRecipient: null,
        virtualChainRefundRecipient: null,
        referral: referral ?? null,
        confidentiality: quoteRequest.confidentiality,
      },
    },
  };
}
