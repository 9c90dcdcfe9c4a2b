/** A bridge at a fair price, two price venues and a Bitcoin index, whose results a test sets. */

import { base58 } from '@scure/base';
import { createNearIntentsRoute } from '../../src/bridges/near-intents.ts';
import type { BridgeReport, QuoteVerdict, SwapQuote, SwapRoute } from '../../src/bridges/route.ts';
import { type Lamports, lamports, sats } from '../../src/core/amount.ts';
import { HOUR_MS } from '../../src/core/durations.ts';
import type { PriceReport } from '../../src/core/price.ts';
import type { SwapPorts } from '../../src/custody/swap/operation.ts';
import { SwapQuotes } from '../../src/custody/swap/swap-quotes.ts';
import type { BitcoinTx } from '../../src/providers/esplora.ts';
import { createNearIntents } from '../../src/providers/near-intents.ts';
import type { ChainTransaction, SignatureEntry } from '../../src/providers/solana-rpc.ts';
import { createOneClick, depositAddress, type OneClickOptions } from '../world/one-click-model.ts';
import { chainTransaction, errorOf } from '../world/solana-shapes.ts';
import { RESERVE } from './addresses.ts';
import { historyOf } from './history.ts';
import { NOW, SIGNED_AT, SOL } from './sample-operations.ts';
import { transport } from './transport.ts';

export const BTC_ADDRESS = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const BLOCKHASH = base58.encode(new Uint8Array(32).fill(200));

/** 1 SOL is 125,000 sats. */
export const MARKET: PriceReport = { source: 'one', btcUsd: 80_000_000_000n, solUsd: 100_000_000n };
const fair = (amount: bigint): bigint => (amount * 125_000n) / SOL;

/** 1 % under the fair price, 0.5 % of it slippage. */
const fairOutput = (amount: bigint) => ({
  amountOut: (fair(amount) * 995n) / 1_000n,
  minAmountOut: (fair(amount) * 990n) / 1_000n,
});

/** 1Click at a fair price. */
export function fairOneClick(change: Partial<OneClickOptions> = {}) {
  let opened = 0;
  return createOneClick({
    now: () => NOW,
    key: { publicKey: '', sign: () => 'ed25519:1' },
    deposit: () => depositAddress(opened++),
    terms: ({ amount }) => ({
      ...fairOutput(BigInt(amount)),
      amountIn: BigInt(amount),
      amountInUsd: '100.0',
      amountOutUsd: '99.5',
      timeEstimate: 465,
      refundFee: 10_000n,
      withdrawFee: 0n,
    }),
    ...change,
  });
}

/** It behind its client. */
const oneClickRoute = (): SwapRoute =>
  createNearIntentsRoute({
    provider: createNearIntents({ baseUrl: 'https://1click.test', fetch: transport(fairOneClick().handle) }),
    isSigned: async () => true,
    reserveAddress: RESERVE,
    bitcoinAddress: BTC_ADDRESS,
    now: () => NOW,
  });

const sample = await oneClickRoute().quote({ amount: lamports(SOL), dry: true });

/** A dry quote of the bridge for any amount. */
export function quoteFor(amount: Lamports, change: Partial<SwapQuote> = {}): SwapQuote {
  const { amountOut, minAmountOut } = fairOutput(amount);
  const figures = { amount, expectedSats: sats(amountOut), minimumSats: sats(minAmountOut) };
  if (!sample.ok) throw new Error(sample.reason);
  return { ...sample.quote, ...figures, ...change };
}

export type FakeBridge = SwapRoute & {
  quotes: { amount: bigint; dry: boolean }[];
  reports: string[];
  nextQuote: (amount: Lamports, dry: boolean) => Promise<QuoteVerdict> | QuoteVerdict;
  nextReport: (depositAddress: string) => BridgeReport;
};

export function createFakeBridge(): FakeBridge {
  const { name, quote } = oneClickRoute();
  const bridge: FakeBridge = {
    name,
    quotes: [],
    reports: [],
    nextQuote: (amount, dry) => quote({ amount, dry }),
    nextReport: () => ({ state: 'pending', detail: 'settling' }),
    async quote({ amount, dry }) {
      bridge.quotes.push({ amount, dry });
      return bridge.nextQuote(amount, dry);
    },
    async report(depositAddress) {
      bridge.reports.push(depositAddress);
      return bridge.nextReport(depositAddress);
    },
  };
  return bridge;
}

export type FakeSwapPorts = SwapPorts & {
  prices: PriceReport[];
  /** The response of each index for a txid. */
  indexes: ((txid: string) => BitcoinTx | null | Error)[];
  /** The reserve's finalized transactions, newest first. */
  listed: SignatureEntry[];
  transactions: Map<string, ChainTransaction>;
  now: () => number;
};

export function createSwapPorts(route: SwapRoute): FakeSwapPorts {
  const ports: FakeSwapPorts = {
    bitcoinAddress: BTC_ADDRESS,
    route,
    maxCostBps: 200,
    prices: [MARKET, { ...MARKET, source: 'two' }],
    indexes: [() => null, () => null],
    listed: [],
    transactions: new Map(),
    readPrices: async () => ports.prices,
    latestBlockhash: async () => ({ blockhash: BLOCKHASH, ...SIGNED_AT }),
    recentBlockhash: () => ports.latestBlockhash(),
    bitcoinViews: async (txid) => ports.indexes.map((index) => index(txid)),
    historyOf: (address) =>
      historyOf(async ({ limit, before }) => {
        if (address !== RESERVE) return [];
        const from = before === undefined ? 0 : ports.listed.findIndex((e) => e.signature === before) + 1;
        return ports.listed.slice(from, from + limit);
      }),
    transaction: async (signature) => ports.transactions.get(signature) ?? null,
    now: () => NOW + HOUR_MS,
  };
  return ports;
}

/** Quotes over these ports, with the learned minimum in memory. */
export function quotesOf(ports: SwapPorts): SwapQuotes {
  const meta = new Map<string, string>();
  const journal = {
    getMeta: (key: string) => meta.get(key),
    setMeta: (key: string, value: string) => void meta.set(key, value),
  };
  return new SwapQuotes(ports, journal, ports.now);
}

/** A Bitcoin transaction with these outputs, in a block by default. */
export const bitcoinTx = (
  txid: string,
  outputs: readonly { address?: string | null; value: bigint }[],
  block: BitcoinTx['block'] = { height: 900_000, time: NOW / 1_000 + 600 },
): BitcoinTx => ({
  txid,
  inputs: [],
  outputs: outputs.map(({ address = BTC_ADDRESS, value }) => ({ address, value: sats(value) })),
  block,
});

/** A finalized transfer of `change` lamports to the reserve, added as the newest of its history. */
export function credit(ports: FakeSwapPorts, signature: string, change: bigint, failed = false): void {
  const blockTime = NOW / 1_000;
  const err = failed ? errorOf(signature) : null;
  ports.listed.unshift({ signature, slot: 960n, err, blockTime });
  const transaction = chainTransaction(
    signature,
    { bridge: -change, [RESERVE]: change },
    { slot: 960n, blockTime, failed },
  );
  ports.transactions.set(signature, transaction);
}

export const oneSol = lamports(SOL);
