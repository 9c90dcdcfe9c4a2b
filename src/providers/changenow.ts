/**
 * ChangeNOW v2 (documenter.getpostman.com/view/8180765/SVfTPnM8). An asset is a ticker on a network. Amounts are 1e-18
 * coin here and decimal strings upstream. The provider has no idempotency key for creating an exchange, so an exchange
 * is requested only once.
 * @module
 */
import * as z from 'zod';
import { formatAmount, parseWrittenAmount } from '../core/amount.ts';
import { failureReason, upstreamFailed } from '../core/errors.ts';
import { numberText, parseJson, tryJson } from '../core/json.ts';
import { isUnsent } from './admission.ts';
import { ask, type Fetch, type UpstreamResponse } from './http.ts';

const UPSTREAM = 'changenow';
/**
 * Time limit of a create call, whose response slow wallets of the provider delay. The provider's own clients wait 15 to
 * 20 s.
 */
const CREATE_TIMEOUT_MS = 15_000;

const code = z.string().regex(/^[\w.-]{1,40}$/);
const id = z.string().regex(/^[\w-]{1,64}$/);
/** Addresses of any chain: visible ASCII. */
const chainText = z.string().regex(/^[\x21-\x7e]{1,300}$/);
/** A memo may be a number, even 0. Memos and lists of transaction ids may contain spaces. */
const printable = z.unknown().transform((value, context): string => {
  const text = numberText(value);
  if (text !== undefined && /^[\x20-\x7e]{1,300}$/.test(text)) return text;
  context.addIssue('not a printable text');
  return z.NEVER;
});
const optionalText = z
  .union([z.literal(''), z.null(), printable])
  .optional()
  .transform((text) => text || null);
const coins = (excess?: 'drop' | 'raise') =>
  z.unknown().transform((value, context): AttoCoins => {
    const amount = readCoins(value, excess);
    if (amount !== undefined) return amount;
    context.addIssue('not an amount');
    return z.NEVER;
  });
/** Absent, null, empty and 0 mean that the provider does not know the amount. */
const optionalCoins = z
  .union([z.literal(''), z.null(), coins()])
  .optional()
  .transform((amount) => (typeof amount === 'bigint' && amount > 0n ? amount : null));

const Currency = z.object({ legacyTicker: code, ticker: code, network: code });
const Range = z.object({
  minAmount: z.union([z.null(), coins('raise')]).transform((amount) => amount || null),
  maxAmount: optionalCoins,
});
const Estimate = z.object({
  toAmount: coins().refine((amount) => amount > 0n),
  transactionSpeedForecast: z
    .string()
    .regex(/^[\d-]{1,12}$/)
    .nullish()
    .catch(null),
});
const Assets = { fromCurrency: code, fromNetwork: code, toCurrency: code, toNetwork: code };
const Created = z.object({
  ...Assets,
  id,
  fromAmount: coins(),
  toAmount: optionalCoins,
  payinAddress: chainText,
  payinExtraId: optionalText,
  payoutAddress: chainText,
});
const Status = z.object({
  ...Assets,
  id,
  status: z.string(),
  expectedAmountFrom: optionalCoins,
  expectedAmountTo: optionalCoins,
  amountFrom: optionalCoins,
  amountTo: optionalCoins,
  /** Null while the provider has no address, in the state `new`. */
  payinAddress: chainText.nullish().transform((address) => address ?? null),
  payinExtraId: optionalText,
  payinHash: optionalText,
  payoutHash: optionalText,
  refundHash: optionalText,
});

export type Asset = { readonly ticker: string; readonly network: string };
export type Pair = { readonly from: Asset; readonly to: Asset };
export type Currency = z.infer<typeof Currency>;
export type Range = z.infer<typeof Range>;
export type Estimate = z.infer<typeof Estimate>;
export type CreatedExchange = z.infer<typeof Created>;
export type ExchangeState = z.infer<typeof Status>;

export type ExchangeOrder = Pair & {
  readonly amount: AttoCoins;
  readonly payoutAddress: string;
  readonly payoutExtraId?: string | undefined;
  readonly refundAddress?: string | undefined;
  readonly refundExtraId?: string | undefined;
};

/** The result of a read: the value, or the provider's own error code such as `pair_is_inactive`. */
export type Read<T> = { ok: true; value: T } | { ok: false; code: string };

/** `refused`: the exchange was certainly not created. `unknown`: it may exist. */
export type CreateOutcome =
  | { outcome: 'created'; exchange: CreatedExchange }
  | { outcome: 'refused'; code: string }
  | { outcome: 'unknown'; reason: string };

export class ChangeNow {
  readonly #baseUrl: string;
  readonly #common: { fetch: Fetch; upstream: string; headers: Record<string, string> };

  constructor({ baseUrl, apiKey, fetch }: { baseUrl: string; apiKey: string; fetch: Fetch }) {
    this.#baseUrl = baseUrl;
    this.#common = { fetch, upstream: UPSTREAM, headers: { 'x-changenow-api-key': apiKey } };
  }

