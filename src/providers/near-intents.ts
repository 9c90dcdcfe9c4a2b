/**
 * NEAR Intents 1Click: quotes and swap states as the service returns them, unchecked. Amounts are integer strings in
 * atoms.
 * @see https://docs.near-intents.org (OpenAPI 0.1.10); recorded responses in test/fixtures/recorded/one-click
 * @module
 */
import * as z from 'zod';
import { upstreamFailed } from '../core/errors.ts';
import { numberText } from '../core/json.ts';
import { ask, type Fetch, shaped } from './http.ts';
import { type BridgeRefusal, isPassingFailure, refusalOf } from './near-intents-refusal.ts';

export const SOL_ASSET = 'nep141:sol.omft.near';
/** The id of BTC in our quote requests. The signatures of production quotes cover it. */
export const BTC_ASSET = '1cs_v1:btc:native:coin';
/**
 * Both ids of the same asset. The service replaces the second with the first: it signs and echoes a quote with the
 * first id. The status of such a quote echoes the second id, but its signature covers the first.
 */
export const BTC_ASSET_IDS: readonly string[] = [BTC_ASSET, 'nep141:btc.omft.near'];

const atoms = z.string().regex(/^\d{1,30}$/);
const text = z.string().max(500);
const optional = text.nullish();

const QuoteRequest = z.object({
  dry: z.boolean(),
  depositMode: optional,
  swapType: text,
  slippageTolerance: z.number(),
  originAsset: text,
  depositType: text,
  destinationAsset: text,
  amount: atoms,
  refundTo: text,
  refundType: text,
  recipient: text,
  recipientType: text,
  deadline: text,
  quoteWaitingTimeMs: z.number().nullish(),
  referral: optional,
  virtualChainRecipient: optional,
  virtualChainRefundRecipient: optional,
  customRecipientMsg: optional,
  confidentiality: optional,
  appFees: z
    .array(z.object({ recipient: text, fee: z.number() }))
    .max(20)
    .nullish(),
});

const QuoteDetails = z.object({
  amountIn: atoms,
  amountInFormatted: text,
  amountInUsd: text,
  minAmountIn: atoms,
  amountOut: atoms,
  amountOutFormatted: text,
  amountOutUsd: text,
  minAmountOut: atoms,
  timeEstimate: z.number().nullish(),
  depositAddress: optional,
  depositMemo: optional,
  deadline: optional,
  timeWhenInactive: optional,
  refundFee: optional,
  withdrawFee: optional,
  virtualChainRecipient: optional,
  virtualChainRefundRecipient: optional,
  customRecipientMsg: optional,
});

const Quote = z.object({
  timestamp: text,
  signature: text,
  quoteRequest: QuoteRequest,
  quote: QuoteDetails,
});

/** A sum; null for any other value, because the service writes default values until the sum is known. */
const sum = z
  .unknown()
  .transform((value) => numberText(value) ?? '')
  .transform((written) => (atoms.safeParse(written).success ? written : null))
  .optional();

const hashes = z.array(z.object({ hash: text })).nullish();
const Status = z.object({
  status: z.string(),
  quoteResponse: Quote,
  swapDetails: z.object({
    // "0" until the sum is known.
    refundedAmount: sum,
    refundFee: sum,
    // With REFUNDED this lists the refund; with SUCCESS it is empty.
    originChainTxHashes: hashes.catch(null),
    destinationChainTxHashes: hashes,
  }),
});

export type OneClickQuote = z.infer<typeof Quote>;
export type OneClickStatus = z.infer<typeof Status>;

export type OneClickRequest = {
  readonly dry: boolean;
  readonly originAsset: string;
  readonly destinationAsset: string;
  readonly amount: bigint;
  readonly slippageBps: number;
  readonly refundTo: string;
  readonly recipient: string;
  /** ISO time until which the deposit may arrive. */
  readonly deadline: string;
};

/** A call that failed after a longer time is not repeated, because a caller waits for the quote. */
const MOST_BEFORE_REPEAT_MS = 2_000;

export type NearIntents = ReturnType<typeof createNearIntents>;

export function createNearIntents(opts: { baseUrl: string; jwt?: string | undefined; fetch: Fetch }) {
  const upstream = 'near-intents';
  const headers: Record<string, string> = opts.jwt ? { authorization: `Bearer ${opts.jwt}` } : {};
  const common = { fetch: opts.fetch, upstream, headers };

  return {
    /**
     * A quote, or the reason why the service does not quote. A quote that is not dry also opens a one-time deposit
     * address, which is free if it is never paid. A failed call is repeated once, unless it was slow.
     * @throws AppError UPSTREAM_FAILED
     */
    async quote(request: OneClickRequest): Promise<OneClickQuote | BridgeRefusal> {
      const { slippageBps, amount, ...rest } = request;
      const body = {
        ...rest,
        amount: amount.toString(),
        slippageTolerance: slippageBps,
        swapType: 'EXACT_INPUT',
        depositMode: 'SIMPLE',
        depositType: 'ORIGIN_CHAIN',
        refundType: 'ORIGIN_CHAIN',
        recipientType: 'DESTINATION_CHAIN',
        quoteWaitingTimeMs: 0,
      };
      const url = `${opts.baseUrl}/v0/quote`;
      const send = () => ask({ ...common, method: 'POST', url, body });
      const began = Date.now();
      const first = await send();
      const isRepeated = isPassingFailure(first) && Date.now() - began <= MOST_BEFORE_REPEAT_MS;
      const answer = isRepeated ? await send() : first;
      return refusalOf(answer, amount) ?? shaped(upstream, answer, Quote);
    },

    /** Tells the service which transaction paid a deposit address. @throws AppError UPSTREAM_FAILED */
    async submitDeposit(depositAddress: string, txHash: string): Promise<void> {
      const url = `${opts.baseUrl}/v0/deposit/submit`;
      const { status } = await ask({ ...common, method: 'POST', url, body: { txHash, depositAddress } });
      if (status < 200 || status > 299) throw upstreamFailed(upstream, `status_${status}`);
    },

    /** The state of the swap at a deposit address. @throws AppError UPSTREAM_FAILED, reason `deposit_unknown` on 404 */
    async status(depositAddress: string): Promise<OneClickStatus> {
      const url = `${opts.baseUrl}/v0/status?depositAddress=${encodeURIComponent(depositAddress)}`;
      const answer = await ask({ ...common, url });
      if (answer.status === 404) throw upstreamFailed(upstream, 'deposit_unknown');
      return shaped(upstream, answer, Status);
    },
  };
}
