/**
 * Reserve SOL into BTC: one System transfer to the bridge's one-time address, then the wait for the Bitcoin payment.
 * Delivery is believed only when our own view of the Bitcoin chain shows it, a refund only when the Solana chain does.
 * @module
 */
import type { BridgeReport, SwapQuote, SwapRoute } from '../../bridges/route.ts';
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { TRANSFER_FEE, transferMessage } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { agreePrices, fairLamports, type PriceReport } from '../../core/price.ts';
import type { BitcoinTx } from '../../providers/esplora.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { KindDriver, Prepared, Settled } from '../kind.ts';
import type { KindRules } from '../machine.ts';
import { type Operation, plannedOperation } from '../operation.ts';

export const SWAP_RULES: KindRules = { maxAttempts: 1, retriesPreparation: false, settles: true };

/** Two price sources may differ by so much: a perpetual's mid and a spot price do by a few basis points. */
const MAX_DIVERGENCE_BPS = 100n;

/** Transactions of the reserve that are searched for a refund. */
const REFUND_SEARCH = 50;

export type SwapPorts = {
  readonly reserveAddress: string;
  readonly bitcoinAddress: string;
  /** In order of preference. */
  readonly routes: readonly SwapRoute[];
  readonly maxCostBps: number;
  /** Every source that answered in time; never a cached price. */
  readPrices(): Promise<PriceReport[]>;
  latestBlockhash(): Promise<{ blockhash: string; lastValidBlockHeight: bigint; slot: bigint }>;
  /** One answer a Bitcoin index: the transaction, null when it knows none, or its failure. */
  bitcoinViews(txid: string): Promise<readonly (BitcoinTx | null | Error)[]>;
  /** Newest finalized signatures of the reserve, back to `until`. */
  reserveSignatures(page: { limit: number; before?: string; until?: string }): Promise<SignatureEntry[]>;
  transaction(signature: string): Promise<ChainTransaction | null>;
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

  async function settle(operation: Operation, isTaken: (name: string) => boolean): Promise<Settled> {
    const route = ports.routes.find(({ name }) => name === operation.plan.route);
    const pending = (detail: string): Settled => ({ settlement: { state: 'pending', detail }, claims: [] });
    if (!route) return pending('route_unknown');
    const report = await route.report(String(operation.plan.depositAddress));
    switch (report.state) {
      case 'pending':
        return pending(report.detail);
      case 'delivered':
        return (await findPayment(report.txids, operation, isTaken)) ?? pending('settling');
      case 'refunded':
        return (await findRefund(report, operation, isTaken)) ?? pending('refunding');
      case 'failed':
        return {
          settlement: { state: 'incomplete', reason: report.reason, arrived: false, outcome: {} },
          claims: [],
        };
    }
  }

  /** The confirmed output to our address that no other swap has taken. Less than agreed is partial. */
  async function findPayment(
    txids: readonly string[],
    operation: Operation,
    isTaken: (name: string) => boolean,
  ): Promise<Settled | undefined> {
    for (const txid of txids) {
      for (const { vout, value } of confirmedOutputs(await ports.bitcoinViews(txid), ports.bitcoinAddress)) {
        const claim = `output:${txid}:${vout}`;
        if (isTaken(claim)) continue;
        const outcome = { btcTxid: txid, btcVout: vout, btcSats: value.toString() };
        const enough = value >= BigInt(String(operation.plan.minimumSats));
        return {
          settlement: enough
            ? { state: 'complete', outcome }
            : { state: 'incomplete', reason: 'partial', arrived: true, outcome },
          claims: [claim],
        };
      }
    }
    return undefined;
  }

  /** The finalized credit to the reserve that the bridge speaks of. */
  async function findRefund(
    report: Extract<BridgeReport, { state: 'refunded' }>,
    operation: Operation,
    isTaken: (name: string) => boolean,
  ): Promise<Settled | undefined> {
    const until = operation.signing?.signature;
    if (!until) return undefined;
    const entries = await ports.reserveSignatures({ limit: REFUND_SEARCH, until });
    for (const entry of entries) {
      const claim = `payment:${entry.signature}`;
      if (entry.err !== null || isTaken(claim)) continue;
      const transaction = await ports.transaction(entry.signature);
      const credit = transaction && lamportsChange(transaction, ports.reserveAddress);
      if (!credit || !isRefundOf(credit, report.amount, operation.amount)) continue;
      const outcome = { refundSignature: entry.signature, refundLamports: credit.toString() };
      return {
        settlement: { state: 'incomplete', reason: 'refunded', arrived: true, outcome },
        claims: [claim],
      };
    }
    return undefined;
  }

  return { rules: SWAP_RULES, prepare, settle };
}

/** A refund is the announced sum, or when none was announced nearly the amount: the bridge keeps its fee. */
const isRefundOf = (credit: bigint, announced: bigint | null, amount: bigint): boolean =>
  announced === null
    ? credit > (amount * 9n) / 10n && credit <= amount
    : credit === announced && credit <= amount;

/**
 * Outputs to `address` of a transaction that every index which answered shows in a block. One that does not know it
 * yet, or shows other outputs, keeps the swap waiting; one that fails does not.
 */
export function confirmedOutputs(
  views: readonly (BitcoinTx | null | Error)[],
  address: string,
): { vout: number; value: Sats }[] {
  const answers = views.filter((view) => !(view instanceof Error)) as (BitcoinTx | null)[];
  const [first, ...others] = answers.map((tx) => paidTo(tx, address));
  if (!first) return [];
  const agreed = others.every((other) => other && JSON.stringify(other) === JSON.stringify(first));
  return agreed ? first.map(({ vout, value }) => ({ vout, value: sats(BigInt(value)) })) : [];
}

function paidTo(tx: BitcoinTx | null, address: string): { vout: number; value: string }[] | undefined {
  if (!tx?.block) return undefined;
  return tx.outputs.flatMap((output, vout) =>
    output.address === address ? [{ vout, value: output.value.toString() }] : [],
  );
}
