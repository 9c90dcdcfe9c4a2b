import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { BitcoinNode } from './bitcoin-node.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { BitcoinKey, QuoteKey, SolanaKey } from './keys.ts';
import { createOneClick } from './one-click-model.ts';
import { REFUND_FEE_LAMPORTS, startSettlement } from './one-click-settlement.ts';
import {
  type Figures,
  formatUnits,
  LISTED_BTC_ASSET,
  type QuoteRequest,
  SOL_ASSET,
} from './one-click-swap.ts';
import type { PriceBook } from './price-venues.ts';
import type { RequestCounts } from './request-counts.ts';
import type { SolanaLedger } from './solana-ledger.ts';

const SPREAD_BPS = 20n;
const WITHDRAW_FEE_SATS = 400n;
const TIME_ESTIMATE_SECONDS = 60;
const NAME = 'oneclick';

export interface OneClickOptions {
  readonly ledger: SolanaLedger;
  readonly bitcoin: BitcoinNode;
  readonly prices: PriceBook;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
  readonly quoteKey: QuoteKey;
  /** The accepted token, as a bearer token or an API key. */
  readonly token: string;
  readonly solanaBank: SolanaKey;
  readonly bitcoinBank: BitcoinKey;
  readonly settleDelayMs: number;
  /** The world's time, Unix milliseconds. */
  readonly now: () => number;
}

/** US cents of a price's decimal text, rounded down: enough for a simulator's arithmetic in integers. */
const cents = (price: string): bigint => {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole) * 100n + BigInt(`${fraction}00`.slice(0, 2));
};

/**
 * The world's 1Click over HTTP: quotes at the world's prices, signed with its key, and real payments on both chains.
 */
export async function startOneClick(options: OneClickOptions): Promise<Upstream> {
  const { prices, faults, counts } = options;
  const settlement = startSettlement(options);

  // SOL has 9 digits, BTC has 8: sats = lamports / 10 * SOL price / BTC price.
  const satsFor = (lamports: bigint, bps: bigint): bigint =>
    (lamports * cents(prices.price('SOL')) * (10_000n - bps)) / (cents(prices.price('BTC')) * 100_000n);

  /** Dollars with twelve decimals. */
  function usd(atoms: bigint, decimals: number, coin: 'SOL' | 'BTC'): string {
    const [whole = '', fraction = ''] = formatUnits(atoms * cents(prices.price(coin)), decimals + 2).split(
      '.',
    );
    return `${whole}.${fraction.padEnd(12, '0')}`;
  }

  function tokens(priceUpdatedAt: string) {
    const row = (coin: 'SOL' | 'BTC', assetId: string, decimals: number, blockchain: string, id: string) => ({
      assetId,
      decimals,
      blockchain,
      symbol: coin,
      price: Number(prices.price(coin)),
      priceUpdatedAt,
      coingeckoId: id,
    });
    const nearBtc = 'nbtc.bridge.near';
    return [
      row('BTC', LISTED_BTC_ASSET, 8, 'btc', 'bitcoin'),
      { ...row('BTC', `nep141:${nearBtc}`, 8, 'near', 'bitcoin'), contractAddress: nearBtc },
      row('SOL', SOL_ASSET, 9, 'sol', 'solana'),
    ];
  }

  function terms(asked: QuoteRequest, feesBps: bigint): Figures | string {
    const amountIn = BigInt(asked.amount);
    const gross = satsFor(amountIn, SPREAD_BPS + feesBps);
    if (gross < 2n * WITHDRAW_FEE_SATS) {
      const least = (2n * WITHDRAW_FEE_SATS * amountIn) / (gross === 0n ? 1n : gross) + 1n;
      return `Amount is too low for bridge, try at least ${least}`;
    }
    const amountOut = gross - WITHDRAW_FEE_SATS;
    return {
      amountIn,
      amountInUsd: usd(amountIn, 9, 'SOL'),
      amountOut,
      amountOutUsd: usd(amountOut, 8, 'BTC'),
      minAmountOut: (amountOut * (10_000n - BigInt(asked.slippageTolerance))) / 10_000n,
      timeEstimate: TIME_ESTIMATE_SECONDS,
      refundFee: REFUND_FEE_LAMPORTS,
      withdrawFee: WITHDRAW_FEE_SATS,
    };
  }

  const { handle } = createOneClick({
    now: options.now,
    key: options.quoteKey,
    token: options.token,
    terms,
    deposit: () => base58.encode(ed25519.getPublicKey(randomBytes(32))),
    take: (kind, label) => faults.take(NAME, kind, label),
    tokens,
    onSwap: settlement.watch,
  });
  const upstream = await startUpstream({ name: NAME, faults, counts, handle });
  return {
    ...upstream,
    async stop() {
      settlement.stop();
      await upstream.stop();
    },
  };
}
