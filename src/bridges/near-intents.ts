/**
 * The swap route through NEAR Intents 1Click. It verifies a quote's signature and compares the quote's fields with our
 * request. The payment is one System transfer that we build.
 * @module
 */
import { isAddress, isOnCurve, isSignature } from '../chain/solana/address.ts';
import { lamports, sats } from '../core/amount.ts';
import {
  BTC_ASSET,
  BTC_ASSET_IDS,
  type NearIntents,
  type OneClickQuote,
  type OneClickRequest,
  type OneClickStatus,
  SOL_ASSET,
} from '../providers/near-intents.ts';
import type { BridgeRefusal } from '../providers/near-intents-refusal.ts';
import type { BridgeReport, QuoteVerdict, SwapRoute } from './route.ts';

/**
 * Time from a request to its deadline. A deposit can land until its blockhash expires, 30 to 60 s after the quote. The
 * remaining time is a margin.
 */
const DEADLINE_MS = 60 * 60_000;
const MINIMUM_LIFE_MS = 15 * 60_000;
const SLIPPAGE_BPS = 50;
/** Maximum stored characters of a bridge status. */
const MAX_SHOWN = 500;
/** Upper bound of the sum of `appFees`, in basis points. */
export const MAX_APP_FEES_BPS = 25;
/**
 * The fee that 1Click adds to `appFees` for callers without a JWT or an API key, in basis points (recorded
 * 2026-09-30).
 */
export const KEYLESS_FEE_BPS = 20;

type SignatureCheck = (quote: OneClickQuote) => Promise<boolean>;

type Options = {
  readonly provider: NearIntents;
  /** Whether the service's pinned key has signed a quote. */
  readonly isSigned: SignatureCheck;
  /** Required refund address: the reserve. */
  readonly reserveAddress: string;
  /** Required destination of the BTC. */
  readonly bitcoinAddress: string;
  readonly now: () => number;
  /**
   * Called with level `alarm` if the fees exceed our cap, and with `warn` if the bridge rejects our request or returns
   * an unknown refusal.
   */
  readonly log?: (line: Readonly<Record<string, unknown>>) => void;
};

export function createNearIntentsRoute(opts: Options): SwapRoute {
  return {
    name: 'near-intents',

    async quote({ amount, dry }) {
      const request: OneClickRequest = {
        dry,
        originAsset: SOL_ASSET,
        destinationAsset: BTC_ASSET,
        amount,
        slippageBps: SLIPPAGE_BPS,
        refundTo: opts.reserveAddress,
        recipient: opts.bitcoinAddress,
        deadline: new Date(opts.now() + DEADLINE_MS).toISOString(),
      };
      const answer = await opts.provider.quote(request);
      if ('reason' in answer) return refused(opts, answer);
      const verdict = await checkQuote(answer, request, opts.isSigned, opts.now());
      if (verdict.ok)
        return dry ? verdict : { ok: true, quote: { ...verdict.quote, signed: JSON.stringify(answer) } };
      if (verdict.reason === 'quote_app_fees')
        opts.log?.({
          level: 'alarm',
          event: 'bridge_fees_over_cap',
          feesBps: (answer.quoteRequest.appFees ?? []).map(({ fee }) => fee),
          maximumBps: MAX_APP_FEES_BPS,
        });
      return verdict;
    },

    async report(depositAddress) {
      const { status, swapDetails, quoteResponse } = await opts.provider.status(depositAddress);
      if (quoteResponse.quote.depositAddress !== depositAddress)
        return { state: 'pending', detail: 'settling' };
      const shown = JSON.stringify({ status, ...swapDetails }).slice(0, MAX_SHOWN);
      return { ...bridgeReport(status, swapDetails), shown };
    },

    announce: (depositAddress, signature) => opts.provider.submitDeposit(depositAddress, signature),
  };
}

/**
 * Handles a refusal by the bridge. If only the operator can remove its cause, the operator is alerted. In this case,
 * and for an unknown refusal, the bridge's message is logged.
 */
function refused({ log }: Options, { reason, least, text }: BridgeRefusal): QuoteVerdict {
  if (reason === 'request_invalid') log?.({ level: 'warn', event: 'bridge_rejects_request', text });
  if (reason === 'bridge_refused') log?.({ level: 'warn', event: 'bridge_refused_quote', text });
  return { ok: false, reason, ...(least ? { least } : {}) };
}

/** Checks the signature first, then every field. */
export const checkQuote = async (
  answer: OneClickQuote,
  request: OneClickRequest,
  isSigned: SignatureCheck,
  now: number,
): Promise<QuoteVerdict> =>
  (await isSigned(answer)) ? compareQuote(answer, request, now) : { ok: false, reason: 'quote_signature' };

