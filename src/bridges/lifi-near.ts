/**
 * LI.FI's `near` tool pays a one-time address, so the bytes do not show the BTC destination. 1Click's status of
 * that address contains the signed quote, which names the destination. Nothing that LI.FI states is used here.
 * @module
 */
import { type Lamports, type Sats, sats } from '../core/amount.ts';
import { BTC_ASSET, type OneClickStatus, SOL_ASSET } from '../providers/near-intents.ts';
import { judgeQuote } from './near-intents.ts';

/** Upper bound of the slippage that LI.FI may have requested. The floor on the output is the tighter bound. */
const MAX_SLIPPAGE_BPS = 300;

export type NearExpectation = {
  /** The receiver of the only transfer that is not a fee, and its lamports. */
  readonly depositAddress: string;
  readonly amount: Lamports;
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** The larger of our own floor and the guarantee of LI.FI's quote. */
  readonly minimumSats: Sats;
  /** Pinned `ed25519:` key of 1Click. */
  readonly quoteKey: string;
  /** Unix milliseconds. */
  readonly now: number;
};

export type NearConfirmation =
  | { readonly ok: true; readonly minimumSats: Sats; readonly expiresAt: number }
  /** `near_*` for the deposit's state, `quote_*` for a field of the signed quote. */
  | { readonly ok: false; readonly reason: string };

/** @param status 1Click's answer for the deposit address, read from its pinned host */
export async function confirmNearDestination(
  status: OneClickStatus,
  expected: NearExpectation,
): Promise<NearConfirmation> {
  const refuse = (reason: string): NearConfirmation => ({ ok: false, reason });
  const { quoteRequest, quote } = status.quoteResponse;
  // A used address means a replayed quote, or another sender's deposit to which ours would be added.
  if (status.status !== 'PENDING_DEPOSIT') return refuse('near_status');
  const { originChainTxHashes, destinationChainTxHashes, amountOut, refundedAmount } = status.swapDetails;
  const hasSeen = [originChainTxHashes, destinationChainTxHashes].some((hashes) => hashes?.length);
  if (hasSeen || isMoney(amountOut) || isMoney(refundedAmount)) return refuse('near_deposit_seen');
  if (quote.depositAddress !== expected.depositAddress) return refuse('near_deposit_address');
  const slippageBps = quoteRequest.slippageTolerance;
  if (!(Number.isInteger(slippageBps) && slippageBps >= 0 && slippageBps <= MAX_SLIPPAGE_BPS)) {
    return refuse('quote_slippage');
  }
  const verdict = await judgeQuote(
    status.quoteResponse,
    {
      dry: false,
      originAsset: SOL_ASSET,
      destinationAsset: BTC_ASSET,
      amount: expected.amount,
      slippageBps,
      refundTo: expected.reserveAddress,
      recipient: expected.bitcoinAddress,
      deadline: quoteRequest.deadline,
    },
    expected.quoteKey,
    expected.now,
  );
  if (!verdict.ok) return verdict;
  const { minimumSats, expiresAt } = verdict.quote;
  if (expiresAt === null) return refuse('quote_deadline');
  if (minimumSats < expected.minimumSats) return refuse('near_minimum');
  return { ok: true, minimumSats: sats(minimumSats), expiresAt };
}

const isMoney = (atoms: string | null | undefined): boolean => BigInt(atoms ?? 0) > 0n;
