/**
 * A bridge: it quotes, accepts a final deposit and settles it as its fate determines. Its reports may be
 * early, late or false.
 * @module
 */
import { base58 } from '@scure/base';
import type { BridgeReport, QuoteVerdict, SwapRoute } from '../../src/bridges/route.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import { quoteFor } from '../kit/fake-bridge.ts';
import type { Bitcoin } from './bitcoin.ts';
import type { Production } from './production.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

export type Fate =
  | 'delivered'
  | 'batched'
  | 'partial'
  | 'refunded'
  | 'crumbs'
  | 'failed'
  | 'failed_late'
  | 'silent'
  | 'untrue';

export type BridgeFaults = {
  readonly failing: number;
  /** Chance of a quote that is refused, too expensive, or has a deposit address that was used before. */
  readonly refusing: number;
  readonly dear: number;
  readonly reused: number;
  readonly fates: readonly Fate[];
  /** Milliseconds from the deposit to the payment. */
  readonly slownessMs: number;
  /** Chance that a payment is reported before it is made. */
  readonly premature: number;
};

export type Order = {
  readonly deposit: string;
  readonly amount: bigint;
  readonly expectedSats: bigint;
  readonly minimumSats: bigint;
  fate: Fate | null;
  report: BridgeReport;
  /** When its last payment has arrived; null until then. */
  arrivedAt: number | null;
  /** The bridge has no further step to take. */
  isOver: boolean;
  /**
   * The bridge returned less than the amount minus the allowed cost of a swap, so a part has not arrived.
   */
  isShort: boolean;
  payment: { readonly txid: string; readonly vout: number } | null;
};

export type BridgeModel = ReturnType<typeof createBridgeModel>;

const ROUTE_NAME = 'near-intents';
/** Lamports of a refund that returns almost nothing. */
const CRUMBS = 1_000n;
/** The default of SWAP_MAX_COST_BPS. */
const MAX_COST_BPS = 200n;

const addresses: string[] = [];
/** The same in every run, so that base58 is computed once per process. */
function depositAddress(index: number): string {
  addresses[index] ??= base58.encode(
    Buffer.alloc(32, 3)
      .fill(index & 255, 31)
      .fill(index >> 8, 30, 31),
  );
  return addresses[index];
}

/** Sats per lamport at the model's price, times 1e9: 100,000 USD per BTC, 200 USD per SOL. */
const fairSats = (amount: bigint): bigint => amount / 5_000n;

