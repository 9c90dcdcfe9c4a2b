/**
 * The reserve's own addresses and limits and the order: the transaction policy compares everything with them.
 * @module
 */
import { SIGNATURE_FEE } from '../../chain/solana/transaction.ts';
import type { Lamports, Sats } from '../../core/amount.ts';

export type PolicyLimits = {
  /** Maximum priority fee in lamports. */
  readonly maxPriorityFee: bigint;
  /** Maximum of LI.FI's fee transfer and fee lines, as a share of the amount. */
  readonly maxFeeBps: number;
  /** Maximum of broker and affiliate fees of a vault swap together. */
  readonly maxBrokerBps: number;
  /** Maximum rent in lamports for accounts that a vault swap opens. */
  readonly maxRent: bigint;
  /** Lamports that stay in the reserve. */
  readonly floor: bigint;
};

/** Lamports that may leave in addition to the amount of a swap: signature, priority fee and rent. */
export const overheadOf = ({ maxPriorityFee, maxRent }: PolicyLimits): bigint =>
  SIGNATURE_FEE + maxPriorityFee + maxRent;

export type PolicyTerms = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** Token accounts, mints and authorities of ours; a swap may not use any of them. */
  readonly ownAccounts: readonly string[];
  readonly limits: PolicyLimits;
};

export type SwapOrder = {
  readonly amount: Lamports;
  readonly slippageBps: number;
  /** Minimum output at an independent price, less our slippage and costs. */
  readonly floorSats: Sats;
};
