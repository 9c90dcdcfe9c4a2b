/**
 * The second route: LI.FI reaches more liquidity and builds the transaction. This file returns a quote that
 * matches our request; the transaction policy must pass its bytes before anything is signed.
 * @module
 */
import { type Lamports, lamports, sats } from '../core/amount.ts';
import { AppError } from '../core/errors.ts';
import type { Lifi, LifiQuote } from '../providers/lifi.ts';
import { BITCOIN_CHAIN_ID, type LifiStatus, SOL_TOKEN, SOLANA_CHAIN_ID } from '../providers/lifi.ts';
import type { NearIntents } from '../providers/near-intents.ts';
import { judgeLifiQuote, TOOLS } from './lifi-quote.ts';
import { nearReport } from './near-intents.ts';
import type { BridgeReport, QuoteVerdict, SwapRoute } from './route.ts';

export const LIFI_SLIPPAGE_BPS = 50;
/** Upper bound of all fee lines, as a share of the amount. */
export const LIFI_MAX_FEE_BPS = 50;

type Options = {
  readonly provider: Lifi;
  /** 1Click, which settles deposits of the `near` tool. */
  readonly near: Pick<NearIntents, 'status'>;
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  readonly now: () => number;
};

export function createLifiRoute(opts: Options): SwapRoute {
  const { provider, near, reserveAddress, bitcoinAddress, now } = opts;

  return {
    name: 'lifi',

    /** LI.FI has no dry quotes. Each quote holds a transaction, which has no effect until it is signed. */
    async quote({ amount }) {
      const askedAt = now();
      const asked = {
        amount,
        fromAddress: reserveAddress,
        toAddress: bitcoinAddress,
        slippageBps: LIFI_SLIPPAGE_BPS,
        tools: TOOLS,
      };
      let quote: LifiQuote;
      try {
        quote = await provider.quote(asked);
      } catch (error) {
        const reason = error instanceof AppError ? error.details?.reason : undefined;
        if (reason === 'amount_too_low' || reason === 'no_route') return { ok: false, reason };
        throw error;
      }
      const echo = judgeLifiQuote(quote, {
        amount,
        slippageBps: LIFI_SLIPPAGE_BPS,
        reserveAddress,
        bitcoinAddress,
        maxFeeBps: LIFI_MAX_FEE_BPS,
      });
      return echo.ok ? offered(quote, amount, askedAt) : echo;
    },

    /**
     * 1Click's status decides for a deposit of the `near` tool. LI.FI's status is used for a vault swap, and while
     * 1Click does not answer.
     */
    async report({ signature, depositAddress, tool }) {
      const own = tool === 'near' ? await nearReport(near, depositAddress).catch(() => null) : null;
      return own ?? lifiReport(await provider.status(signature, tool ?? ''), tool ?? '');
    },
  };
}

function offered(quote: LifiQuote, amount: Lamports, askedAt: number): QuoteVerdict {
  const { toAmount, toAmountMin, executionDuration } = quote.estimate;
  return {
    ok: true,
    quote: {
      route: 'lifi',
      amount,
      expectedSats: sats(BigInt(toAmount)),
      minimumSats: sats(BigInt(toAmountMin)),
      fixedFeeSats: null,
      expiresAt: null,
      etaSeconds: typeof executionDuration === 'number' ? Math.ceil(executionDuration) : null,
      depositAddress: null,
      thirdParty: { quote, slippageBps: LIFI_SLIPPAGE_BPS, askedAt },
    },
  };
}

/**
 * Maps LI.FI's status and substatus to a bridge report. A refund or a partial payout is never reported as delivered.
 * @param tool the tool of the quote; a status of another tool is ignored
 * @see https://docs.li.fi/introduction/user-flows-and-examples/status-tracking
 */
export function lifiReport(status: LifiStatus, tool: string): BridgeReport {
  if (status.tool && status.tool !== tool) return { state: 'pending', detail: 'unknown' };
  const { receiving } = status;
  const txids = receiving?.txHash ? [receiving.txHash.toLowerCase()] : [];
  switch (status.status) {
    case 'DONE':
      if (status.substatus === 'COMPLETED' && receiving?.chainId === BITCOIN_CHAIN_ID) {
        return { state: 'delivered', txids };
      }
      if (status.substatus === 'REFUNDED') return { state: 'refunded', amount: refundOf(receiving) };
      if (status.substatus === 'PARTIAL') return { state: 'partial', txids };
      return { state: 'pending', detail: 'unknown' };
    case 'FAILED':
      return status.substatus === 'REFUNDED'
        ? { state: 'refunded', amount: refundOf(receiving) }
        : { state: 'failed', reason: 'bridge_failed' };
    case 'PENDING':
      return {
        state: 'pending',
        detail: status.substatus === 'WAIT_SOURCE_CONFIRMATIONS' ? 'landed' : 'settling',
      };
    default:
      // NOT_FOUND and INVALID are not final, since the index may be late. Neither is an undocumented status.
      return { state: 'pending', detail: 'unknown' };
  }
}

function refundOf(receiving: LifiStatus['receiving']): Lamports | null {
  const isSol = receiving?.token?.address === SOL_TOKEN && receiving.token.chainId === SOLANA_CHAIN_ID;
  return isSol && receiving?.amount ? lamports(BigInt(receiving.amount)) : null;
}