export function createBridgeModel(p: {
  scheduler: Scheduler;
  random: Random;
  production: Production;
  bitcoin: Bitcoin;
  bitcoinAddress: string;
  /** A signature that no other transaction has. */
  signature: () => string;
  /** Pays the reserve on Solana. */
  refund: (signature: string, amount: bigint, deposit: string) => void;
  faults: () => BridgeFaults;
}) {
  const { scheduler, random, bitcoin, bitcoinAddress } = p;
  const orders = new Map<string, Order>();
  const refunds = new Map<string, Order>();
  let batch: Order[] = [];

  const fail = (): never => {
    throw p.production.upstreamFailed('near-intents', random.pick(['timeout', 'status_500', 'not_json']));
  };

  async function quote({ amount, dry }: { amount: bigint; dry: boolean }): Promise<QuoteVerdict> {
    const { failing, refusing, dear, reused } = p.faults();
    if (random.chance(failing)) fail();
    if (random.chance(refusing)) {
      return { ok: false, reason: random.pick(['amount_too_low', 'quote_signature', 'quote_amount']) };
    }
    const fair = fairSats(amount);
    const costBps = BigInt(random.chance(dear) ? random.between(150, 400) : random.between(20, 100));
    const expectedSats = fair - (fair * costBps) / 10_000n;
    const minimumSats = expectedSats - (expectedSats * 50n) / 10_000n;
    const paid = [...orders.values()].filter((order) => order.fate !== null);
    const deposit = dry
      ? null
      : paid.length > 0 && random.chance(reused)
        ? random.pick(paid).deposit
        : depositAddress(orders.size);
    if (deposit !== null && !orders.has(deposit)) {
      orders.set(deposit, {
        deposit,
        amount,
        expectedSats,
        minimumSats,
        fate: null,
        report: { state: 'pending', detail: 'landed' },
        arrivedAt: null,
        isOver: true,
        isShort: false,
        payment: null,
      });
    }
    return {
      ok: true,
      quote: quoteFor(lamports(amount), {
        expectedSats: sats(expectedSats),
        minimumSats: sats(minimumSats),
        expiresAt: dry ? null : 4_000_000_000_000,
        depositAddress: deposit,
      }),
    };
  }

  /** Lamports that the bridge keeps of a refund: a small fee or, half of the time, as much as a swap may cost. */
  function keptOf({ amount }: Order): bigint {
    const fee = BigInt(random.between(1_000, 50_000));
    return fee % 2n === 0n ? (amount * MAX_COST_BPS) / 10_000n : fee;
  }

  function settle(order: Order): void {
    const { slownessMs, premature } = p.faults();
    const wait = random.between(200, slownessMs);
    const early = random.chance(premature);
    order.isOver = false;
    switch (order.fate) {
      case 'delivered':
      case 'partial':
        if (early) order.report = { state: 'delivered', txids: [] };
        return void scheduler.after(wait, () => payOut([order]));
      case 'batched':
        batch.push(order);
        return void scheduler.after(wait + random.between(0, 30_000), () => {
          const together = batch;
          batch = [];
          if (together.length > 0) payOut(together);
        });
      case 'crumbs':
        return void scheduler.after(wait, () => payBack(order, CRUMBS));
      case 'refunded':
        if (early) order.report = { state: 'refunded', amount: null };
        return void scheduler.after(wait, () => payBack(order, order.amount - keptOf(order)));
      case 'failed':
        order.report = { state: 'failed', reason: 'bridge_failed' };
        order.isOver = true;
        return;
      case 'failed_late':
        order.report = { state: 'failed', reason: 'bridge_failed' };
        return void scheduler.after(wait + random.between(60_000, 3 * 3_600_000), () => payOut([order]));
      case 'untrue': {
        const other = [...orders.values()].find((some) => some.payment);
        order.report = { state: 'delivered', txids: other?.payment ? [other.payment.txid] : [] };
        order.isOver = true;
        return;
      }
      default:
        order.isOver = true;
    }
  }

  /** Pays orders with one Bitcoin transaction that has an output for each of them, in random order. */
  function payOut(paid: readonly Order[]): void {
    const order = paid.toSorted(() => (random.chance(0.5) ? 1 : -1));
    const outputs = order.map(({ fate, expectedSats, minimumSats }) => ({
      address: bitcoinAddress,
      value:
        fate === 'partial'
          ? (minimumSats * BigInt(random.between(10, 99))) / 100n
          : minimumSats + ((expectedSats - minimumSats) * BigInt(random.between(0, 100))) / 100n,
    }));
    if (random.chance(0.3)) outputs.push({ address: 'bc1qchange', value: 5_000n });
    const confirmsInMs = random.chance(0.05) ? random.between(60_000, 3_600_000) : random.between(100, 5_000);
    const payment = bitcoin.pay(outputs, confirmsInMs);
    for (const [vout, one] of order.entries()) {
      one.payment = { txid: payment.txid, vout };
      one.isShort = (outputs[vout]?.value ?? 0n) * 10_000n < one.minimumSats * (10_000n - MAX_COST_BPS);
      one.report = { state: 'delivered', txids: [payment.txid] };
    }
    scheduler.after(confirmsInMs, () => {
      for (const one of order) {
        one.arrivedAt = scheduler.now();
        one.isOver = true;
      }
    });
  }

  function payBack(order: Order, back: bigint): void {
    const signature = p.signature();
    order.isShort = back * 10_000n < order.amount * (10_000n - MAX_COST_BPS);
    refunds.set(signature, order);
    p.refund(signature, back, order.deposit);
    const amount = random.chance(0.7) ? lamports(back) : random.pick([null, lamports(0n)]);
    const signatures = random.chance(0.3) ? { signatures: [signature] } : {};
    order.report = { state: 'refunded', amount, ...signatures };
  }

  const route: SwapRoute = {
    name: ROUTE_NAME,
    quote,
    async report(deposit) {
      if (random.chance(p.faults().failing)) fail();
      return orders.get(deposit)?.report ?? { state: 'pending', detail: 'landed' };
    },
  };

  return {
    route,
    orders: orders as ReadonlyMap<string, Order>,

    /** A deposit is final on Solana. */
    deposited(deposit: string, amount: bigint): void {
      const order = orders.get(deposit);
      if (!order || order.fate || amount !== order.amount) return;
      order.fate = random.pick(p.faults().fates);
      settle(order);
    },

    /** A refund is final on Solana. */
    refunded(signature: string): void {
      const order = refunds.get(signature);
      if (!order) return;
      order.arrivedAt = scheduler.now();
      order.isOver = true;
    },
  };
}
