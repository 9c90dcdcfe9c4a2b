/**
 * Swaps reserve SOL into BTC: one System transfer to the bridge's one-time address, or a third party's
 * transaction that the policy has approved. It then waits for the Bitcoin payment.
 * @module
 */
import { type SwapQuote, withoutQuoteRefusal } from '../../bridges/route.ts';
import { lamportsChange, TRANSFER_FEE, transferMessage } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import {
  agreePrices,
  fairLamports,
  fairSats,
  MAX_DIVERGENCE_BPS,
  type PriceReport,
} from '../../core/price.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import {
  type Landing,
  type Operation,
  type OperationKind,
  type Prepared,
  plannedOperation,
} from '../kernel/operation.ts';
import { type Blockhash, signedAtOf } from '../kernel/solana-view.ts';
import type { KindRules } from '../kernel/state-machine.ts';
import { checkLanding } from '../policy/simulation.ts';
import { createSwapSettlement, type SettlementPorts } from './settlement.ts';
import type { ApprovedPayment, CheckThirdParty } from './third-party-payment.ts';

export const SWAP_RULES: KindRules = { maxAttempts: 1, retriesPreparation: false, settles: true };

export type SwapPorts = SettlementPorts & {
  /** The answers of all sources in time; never a cached price. */
  readPrices(): Promise<PriceReport[]>;
  latestBlockhash(): Promise<Blockhash>;
  /** Checks a third party's transaction; without it, such payments are not made. */
  readonly checkThirdParty?: CheckThirdParty;
  /**
   * Lamports that may leave in addition to the amount on the most expensive route; absent: the fee of our own
   * transfer.
   */
  readonly overhead?: bigint;
};

/** The sources of quotes and of the prices that they are compared with. */
export type QuotePorts = Pick<
  SwapPorts,
  'routes' | 'readPrices' | 'maxCostBps' | 'checkThirdParty' | 'overhead'
>;

/** @param key the caller's key hash, or a random one. The row keeps it, so a key never pays twice. */
export const swapId = (key: string): string => `swap:${key}`;

/**
 * The intent of a swap. `bodyHash` is the hash of the request made with the caller's key; null without a key.
 */
export const planSwap = (p: {
  id: string;
  bodyHash: string | null;
  amount: Lamports;
  now: number;
  overhead?: bigint | undefined;
}): Operation =>
  plannedOperation({
    id: p.id,
    kind: 'swap',
    amount: p.amount,
    reserved: swapDebit(p.amount, p.overhead),
    plan: { bodyHash: p.bodyHash },
    now: p.now,
  });

/** All lamports that may leave the reserve for a swap: the amount and its costs on the chain. */
export const swapDebit = (amount: Lamports, overhead: bigint = TRANSFER_FEE): Lamports =>
  lamports(amount + overhead);

export type PricedQuote =
  | {
      readonly ok: true;
      readonly cost: Lamports;
      readonly sources: readonly string[];
      readonly price: PriceReport;
    }
  | { readonly ok: false; readonly reason: string };

/** Compares a quote's guaranteed output with an independent price. */
export function priceQuote(
  quote: SwapQuote,
  prices: readonly PriceReport[],
  maxCostBps: number,
): PricedQuote {
  const agreed = agreePrices(prices, MAX_DIVERGENCE_BPS);
  if (!agreed.ok) return agreed;
  const costOf = (output: Sats): Lamports => {
    const worth = fairLamports(output, agreed.price);
    return lamports(worth < quote.amount ? quote.amount - worth : 0n);
  };
  const isTooMuch = (cost: Lamports) => cost * 10_000n > quote.amount * BigInt(maxCostBps);
  const cost = costOf(quote.minimumSats);
  if (isTooMuch(cost)) {
    // The quote would pass without its fixed fee, so a larger amount would pass.
    const small = !isTooMuch(costOf(sats(quote.minimumSats + (quote.fixedFeeSats ?? 0n))));
    return { ok: false, reason: small ? 'amount_below_cost' : 'quote_too_expensive' };
  }
  return { ok: true, cost, sources: agreed.sources, price: agreed.price };
}

type Priced = PricedQuote & { readonly ok: true };
export type QuotedSwap =
  | {
      readonly ok: true;
      readonly quote: SwapQuote;
      readonly priced: Priced;
      /** A third party's transaction that the policy has approved. */
      readonly approved: ApprovedPayment | null;
    }
  | { readonly ok: false; readonly reason: string };

/** The first route whose quote passes, else the reason of the last refusal. Signs nothing. */
export async function quoteSwap(p: QuotePorts, amount: Lamports, dry: boolean): Promise<QuotedSwap> {
  const prices = p.readPrices();
  prices.catch(() => undefined);
  let refusal = 'no_route';
  let failure: unknown;
  for (const route of p.routes) {
    try {
      const verdict = await route.quote({ amount, dry });
      const passed = verdict.ok ? await judged(p, verdict.quote, await prices) : verdict;
      if (passed.ok) return passed;
      // `no_route` tells the caller less than another route's reason, so it does not replace one.
      if (passed.reason !== 'no_route') refusal = passed.reason;
    } catch (error) {
      failure = error;
    }
  }
  // The failed route might have accepted an amount that the other route refuses.
  if (failure && withoutQuoteRefusal(refusal)) throw failure;
  return { ok: false, reason: refusal };
}

