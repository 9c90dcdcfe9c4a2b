/**
 * The reserve's own facts and limits, and the order, that the transaction policy compares everything with.
 * @module
 */
import { SIGNATURE_FEE } from '../../chain/solana/transaction.ts';
import type { Lamports, Sats } from '../../core/amount.ts';

export type PolicyLimits = {
  /** Lamports for priority, at most. */
  readonly maxPriorityFee: bigint;
  /** LI.FI's fee transfer and fee lines, of the amount. */
  readonly maxFeeBps: number;
  /** Broker and affiliates of a vault swap together. */
  readonly maxBrokerBps: number;
  /** Lamports for accounts that a vault swap opens. */
  readonly maxRent: bigint;
  /** Lamports that the reserve keeps. */
  readonly floor: bigint;
};

/** Lamports that may leave beside the amount of a swap: signature, priority and rent. */
export const overheadOf = ({ maxPriorityFee, maxRent }: PolicyLimits): bigint =>
  SIGNATURE_FEE + maxPriorityFee + maxRent;

export type PolicyTerms = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** Token accounts, mints and authorities of ours: a swap has no business with any of them. */
  readonly ownAccounts: readonly string[];
  readonly limits: PolicyLimits;
};

export type SwapOrder = {
  readonly amount: Lamports;
  readonly slippageBps: number;
  /** What an independent price less our slippage and costs demands at the least. */
  readonly floorSats: Sats;
};
