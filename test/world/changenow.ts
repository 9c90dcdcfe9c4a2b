import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { type Answer, json, type WorldRequest } from '../kit/transport.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import { createBitcoinKey, createSolanaKey, randomHex } from './keys.ts';
import type { PriceBook } from './price-venues.ts';
import type { RequestCounts } from './request-counts.ts';

// The rows that tests need: one coin on several networks, and one coin whose payments need a tag.
const COINS = [
  { ticker: 'btc', network: 'btc', legacyTicker: 'btc', name: 'Bitcoin', usd: 0 },
  { ticker: 'sol', network: 'sol', legacyTicker: 'sol', name: 'Solana', usd: 0 },
  { ticker: 'eth', network: 'eth', legacyTicker: 'eth', name: 'Ethereum', usd: 2300 },
  { ticker: 'eth', network: 'arbitrum', legacyTicker: 'etharb', name: 'Ethereum (Arbitrum)', usd: 2300 },
  { ticker: 'usdt', network: 'eth', legacyTicker: 'usdterc20', name: 'Tether (ERC20)', usd: 1 },
  { ticker: 'usdt', network: 'trx', legacyTicker: 'usdttrc20', name: 'Tether (TRC20)', usd: 1 },
  { ticker: 'usdt', network: 'sol', legacyTicker: 'usdtsol', name: 'Tether (SOL)', usd: 1 },
  { ticker: 'xrp', network: 'xrp', legacyTicker: 'xrp', name: 'XRP', usd: 2 },
  { ticker: 'luna', network: 'luna', legacyTicker: 'luna', name: 'Terra, not exchanged', usd: 1 },
] as const;
type Coin = (typeof COINS)[number];

const MIN_USD = 5;
const MAX_USD = 2_000_000;
/** The provider's fee, as a share. */
const FEE = 0.005;

const orderBody = z.object({
  fromCurrency: z.string(),
  fromNetwork: z.string(),
  toCurrency: z.string(),
  toNetwork: z.string(),
  fromAmount: z.union([z.string(), z.number()]),
  toAmount: z.literal(''),
  address: z.string(),
  extraId: z.string(),
  refundAddress: z.string(),
  refundExtraId: z.string(),
  flow: z.literal('standard'),
  type: z.literal('direct'),
});

/** An exchange, as stored by the provider. */
export interface SimulatedExchange {
  readonly id: string;
  readonly order: z.infer<typeof orderBody>;
  readonly toAmount: number;
  readonly payinAddress: string;
  readonly payinExtraId: string | null;
}

export interface ChangeNowOptions {
  readonly prices: PriceBook;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
  readonly apiKey: string;
}

const refused = (status: number, error: string, message: string, payload?: unknown): Answer =>
  json(status, { error, message, ...(payload === undefined ? {} : { payload }) });

/**
 * ChangeNOW v2 with the standard flow. Besides the gate's faults: `status` with the provider's status as value, and `lie`
 * (the response to a create call names a different payout address). `GET /world/exchanges` lists what was created.
 */