/** Compares a response with the request field by field. Each kind of difference has its own reason code. */
export function compareQuote(answer: OneClickQuote, request: OneClickRequest, now: number): QuoteVerdict {
  const { quoteRequest: echo, quote } = answer;
  const refuse = (reason: string): QuoteVerdict => ({ ok: false, reason });

  if (echo.dry !== request.dry) return refuse('quote_dry');
  if (!isSameAsset(echo.originAsset, request.originAsset)) return refuse('quote_origin_asset');
  if (!isSameAsset(echo.destinationAsset, request.destinationAsset)) return refuse('quote_destination_asset');
  if (echo.recipient !== request.recipient || echo.recipientType !== 'DESTINATION_CHAIN')
    return refuse('quote_recipient');
  if (echo.refundTo !== request.refundTo || echo.refundType !== 'ORIGIN_CHAIN')
    return refuse('quote_refund_address');
  if (echo.depositType !== 'ORIGIN_CHAIN' || echo.swapType !== 'EXACT_INPUT') return refuse('quote_type');
  if ((echo.depositMode ?? 'SIMPLE') !== 'SIMPLE' || quote.depositMemo) return refuse('quote_deposit_mode');
  const amount = request.amount.toString();
  if (echo.amount !== amount || quote.amountIn !== amount || BigInt(quote.minAmountIn) > request.amount) {
    return refuse('quote_amount');
  }
  if (echo.slippageTolerance !== request.slippageBps) return refuse('quote_slippage');
  for (const part of [echo, quote]) {
    if (part.virtualChainRecipient || part.virtualChainRefundRecipient || part.customRecipientMsg) {
      return refuse('quote_detour');
    }
  }
  if ((echo.confidentiality ?? 'public') !== 'public') return refuse('quote_confidentiality');
  const appFees = (echo.appFees ?? []).map(({ fee }) => fee);
  const allFees = appFees.reduce((sum, fee) => sum + fee, 0);
  if (!(appFees.every((fee) => fee >= 0) && allFees <= MAX_APP_FEES_BPS)) return refuse('quote_app_fees');
  const expected = BigInt(quote.amountOut);
  const minimum = BigInt(quote.minAmountOut);
  if (minimum <= 0n || minimum > expected) return refuse('quote_output');
  // The signature does not cover the request's deadline, after which 1Click sends a deposit back.
  if (Date.parse(echo.deadline) !== Date.parse(request.deadline)) return refuse('quote_deadline');
  const expiresAt = request.dry ? null : expiry(quote, now);
  if (expiresAt === undefined) return refuse('quote_deadline');
  const depositAddress = request.dry ? null : depositOf(quote.depositAddress, request);
  if (depositAddress === undefined) return refuse('quote_deposit_address');

  return {
    ok: true,
    quote: {
      route: 'near-intents',
      amount: lamports(request.amount),
      expectedSats: sats(expected),
      minimumSats: sats(minimum),
      fixedFeeSats: sats(/^\d{1,18}$/.test(quote.withdrawFee ?? '') ? BigInt(quote.withdrawFee ?? 0) : 0n),
      expiresAt,
      etaSeconds: quote.timeEstimate || null,
      depositAddress,
    },
  };
}

const isSameAsset = (a: string, b: string): boolean =>
  a === b || (BTC_ASSET_IDS.includes(a) && BTC_ASSET_IDS.includes(b));

/**
 * When the deposit address expires, in Unix milliseconds; undefined if it is malformed or leaves too little time for
 * the deposit.
 */
function expiry(quote: OneClickQuote['quote'], now: number): number | undefined {
  const ends = [quote.deadline, quote.timeWhenInactive]
    .filter((text) => typeof text === 'string')
    .map(Date.parse);
  if (!quote.deadline || ends.some(Number.isNaN)) return undefined;
  const end = Math.min(...ends);
  return end > now + MINIMUM_LIFE_MS ? end : undefined;
}

/** The deposit address. Undefined if it is off the curve (an account of a program) or our own refund address. */
function depositOf(address: string | null | undefined, request: OneClickRequest): string | undefined {
  if (!address || !isAddress(address) || !isOnCurve(address) || address === request.refundTo)
    return undefined;
  return address;
}

type SwapDetails = OneClickStatus['swapDetails'];

function bridgeReport(status: string, details: SwapDetails): BridgeReport {
  switch (status) {
    case 'SUCCESS':
      return { state: 'delivered', txids: hashesOf(details.destinationChainTxHashes).map(lowerCase) };
    case 'REFUNDED':
      return refundReport(details);
    case 'FAILED':
      return { state: 'failed', reason: 'bridge_failed' };
    case 'PENDING_DEPOSIT':
    case 'INCOMPLETE_DEPOSIT':
      return { state: 'pending', detail: 'landed' };
    default:
      return { state: 'pending', detail: 'settling' };
  }
}

const hashesOf = (list: SwapDetails['destinationChainTxHashes']): string[] =>
  (list ?? []).map(({ hash }) => hash);
const lowerCase = (hash: string): string => hash.toLowerCase();

function refundReport({ refundedAmount, refundFee, originChainTxHashes }: SwapDetails): BridgeReport {
  const signatures = hashesOf(originChainTxHashes).filter(isSignature);
  return {
    state: 'refunded',
    amount: refundedAmount ? lamports(BigInt(refundedAmount)) : null,
    ...(refundFee ? { fee: lamports(BigInt(refundFee)) } : {}),
    ...(signatures.length > 0 ? { signatures } : {}),
  };
}
