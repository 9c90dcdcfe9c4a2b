/**
 * Reserve SOL into BTC: one System transfer to the bridge's one-time address, then the wait for the Bitcoin payment.
 * @module
 */
import type { SwapQuote } from '../../bridges/route.ts';
import { TRANSFER_FEE, transferMessage } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { agreePrices, fairLamports, type PriceReport } from '../../core/price.ts';
import type { KindDriver, Prepared } from '../kind.ts';
import type { KindRules } from '../machine.ts';
import { type Operation, plannedOperation } from '../operation.ts';
import { createSwapSettlement, type SettlementPorts } from './swap-settlement.ts';

export const SWAP_RULES: KindRules = { maxAttempts: 1, retriesPreparation: false, settles: true };

/** Two price sources may differ by so much: a perpetual's mid and a spot price do by a few basis points. */
const MAX_DIVERGENCE_BPS = 100n;

export type SwapPorts = SettlementPorts & {
  readonly maxCostBps: number;
  /** Every source that answered in time; never a cached price. */
  readPrices(): Promise<PriceReport[]>;
  latestBlockhash(): Promise<{ blockhash: string; lastValidBlockHeight: bigint; slot: bigint }>;
};

/** @param key the caller's key hash, or a random one: it is kept as long as the row, so a key never pays twice */
export const swapId = (key: string): string => `swap:${key}`;

/** The intent of a swap. `bodyHash` is what the caller's key stands for; null without a key. */
export const planSwap = (p: {
  id: string;
  bodyHash: string | null;
  amount: Lamports;
  now: number;
}): Operation =>
  plannedOperation({
    id: p.id,
    kind: 'swap',
    amount: p.amount,
    reserved: swapDebit(p.amount),
    plan: { bodyHash: p.bodyHash },
    now: p.now,
  });

/** All that leaves the reserve for a swap: the amount and the network's fee. */
export const swapDebit = (amount: Lamports): Lamports => lamports(amount + TRANSFER_FEE);

export type PricedQuote =
  | {
      readonly ok: true;
      readonly cost: Lamports;
      readonly sources: readonly string[];
      readonly price: PriceReport;
    }
  | { readonly ok: false; readonly reason: string };

/** Holds a quote's guaranteed output against an independent price. */
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
    // Without its fixed fee the quote would pass: a larger amount will.
    const small = !isTooMuch(costOf(sats(quote.minimumSats + quote.fixedFeeSats)));
    return { ok: false, reason: small ? 'amount_below_cost' : 'quote_too_expensive' };
  }
  return { ok: true, cost, sources: agreed.sources, price: agreed.price };
}

/** The first route with a quote that passes; else why the last one did not. */
export async function quoteSwap(
  ports: Pick<SwapPorts, 'routes' | 'readPrices' | 'maxCostBps'>,
  amount: Lamports,
  dry: boolean,
): Promise<
  { ok: true; quote: SwapQuote; priced: PricedQuote & { ok: true } } | { ok: false; reason: string }
> {
  const prices = ports.readPrices();
  prices.catch(() => undefined);
  let refusal = 'no_route';
  let failure: unknown;
  for (const route of ports.routes) {
    try {
      const verdict = await route.quote({ amount, dry });
      if (!verdict.ok) {
        refusal = verdict.reason;
        continue;
      }
      const priced = priceQuote(verdict.quote, await prices, ports.maxCostBps);
      if (priced.ok) return { ok: true, quote: verdict.quote, priced };
      refusal = priced.reason;
    } catch (error) {
      failure = error;
    }
  }
  if (failure && refusal === 'no_route') throw failure;
  return { ok: false, reason: refusal };
}

export function createSwapKind(ports: SwapPorts): KindDriver {
  async function prepare(operation: Operation): Promise<Prepared> {
    const quoted = await quoteSwap(ports, operation.amount, false);
    if (!quoted.ok) return quoted;
    const { quote, priced } = quoted;
    if (quote.depositAddress === null) return { ok: false, reason: 'quote_deposit_address' };
    // Read last: its life starts when it is made, and the quote may have taken seconds.
    const lifetime = await ports.latestBlockhash();
    const message = transferMessage({
      from: ports.reserveAddress,
      to: quote.depositAddress,
      amount: operation.amount,
      lifetime,
    });
    return {
      ok: true,
      message,
      lastValidBlockHeight: lifetime.lastValidBlockHeight,
      slot: lifetime.slot,
      cost: priced.cost,
      claims: [`deposit:${quote.depositAddress}`],
      plan: {
        route: quote.route,
        depositAddress: quote.depositAddress,
        expectedSats: quote.expectedSats.toString(),
        minimumSats: quote.minimumSats.toString(),
        expiresAt: quote.expiresAt,
        priceBtcUsd: priced.price.btcUsd.toString(),
        priceSolUsd: priced.price.solUsd.toString(),
      },
    };
  }

  return { rules: SWAP_RULES, prepare, settle: createSwapSettlement(ports) };
}
