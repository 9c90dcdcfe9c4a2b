/**
 * Swaps reserve SOL into BTC: one System transfer to the bridge's one-time address, then the wait for the Bitcoin payment.
 * @module
 */
import type { SwapQuote } from '../../bridges/route.ts';
import { TRANSFER_FEE, transferMessage } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { agreePrices, fairLamports, type PriceReport } from '../../core/price.ts';
import { type Operation, type OperationKind, type Prepared, plainlyPrepared } from '../kernel/operation.ts';
import type { Blockhash } from '../kernel/solana-view.ts';
import type { KindRules } from '../kernel/state-machine.ts';
import { type SettlementPorts, settleSwap } from './settlement.ts';

const SWAP_RULES: KindRules = {
  maxAttempts: 1,
  retriesPreparation: false,
  settles: true,
  coveredAt: 'begin',
};

export type SwapPorts = SettlementPorts & {
  /** The prices of all sources that respond in time; never a cached price. */
  readPrices(): Promise<PriceReport[]>;
  latestBlockhash(): Promise<Blockhash>;
};

/** The sources of quotes and of the prices that they are compared with. */
export type QuotePorts = Pick<SwapPorts, 'route' | 'readPrices' | 'maxCostBps'>;

/** @param key the caller's key hash, or a random one. The row keeps it, so a key never pays twice. */
export const swapId = (key: string): string => `swap:${key}`;

/** All lamports that may leave the reserve for a swap: the amount and its costs on the chain. */
export const swapDebit = (amount: Lamports): Lamports => lamports(amount + TRANSFER_FEE);

export type PricedQuote =
  | {
      readonly ok: true;
      readonly cost: Lamports;
      readonly price: PriceReport;
    }
  | { readonly ok: false; readonly reason: string };

/** Compares a quote's guaranteed output with an independent price. */
export function priceQuote(
  quote: SwapQuote,
  prices: readonly PriceReport[],
  maxCostBps: number,
): PricedQuote {
  const agreed = agreePrices(prices);
  if (!agreed.ok) return agreed;
  const costOf = (output: Sats): Lamports => {
    const worth = fairLamports(output, agreed.price);
    return lamports(worth < quote.amount ? quote.amount - worth : 0n);
  };
  const isTooMuch = (cost: Lamports) => cost * 10_000n > quote.amount * BigInt(maxCostBps);
  const cost = costOf(quote.minimumSats);
  if (isTooMuch(cost)) {
    // The quote would pass without its fixed fee, so a larger amount would pass.
    const small = !isTooMuch(costOf(sats(quote.minimumSats + quote.fixedFeeSats)));
    return { ok: false, reason: small ? 'amount_below_cost' : 'quote_too_expensive' };
  }
  return { ok: true, cost, price: agreed.price };
}

export type QuotedSwap =
  | { readonly ok: true; readonly quote: SwapQuote; readonly priced: PricedQuote & { readonly ok: true } }
  | { readonly ok: false; readonly reason: string };

/**
 * A quote that passes the checks of its route and of its price, or the reason of the refusal. Signs nothing.
 * @param held an earlier dry quote scaled to this amount, used instead of requesting a new one
 */
export async function quoteSwap(
  p: QuotePorts,
  amount: Lamports,
  dry: boolean,
  held?: SwapQuote,
): Promise<QuotedSwap> {
  const prices = p.readPrices();
  prices.catch(() => undefined);
  const verdict = held ? ({ ok: true, quote: held } as const) : await p.route.quote({ amount, dry });
  if (!verdict.ok) return verdict;
  const priced = priceQuote(verdict.quote, await prices, p.maxCostBps);
  return priced.ok ? { ok: true, quote: verdict.quote, priced } : priced;
}

/** Prepares the payment of a new quote. @throws AppError UPSTREAM_FAILED */
async function prepareSwap(ports: SwapPorts, operation: Operation): Promise<Prepared> {
  const quoted = await quoteSwap(ports, operation.amount, false);
  if (!quoted.ok) return quoted;
  const { quote, priced } = quoted;
  const { depositAddress, amount } = quote;
  if (depositAddress === null) return { ok: false, reason: 'quote_deposit_address' };
  // The blockhash is read last, because it ages from here and the quote may have taken seconds.
  const lifetime = await ports.latestBlockhash();
  const message = transferMessage({ from: operation.signer, to: depositAddress, amount, lifetime });
  return {
    ...plainlyPrepared(message, lifetime),
    cost: priced.cost,
    claims: [`deposit:${depositAddress}`],
    plan: {
      route: quote.route,
      depositAddress,
      signedQuote: quote.signed ?? null,
      expectedSats: quote.expectedSats.toString(),
      minimumSats: quote.minimumSats.toString(),
      expiresAt: quote.expiresAt,
      priceBtcUsd: priced.price.btcUsd.toString(),
      priceSolUsd: priced.price.solUsd.toString(),
    },
  };
}

export const swapKind = (ports: SwapPorts): OperationKind => ({
  rules: SWAP_RULES,
  prepare: (operation) => prepareSwap(ports, operation),
  settle: (operation, isTaken) => settleSwap(ports, operation, isTaken),
});
