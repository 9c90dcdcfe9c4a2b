/**
 * 1Click in virtual time: it quotes, accepts a final deposit and settles it as its fate determines. Its reports may be
 * early, late or false. The production client reads all its bodies.
 * @module
 */
import type { SwapRoute } from '../../src/bridges/route.ts';
import { transport } from '../kit/transport.ts';
import { createOneClick, depositAddress } from '../world/one-click-model.ts';
import type { Figures, QuoteRequest, Swap } from '../world/one-click-swap.ts';
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
  readonly swap: Swap;
  fate: Fate | null;
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

/** What signs a quote here. Virtual time can't wait for real signatures. */
const SIGNATURE = 'ed25519:1';
/** Where the change of a payment goes. */
const CHANGE = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
/** A refusal of the bridge that names no amount. */
const REFUSAL = 'Amount is too low for bridge';
/** Lamports of a refund that returns almost nothing. */
const CRUMBS = 1_000n;
/** The default of SWAP_MAX_COST_BPS. */
const MAX_COST_BPS = 200n;

/** Sats per lamport at the model's price, times 1e9: 100,000 USD per BTC, 200 USD per SOL. */
const fairSats = (amount: bigint): bigint => amount / 5_000n;

export function createBridgeModel(p: {
  scheduler: Scheduler;
  random: Random;
  production: Production;
  bitcoin: Bitcoin;
  bitcoinAddress: string;
  /** Unix milliseconds of the custodian's clock. */
  wallClock: () => number;
  /** A signature that no other transaction has. */
  signature: () => string;
  /** Pays the reserve on Solana. */
  refund: (signature: string, amount: bigint, to: string) => void;
  faults: () => BridgeFaults;
}) {
  const { scheduler, random, bitcoin, bitcoinAddress } = p;
  const orders = new Map<string, Order>();
  const refunds = new Map<string, Order>();
  let batch: Order[] = [];

  const fail = (): never => {
    throw p.production.upstreamFailed('near-intents', random.pick(['timeout', 'status_500', 'not_json']));
  };

  /** What is wrong with the quote that is being made: a fault of the world's bridge. */
  let wrong: string | undefined;
  const drawFault = (): string | undefined =>
    random.chance(p.faults().refusing)
      ? random.pick(['refusal', 'wrongSignature', 'wrongAmount'])
      : undefined;

  function terms({ amount }: QuoteRequest): Figures {
    const fair = fairSats(BigInt(amount));
    const isDear = random.chance(p.faults().dear);
    const costBps = BigInt(isDear ? random.between(150, 400) : random.between(20, 100));
    const amountOut = fair - (fair * costBps) / 10_000n;
    return {
      amountIn: BigInt(amount),
      amountInUsd: '1.0',
      amountOut,
      amountOutUsd: '1.0',
      minAmountOut: amountOut - (amountOut * 50n) / 10_000n,
      timeEstimate: 465,
      refundFee: 0n,
      withdrawFee: 0n,
    };
  }

  function deposit(): string {
    const paid = [...orders.values()].filter((order) => order.fate !== null);
    return paid.length > 0 && random.chance(p.faults().reused)
      ? random.pick(paid).swap.deposit
      : depositAddress(orders.size);
  }

  const { handle } = createOneClick({
    now: p.wallClock,
    key: { publicKey: '', sign: () => SIGNATURE },
    terms,
    deposit,
    take(kind) {
      // The first of the faults that a quote takes.
      if (kind === 'refusal') wrong = drawFault();
      return kind === wrong ? { kind, ...(kind === 'refusal' && { value: REFUSAL }) } : null;
    },
    onSwap: (swap) =>
      orders.set(swap.deposit, {
        swap,
        fate: null,
        arrivedAt: null,
        isOver: true,
        isShort: false,
        payment: null,
      }),
  });

  /** The production route to the bridge for a reserve. */
  function routeOf(reserveAddress: string): SwapRoute {
    const provider = p.production.createNearIntents({
      baseUrl: 'https://1click',
      fetch: transport(handle),
    });
    const { name, quote, report } = p.production.createNearIntentsRoute({
      provider,
      isSigned: async ({ signature }) => signature === SIGNATURE,
      reserveAddress,
      bitcoinAddress,
      now: p.wallClock,
    });
    return {
      name,
      async quote(request) {
        if (random.chance(p.faults().failing)) fail();
        return quote(request);
      },
      async report(address) {
        if (random.chance(p.faults().failing)) fail();
        return report(address);
      },
    };
  }

  /** Lamports that the bridge keeps of a refund: a small fee or, half of the time, as much as a swap may cost. */
  function keptOf({ amountIn }: Swap): bigint {
    const fee = BigInt(random.between(1_000, 50_000));
    return fee % 2n === 0n ? (amountIn * MAX_COST_BPS) / 10_000n : fee;
  }

  function settle(order: Order): void {
    const { slownessMs, premature } = p.faults();
    const wait = random.between(200, slownessMs);
    const early = random.chance(premature);
    order.isOver = false;
    switch (order.fate) {
      case 'delivered':
      case 'partial':
        if (early) order.swap.status = 'SUCCESS';
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
        if (early) Object.assign(order.swap, { status: 'REFUNDED', refunded: null });
        return void scheduler.after(wait, () => payBack(order, order.swap.amountIn - keptOf(order.swap)));
      case 'failed':
        order.swap.status = 'FAILED';
        order.isOver = true;
        return;
      case 'failed_late':
        order.swap.status = 'FAILED';
        return void scheduler.after(wait + random.between(60_000, 3 * 3_600_000), () => payOut([order]));
      case 'untrue': {
        const other = [...orders.values()].find((some) => some.payment);
        show(order, other?.payment ? [other.payment.txid] : []);
        order.isOver = true;
        return;
      }
      default:
        order.isOver = true;
    }
  }

  function show({ swap }: Order, txids: string[]): void {
    swap.status = 'SUCCESS';
    swap.paidHashes = txids;
  }

  /** Pays orders with one Bitcoin transaction that has an output for each of them, in random order. */
  function payOut(paid: readonly Order[]): void {
    const order = paid.toSorted(() => (random.chance(0.5) ? 1 : -1));
    const outputs = order.map(({ fate, swap: { amountOut, minAmountOut } }) => ({
      address: bitcoinAddress,
      value:
        fate === 'partial'
          ? (minAmountOut * BigInt(random.between(10, 99))) / 100n
          : minAmountOut + ((amountOut - minAmountOut) * BigInt(random.between(0, 100))) / 100n,
    }));
    if (random.chance(0.3)) outputs.push({ address: CHANGE, value: 5_000n });
    const confirmsInMs = random.chance(0.05) ? random.between(60_000, 3_600_000) : random.between(100, 5_000);
    const payment = bitcoin.pay(outputs, confirmsInMs);
    for (const [vout, one] of order.entries()) {
      one.payment = { txid: payment.txid, vout };
      one.isShort = (outputs[vout]?.value ?? 0n) * 10_000n < one.swap.minAmountOut * (10_000n - MAX_COST_BPS);
      show(one, [payment.txid]);
    }
    scheduler.after(confirmsInMs, () => {
      for (const one of order) {
        one.arrivedAt = scheduler.now();
        one.isOver = true;
      }
    });
  }

  function payBack(order: Order, back: bigint): void {
    const { swap } = order;
    const signature = p.signature();
    order.isShort = back * 10_000n < swap.amountIn * (10_000n - MAX_COST_BPS);
    refunds.set(signature, order);
    p.refund(signature, back, swap.refundTo);
    swap.status = 'REFUNDED';
    swap.refunded = random.chance(0.7) ? back : random.pick([null, 0n]);
    if (random.chance(0.3)) swap.refundHashes.push(signature);
  }

  return {
    routeOf,
    orders: orders as ReadonlyMap<string, Order>,

    /** A deposit is final on Solana. */
    deposited(deposit: string, amount: bigint): void {
      const order = orders.get(deposit);
      if (!order || order.fate || amount !== order.swap.amountIn) return;
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
