import type { BitcoinNode } from './bitcoin-node.ts';
import type { FaultBook } from './fault-book.ts';
import { type Answer, json, startUpstream, type Upstream, type WorldRequest } from './fault-gate.ts';
import {
  type BitcoinKey,
  createBitcoinKey,
  createQuoteKey,
  createSolanaKey,
  type QuoteKey,
  type SolanaKey,
} from './keys.ts';
import { REFUND_FEE_LAMPORTS, startSettlement } from './one-click-settlement.ts';
import {
  answerOf,
  BTC_ASSET,
  echoOf,
  formatUnits,
  LISTED_BTC_ASSET,
  type QuoteRequest,
  quoteOf,
  readQuoteRequest,
  SOL_ASSET,
  type Swap,
  showSwap,
} from './one-click-swap.ts';
import type { PriceBook } from './price-venues.ts';
import type { RequestCounts } from './request-counts.ts';
import type { SolanaLedger } from './solana-ledger.ts';

const SPREAD_BPS = 20n;
/** The platform's own fee in basis points for callers without a token, and its receiver. */
const KEYLESS_BPS = 20;
const FEE_COLLECTOR = '5880ad2b362620fadf759cbceb1cd5737ce8c6ed7fb8e9942881e6731f9247dd';
const WITHDRAW_FEE_SATS = 400n;
const TIME_ESTIMATE_SECONDS = 60;
/** A deposit address stays open for this long after the deadline of the request. */
const GRACE_MS = 3 * 24 * 3600 * 1000;

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
}

/** US cents of a price's decimal text, rounded down: enough for a simulator's arithmetic in integers. */
const cents = (price: string): bigint => {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole) * 100n + BigInt(`${fraction}00`.slice(0, 2));
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
};

/** A refusal in the service's shape. */
const message = (status: number, text: string, path: string): Answer =>
  json(status, {
    message: text,
    error: TITLES[status],
    statusCode: status,
    timestamp: new Date().toISOString(),
    path,
  });

type AppFee = { readonly recipient: string; readonly fee: number };
const feesOf = (value: unknown): readonly AppFee[] => (Array.isArray(value) ? (value as AppFee[]) : []);
const sumOf = (fees: readonly AppFee[]): number => fees.reduce((sum, { fee }) => sum + fee, 0);

/**
 * A simulator of NEAR Intents 1Click for SOL to BTC: signed quotes, one-time deposit addresses on the world's chain, real
 * payments on both chains.
 */