export async function startChangeNow(options: ChangeNowOptions): Promise<Upstream> {
  const { prices, faults } = options;
  const exchanges: SimulatedExchange[] = [];

  const usd = (coin: Coin): number =>
    coin.ticker === 'btc' || coin.ticker === 'sol'
      ? Number(prices.price(coin.ticker === 'btc' ? 'BTC' : 'SOL'))
      : coin.usd;
  // Doubles of eight digits in the real provider's notation, including 1e-8.
  const round = (amount: number): number => Number(amount.toFixed(8));
  const coin = (ticker: string | null, network: string | null) =>
    COINS.find((row) => row.ticker === ticker && row.network === network);
  const bounds = (from: Coin) => ({
    minAmount: round(MIN_USD / usd(from)),
    maxAmount: round(MAX_USD / usd(from)),
  });
  function outOfRange(from: Coin, amount: number): Answer {
    const range = bounds(from);
    return amount < range.minAmount
      ? refused(400, 'deposit_too_small', 'Out of min amount', { range: { ...range, maxAmount: null } })
      : refused(400, 'out_of_range', 'Out of max amount', { range });
  }
  const output = (from: Coin, to: Coin, amount: number): number =>
    round(((amount * usd(from)) / usd(to)) * (1 - FEE));

  function pairOf(read: (name: string) => string | null): [Coin, Coin] | Answer {
    const from = coin(read('fromCurrency'), read('fromNetwork'));
    const to = coin(read('toCurrency'), read('toNetwork'));
    const inactive = from?.ticker === 'luna' || to?.ticker === 'luna';
    if (!from || !to || from === to || inactive) return refused(400, 'pair_is_inactive', 'Pair is inactive');
    return [from, to];
  }

  const echo = (from: Coin, to: Coin) => ({
    fromCurrency: from.ticker,
    fromNetwork: from.network,
    toCurrency: to.ticker,
    toNetwork: to.network,
  });

  async function payin(network: string): Promise<Pick<SimulatedExchange, 'payinAddress' | 'payinExtraId'>> {
    if (network === 'btc') return { payinAddress: createBitcoinKey().address, payinExtraId: null };
    if (network === 'sol') return { payinAddress: (await createSolanaKey()).address, payinExtraId: null };
    if (network === 'xrp')
      return { payinAddress: 'rDemoPayinAddress1111111111111111', payinExtraId: String(randomInt(10 ** 9)) };
    return { payinAddress: `0x${randomHex(20)}`, payinExtraId: null };
  }

  async function create(request: WorldRequest): Promise<Answer> {
    const parsed = orderBody.safeParse(JSON.parse(request.body));
    if (!parsed.success) return refused(400, 'not_valid_params', 'Invalid parameters');
    const order = parsed.data;
    const pair = pairOf((name) => Reflect.get(order, name));
    if (!Array.isArray(pair)) return pair;
    const [from, to] = pair;
    const amount = Number(order.fromAmount);
    const { minAmount, maxAmount } = bounds(from);
    if (amount < minAmount || amount > maxAmount) return outOfRange(from, amount);
    const made: SimulatedExchange = {
      id: randomHex(7),
      order,
      toAmount: output(from, to, amount),
      ...(await payin(from.network)),
    };
    exchanges.push(made);
    const isLie = faults.take('changenow', 'lie', request.label, request.path) !== null;
    return json(200, {
      id: made.id,
      fromAmount: amount,
      directedAmount: amount,
      toAmount: made.toAmount,
      flow: 'standard',
      type: 'direct',
      payinAddress: made.payinAddress,
      ...(made.payinExtraId === null ? {} : { payinExtraId: made.payinExtraId }),
      payoutAddress: isLie ? '1BitcoinEaterAddressDontSendf59kuE' : order.address,
      payoutExtraId: order.extraId,
      ...echo(from, to),
      refundAddress: order.refundAddress,
      refundExtraId: order.refundExtraId,
    });
  }

  function byId(request: WorldRequest): Answer {
    const found = exchanges.find(({ id }) => id === request.query.get('id'));
    if (!found) return refused(404, 'not_found', 'Transaction not found');
    const { id, order, toAmount, payinAddress, payinExtraId } = found;
    const status = faults.peek('changenow', 'status', request.label, request.path)?.value ?? 'waiting';
    const arrived = !['new', 'waiting', 'expired'].includes(status);
    const paid = status === 'finished';
    const at = new Date().toISOString();
    return json(200, {
      id,
      status,
      actionsAvailable: status === 'verifying',
      fromCurrency: order.fromCurrency,
      fromNetwork: order.fromNetwork,
      toCurrency: order.toCurrency,
      toNetwork: order.toNetwork,
      fromLegacyTicker: coin(order.fromCurrency, order.fromNetwork)?.legacyTicker,
      toLegacyTicker: coin(order.toCurrency, order.toNetwork)?.legacyTicker,
      // Numbers before the deposit, text after it: both occur in production.
      expectedAmountFrom: arrived ? String(order.fromAmount) : Number(order.fromAmount),
      expectedAmountTo: toAmount,
      amountFrom: arrived ? String(order.fromAmount) : null,
      amountTo: paid ? toAmount : null,
      payinAddress,
      payoutAddress: order.address,
      payinExtraId,
      payoutExtraId: order.extraId || null,
      refundAddress: order.refundAddress || null,
      refundExtraId: order.refundExtraId || null,
      createdAt: at,
      updatedAt: at,
      depositReceivedAt: arrived ? at : null,
      payinHash: arrived ? randomHex(32) : null,
      payoutHash: paid ? randomHex(32) : null,
      refundHash: status === 'refunded' ? randomHex(32) : null,
      refundAmount: null,
      validUntil: null,
      userId: null,
      originalExchangeInfo: null,
      relatedExchangesInfo: [],
      repeatedExchangesInfo: [],
    });
  }

  function quote(request: WorldRequest): Answer {
    const { query } = request;
    const pair = pairOf((name) => query.get(name));
    if (!Array.isArray(pair)) return pair;
    const [from, to] = pair;
    if (request.path === '/v2/exchange/range')
      return json(200, { ...echo(from, to), flow: 'standard', ...bounds(from) });
    const text = query.get('fromAmount') ?? '';
    const amount = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || amount <= 0) return refused(400, 'not_valid_params', 'Invalid amount');
    if (amount < bounds(from).minAmount || amount > bounds(from).maxAmount) return outOfRange(from, amount);
    return json(200, {
      ...echo(from, to),
      flow: 'standard',
      type: 'direct',
      rateId: null,
      validUntil: null,
      transactionSpeedForecast: '10-60',
      warningMessage: null,
      depositFee: 0,
      withdrawalFee: 0,
      userId: null,
      fromAmount: amount,
      toAmount: output(from, to, amount),
    });
  }

  return startUpstream({
    name: 'changenow',
    faults,
    counts: options.counts,
    handle(request) {
      if (request.label === 'GET /world/exchanges') return json(200, exchanges);
      if (request.label === 'GET /v2/exchange/currencies') {
        const rest = { image: '', hasExternalId: false, isFiat: false, featured: false, isStable: false };
        return json(
          200,
          COINS.map(({ usd: _usd, ...row }) => ({
            ...row,
            ...rest,
            isExtraIdSupported: row.ticker === 'xrp',
            supportsFixedRate: true,
            tokenContract: null,
            buy: true,
            sell: true,
          })),
        );
      }
      if (request.headers['x-changenow-api-key'] !== options.apiKey)
        return refused(403, 'invalid_api_key', `Key ${request.headers['x-changenow-api-key']} is not valid`);
      if (request.label === 'POST /v2/exchange') return create(request);
      if (request.label === 'GET /v2/exchange/by-id') return byId(request);
      if (request.label === 'GET /v2/exchange/range' || request.label === 'GET /v2/exchange/estimated-amount')
        return quote(request);
      return refused(404, 'not_found', 'Not Found');
    },
  });
}