async function judged(p: QuotePorts, quote: SwapQuote, prices: readonly PriceReport[]): Promise<QuotedSwap> {
  const priced = priceQuote(quote, prices, p.maxCostBps);
  if (!priced.ok) return priced;
  if (!quote.thirdParty) return { ok: true, quote, priced, approved: null };
  if (!p.checkThirdParty) return { ok: false, reason: 'policy_missing' };
  const fair = fairSats(quote.amount, priced.price);
  const floorSats = sats((fair * BigInt(10_000 - p.maxCostBps)) / 10_000n);
  const approved = await p.checkThirdParty(quote.thirdParty, { amount: quote.amount, floorSats });
  if (!approved.ok) return approved;
  // Fees and rent of a third party's bytes are part of their cost.
  const cost = lamports(priced.cost + approved.spend - quote.amount);
  return cost * 10_000n > quote.amount * BigInt(p.maxCostBps)
    ? { ok: false, reason: 'quote_too_expensive' }
    : { ok: true, quote, priced: { ...priced, cost }, approved };
}

export function createSwapKind(ports: SwapPorts): OperationKind {
  /** Our own transfer to the one-time address, or the approved transaction. */
  async function payment(quote: SwapQuote, approved: ApprovedPayment | null) {
    if (approved) return approved;
    const { depositAddress, minimumSats, amount } = quote;
    if (depositAddress === null) return undefined;
    // Read last: the blockhash ages from here, and the quote may have taken seconds.
    const lifetime = await ports.latestBlockhash();
    const message = transferMessage({ from: ports.reserveAddress, to: depositAddress, amount, lifetime });
    return {
      message,
      signedAt: signedAtOf(lifetime),
      minimumSats,
      spend: swapDebit(amount),
      claims: [`deposit:${depositAddress}`],
      plan: { depositAddress },
    };
  }

  async function prepare(operation: Operation): Promise<Prepared> {
    const quoted = await quoteSwap(ports, operation.amount, false);
    if (!quoted.ok) return quoted;
    const { quote, priced, approved } = quoted;
    const paid = await payment(quote, approved);
    if (!paid) return { ok: false, reason: 'quote_deposit_address' };
    const { message, signedAt, spend, claims } = paid;
    return {
      ok: true,
      message,
      signedAt,
      spend,
      cost: priced.cost,
      claims,
      plan: {
        route: quote.route,
        expectedSats: quote.expectedSats.toString(),
        minimumSats: paid.minimumSats.toString(),
        expiresAt: quote.expiresAt,
        priceBtcUsd: priced.price.btcUsd.toString(),
        priceSolUsd: priced.price.solUsd.toString(),
        ...paid.plan,
      },
    };
  }

  return { rules: SWAP_RULES, prepare, settle: createSwapSettlement(ports), unforeseen };
}

/** Compares the effects of a third party's transaction with those that the policy predicted. */
function unforeseen({ plan, amount, reserved }: Operation, landing: Landing): string | undefined {
  if (plan.route !== 'lifi') return undefined;
  const { debit, movesTokens = false } = landing;
  const seen = { error: null, before: debit, after: 0n, changesTokens: movesTokens };
  return checkLanding(seen, { amount, spend: reserved })?.reason;
}

/**
 * A transaction that paid everything to a single account may be a swap. It stays unsettled under that deposit
 * address until the bridge or the operator explains it. Any other transaction is booked as failed, so that
 * its cost is known.
 *
 * @param now Unix milliseconds, for a transaction without a block time
 */
export function recoveredSwap(transaction: ChainTransaction, reserve: string, now: number): Operation {
  const debit = -(lamportsChange(transaction, reserve) ?? 0n);
  const amount = lamports(debit > transaction.fee && !transaction.failed ? debit - transaction.fee : 0n);
  const receivers = transaction.accounts.filter((account) => lamportsChange(transaction, account) === amount);
  const deposit = amount > 0n && receivers.length === 1 ? (receivers[0] ?? null) : null;
  const plan = {
    route: 'near-intents',
    depositAddress: deposit,
    expectedSats: '0',
    minimumSats: '1',
    bodyHash: null,
  };
  const intent = plannedOperation({
    id: `swap:recovered:${transaction.signature}`,
    kind: 'swap',
    amount,
    reserved: lamports(0n),
    plan: deposit === null ? {} : plan,
    now: transaction.blockTime === null ? now : transaction.blockTime * 1_000,
  });
  return {
    ...intent,
    state: deposit === null ? 'failed' : 'settling',
    detail: 'recovered',
    reason: 'recovered',
    dueAt: deposit === null ? null : now,
    unsettled: deposit === null ? lamports(0n) : amount,
  };
}