  async #read<T>(path: string, params: Record<string, string>, schema: z.ZodType<T>): Promise<Read<T>> {
    const url = `${this.#baseUrl}${path}?${new URLSearchParams(params)}`;
    const response = await ask({ ...this.#common, url });
    const refusal = refusalOf(response);
    if (refusal) return { ok: false, code: refusal };
    const parsed = schema.safeParse(bodyOf(response));
    if (!parsed.success) throw upstreamFailed(UPSTREAM, 'unexpected_shape', parsed.error);
    return { ok: true, value: parsed.data };
  }

  /** Every currency that can be exchanged now. Rows of an unknown shape are dropped. */
  async currencies(): Promise<Currency[]> {
    const rows = await this.#read(
      '/exchange/currencies',
      { active: 'true', flow: 'standard' },
      z.array(z.unknown()).transform((all) => all.map((row) => Currency.safeParse(row).data)),
    );
    const known = rows.ok ? rows.value.filter((row) => row !== undefined) : [];
    if (known.length === 0) throw upstreamFailed(UPSTREAM, rows.ok ? 'unexpected_shape' : rows.code);
    return known;
  }

  /** Smallest and largest amount of `from`; null when the provider states no bound. */
  range(pair: Pair): Promise<Read<Range>> {
    return this.#read('/exchange/range', { ...assetsOf(pair), flow: 'standard' }, Range);
  }

  /** The output for `amount` of `from`, after fees. Not binding. */
  estimate(pair: Pair, amount: AttoCoins): Promise<Read<Estimate>> {
    return this.#read(
      '/exchange/estimated-amount',
      { ...assetsOf(pair), flow: 'standard', type: 'direct', fromAmount: text(amount) },
      Estimate,
    );
  }

  status(exchangeId: string): Promise<Read<ExchangeState>> {
    return this.#read('/exchange/by-id', { id: exchangeId }, Status);
  }

  /** Opens an exchange. Does not throw on network failures, because a missing response is an outcome. */
  async create(order: ExchangeOrder): Promise<CreateOutcome> {
    const body = {
      ...assetsOf(order),
      fromAmount: text(order.amount),
      toAmount: '',
      address: order.payoutAddress,
      extraId: order.payoutExtraId ?? '',
      refundAddress: order.refundAddress ?? '',
      refundExtraId: order.refundExtraId ?? '',
      flow: 'standard',
      type: 'direct',
    };
    try {
      const url = `${this.#baseUrl}/exchange`;
      const response = await ask({
        ...this.#common,
        method: 'POST',
        url,
        body,
        timeoutMs: CREATE_TIMEOUT_MS,
      });
      const refusal = response.status === 408 ? undefined : refusalOf(response);
      if (refusal) return { outcome: 'refused', code: refusal };
      const parsed = Created.safeParse(bodyOf(response));
      if (!parsed.success) return { outcome: 'unknown', reason: 'unexpected_shape' };
      return { outcome: 'created', exchange: parsed.data };
    } catch (error) {
      const reason = failureReason(error);
      return isUnsent(error) ? { outcome: 'refused', code: reason } : { outcome: 'unknown', reason };
    }
  }
}

export type ExchangeProvider = Pick<ChangeNow, keyof ChangeNow>;

const text = (amount: AttoCoins): string => formatAmount(amount, COIN_DECIMALS);

const assetsOf = ({ from, to }: Pair) => ({
  fromCurrency: from.ticker,
  fromNetwork: from.network,
  toCurrency: to.ticker,
  toNetwork: to.network,
});

/**
 * The provider's own code for a refusal, or one of ours: `rate_limited`, `invalid_api_key`, `status_4xx`. Refusals have
 * status 400 to 403, sometimes 200. The provider's message is dropped, because it is free text and may quote the key.
 */
function refusalOf(response: UpstreamResponse): string | undefined {
  if (response.status === 429) return 'rate_limited';
  if (response.status >= 500 || (response.status >= 300 && response.status < 400)) return undefined;
  const body = Refusal.safeParse(tryJson(response.text, parseJson)).data;
  if (response.status === 401 || body?.error === 'invalid_api_key') return 'invalid_api_key';
  if (body) return /^[a-z][a-z0-9_]{0,63}$/.test(body.error) ? body.error : 'other';
  return response.status >= 400 ? `status_${response.status}` : undefined;
}

const Refusal = z.object({ error: z.string().min(1), id: z.undefined().optional() });

/** @throws AppError UPSTREAM_FAILED unless the response is a 2xx with JSON */
function bodyOf(response: UpstreamResponse): unknown {
  if (response.status < 200 || response.status > 299)
    throw upstreamFailed(UPSTREAM, `status_${response.status}`);
  const body = tryJson(response.text, parseJson);
  if (body === undefined) throw upstreamFailed(UPSTREAM, 'not_json');
  return body;
}

/** Digits after the point that an amount of any coin may have. */
export const COIN_DECIMALS = 18;
/** 1e-18 of a whole coin. */
export type AttoCoins = bigint;

/**
 * An amount from parsed JSON: a number, an exact number or decimal text; undefined for anything else.
 *
 * @param excess rounding of decimal places beyond the 18th; `raise` for minimum amounts
 */
export function readCoins(value: unknown, excess: 'drop' | 'raise' = 'drop'): AttoCoins | undefined {
  const parsed = parseWrittenAmount(numberText(value) ?? '', COIN_DECIMALS, excess);
  return parsed.ok ? parsed.atoms : undefined;
}