export async function startOneClick(options: OneClickOptions): Promise<Upstream> {
  const { prices, faults, quoteKey } = options;
  const swaps = new Map<string, Swap>();
  const otherKey = createQuoteKey();
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

  function tokens(): Answer {
    const priceUpdatedAt = new Date().toISOString();
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
    return json(200, [
      row('BTC', LISTED_BTC_ASSET, 8, 'btc', 'bitcoin'),
      { ...row('BTC', `nep141:${nearBtc}`, 8, 'near', 'bitcoin'), contractAddress: nearBtc },
      row('SOL', SOL_ASSET, 9, 'sol', 'solana'),
    ]);
  }

  /** @param platformBps the platform's own fee */
  async function quote(request: WorldRequest, platformBps: number): Promise<Answer> {
    const asked = readQuoteRequest(request.body);
    if (typeof asked === 'string') return message(400, asked, request.path);
    const take = (kind: string) => faults.take(NAME, kind, request.label);
    const refused = take('refusal');
    if (refused !== null) return message(400, refused.value ?? 'No liquidity available', request.path);

    const raised = take('fee');
    const ownBps = platformBps + (raised === null ? 0 : (raised.by ?? 10));
    const appFees = [
      ...feesOf(asked.appFees),
      ...(ownBps === 0 ? [] : [{ recipient: FEE_COLLECTOR, fee: ownBps }]),
    ].map((fee) => (asked.dry ? fee : { ...fee, limitOrderId: null }));
    const bps = SPREAD_BPS + BigInt(sumOf(appFees));
    const amountIn = BigInt(asked.amount);
    const low = take('lowOutput');
    const gross = (satsFor(amountIn, bps) * BigInt(10_000 - (low === null ? 0 : (low.by ?? 1000)))) / 10_000n;
    if (gross < 2n * WITHDRAW_FEE_SATS) {
      const least = (2n * WITHDRAW_FEE_SATS * amountIn) / (gross === 0n ? 1n : gross) + 1n;
      return message(400, `Amount is too low for bridge, try at least ${least}`, request.path);
    }
    const amountOut = gross - WITHDRAW_FEE_SATS;
    const minAmountOut = (amountOut * (10_000n - BigInt(asked.slippageTolerance))) / 10_000n;
    const shownIn = amountIn + shift(take('wrongDeposit'));
    const expired = take('expiredDeadline') !== null;
    const deadline = expired ? Date.now() - 60_000 : Date.parse(asked.deadline) + GRACE_MS;
    const deposit = await createSolanaKey();
    const withAddress = !asked.dry && take('noDeposit') === null;

    const quoteRequest: QuoteRequest = {
      ...echoOf({ ...asked, appFees }),
      recipient: lie(take('wrongRecipient'), asked.recipient, () => createBitcoinKey().address),
      refundTo: lie(take('wrongRefundTo'), asked.refundTo, () => options.solanaBank.address),
      destinationAsset: lie(take('wrongAsset'), BTC_ASSET, () => 'nep141:eth.omft.near'),
      amount: (amountIn + shift(take('wrongAmount'))).toString(),
    };
    const figures = {
      amountIn: shownIn,
      amountInUsd: usd(shownIn, 9, 'SOL'),
      amountOut,
      amountOutUsd: usd(amountOut, 8, 'BTC'),
      minAmountOut,
      timeEstimate: TIME_ESTIMATE_SECONDS,
      refundFee: REFUND_FEE_LAMPORTS,
      withdrawFee: WITHDRAW_FEE_SATS,
    };
    const ends = asked.dry ? null : new Date(deadline).toISOString();
    const timestamp = new Date().toISOString();
    const shown = quoteOf(figures, ends, withAddress ? deposit.address : null);
    const signer = take('wrongSignature') === null ? quoteKey : otherKey;
    const answer = answerOf(quoteRequest, shown, timestamp, signer);
    if (withAddress) {
      const isBtc = quoteRequest.destinationAsset === BTC_ASSET;
      const swap: Swap = {
        answer,
        askedDestination: isBtc ? asked.destinationAsset : quoteRequest.destinationAsset,
        deposit,
        amountIn,
        amountOut,
        minAmountOut,
        recipient: quoteRequest.recipient,
        refundTo: quoteRequest.refundTo,
        deadline,
        status: 'PENDING_DEPOSIT',
        updatedAt: timestamp,
        received: 0n,
        refundHashes: [],
        paidHashes: [],
        paidSats: 0n,
        refunded: 0n,
        refundReason: null,
      };
      swaps.set(deposit.address, swap);
      settlement.watch(swap);
    }
    return json(201, answer);
  }

  function submit(request: WorldRequest): Answer {
    let body: { txHash?: unknown; depositAddress?: unknown };
    try {
      body = JSON.parse(request.body) as typeof body;
    } catch {
      return message(400, 'Invalid JSON body', request.path);
    }
    const swap = typeof body.depositAddress === 'string' ? swaps.get(body.depositAddress) : undefined;
    if (swap === undefined || typeof body.txHash !== 'string')
      return message(400, 'Deposit address not found', request.path);
    if (swap.status === 'PENDING_DEPOSIT') {
      swap.status = 'KNOWN_DEPOSIT_TX';
      swap.updatedAt = new Date().toISOString();
    }
    return json(200, showSwap(swap));
  }

  function status(request: WorldRequest): Answer {
    const swap = swaps.get(request.query.get('depositAddress') ?? '');
    return swap === undefined
      ? message(404, 'Deposit address not found', request.path)
      : json(200, showSwap(swap));
  }

  function handle(request: WorldRequest): Answer | Promise<Answer> {
    const { authorization, 'x-api-key': apiKey } = request.headers;
    if (request.label === 'GET /v0/tokens') return tokens();
    const isKeyless = authorization === undefined && apiKey === undefined;
    if (!isKeyless && authorization !== `Bearer ${options.token}` && apiKey !== options.token)
      return message(401, 'Unauthorized', request.path);
    if (request.label === 'POST /v0/quote') return quote(request, isKeyless ? KEYLESS_BPS : 0);
    if (request.label === 'GET /v0/status') return status(request);
    if (request.label === 'POST /v0/deposit/submit') return submit(request);
    return message(404, `Cannot ${request.label}`, request.path);
  }

  const upstream = await startUpstream({ name: NAME, faults, counts: options.counts, handle });
  return {
    ...upstream,
    async stop() {
      settlement.stop();
      await upstream.stop();
    },
  };
}

const lie = (fault: { readonly value?: string } | null, right: string, wrong: () => string): string =>
  fault === null ? right : (fault.value ?? wrong());

const shift = (fault: { readonly by?: number } | null): bigint =>
  fault === null ? 0n : BigInt(fault.by ?? 1);
