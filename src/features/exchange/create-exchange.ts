import { z } from '@hono/zod-openapi';

import { formatAmount, toNumber } from '../../core/amount.ts';
import { HOUR_MS, MAX_WAIT_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { RequestFingerprint } from '../../http/idempotency.ts';
import { component } from '../../http/router.ts';
import {
  type AttoCoins,
  type ChangeNow,
  COIN_DECIMALS,
  type CreatedExchange,
  type ExchangeOrder,
} from '../../providers/changenow.ts';
import type { ExchangeStore } from './exchange-store.ts';
import { assertInRange, type CurrencyDeps, getPair, readRange, refusal } from './quote.ts';

export type CreateExchangeDeps = Pick<CurrencyDeps, 'cache'> & {
  changenow: Pick<ChangeNow, 'currencies' | 'range' | 'create'>;
  exchanges: Pick<ExchangeStore, 'find' | 'claim' | 'release' | 'finish' | 'markUnknown'>;
  now: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Lets work continue after the caller has disconnected. */
  defer: (work: Promise<unknown>) => void;
  log: (line: Readonly<Record<string, unknown>>) => void;
};

export type CreateExchange = Omit<ExchangeOrder, 'from' | 'to'> & {
  /** Currency codes in lower case. */
  readonly from: string;
  readonly to: string;
};

/** The client, and the Idempotency-Key's fingerprint; without a key each call is a separate request. */
export type Caller = { readonly client: string; readonly guard: RequestFingerprint | undefined };

/** `unknown`: the provider may have acted, but no trustworthy response arrived. */
export type CreateResult =
  | { outcome: 'created'; answer: ExchangeAnswer; replayed: boolean }
  | { outcome: 'unknown'; replayed: boolean };

/** Past this age, the call's timeouts are over and its Worker has ended, so its outcome is unknown. */
const ABANDONED_MS = 60_000;
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2_000;

/**
 * Opens an exchange at the provider, at most once per key. The key's row is written before the provider is
 * called, and no call is ever repeated for a row. A refusal frees the key.
 *
 * @throws AppError for a refusal by the provider or the range, IDEMPOTENCY_KEY_REUSED,
 * IDEMPOTENCY_IN_PROGRESS, RATE_LIMITED
 */
export async function createExchange(
  d: CreateExchangeDeps,
  request: CreateExchange,
  { client, guard }: Caller,
): Promise<CreateResult> {
  if (guard && (await d.exchanges.find(guard.keyHash))) return replay(d, guard);
  const pair = await getPair(d, request.from, request.to);
  assertInRange(request.amount, await readRange(d.changenow, pair), request.from);
  const fingerprint = guard ?? { keyHash: `unguarded:${crypto.randomUUID()}`, bodyHash: '' };
  if (!(await d.exchanges.claim(fingerprint, client, d.now()))) {
    if (await d.exchanges.find(fingerprint.keyHash)) return replay(d, fingerprint);
    throw new AppError('RATE_LIMITED', 'Too many exchanges from this address in the last hour.', {
      retryAfterSeconds: HOUR_MS / 1000,
      details: { limit: 'exchanges_per_hour' },
    });
  }
  const { from: fromCode, to: toCode, ...rest } = request;
  const work = send(d, fingerprint.keyHash, { ...rest, ...pair, fromCode, toCode });
  d.defer(work.catch(() => undefined));
  return work;
}

async function send(
  d: CreateExchangeDeps,
  keyHash: string,
  order: ExchangeOrder & { fromCode: string; toCode: string },
): Promise<CreateResult> {
  const result = await d.changenow.create(order);
  if (result.outcome === 'refused') {
    await record(d, () => d.exchanges.release(keyHash));
    throw refusal(result.code);
  }
  // A response with a different payout is rejected, so that no caller pays into it.
  const wrong = result.outcome === 'created' ? mismatch(order, result.exchange) : undefined;
  if (result.outcome === 'unknown' || wrong) {
    const reason = result.outcome === 'unknown' ? result.reason : `mismatch_${wrong}`;
    await record(d, () => d.exchanges.markUnknown(keyHash, reason, d.now()));
    return { outcome: 'unknown', replayed: false };
  }
  const answer = exchangeBody(order, result.exchange);
  await record(d, () => d.exchanges.finish(keyHash, answer, d.now()));
  return { outcome: 'created', answer, replayed: false };
}

/** The caller receives a known outcome even if it cannot be stored; a replay then returns `unknown`. */
async function record(d: Pick<CreateExchangeDeps, 'log'>, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch {
    d.log({ level: 'error', event: 'exchange_outcome_not_stored' });
  }
}

/** The stored response of the first request with this key; waits while that request runs. */
async function replay(d: CreateExchangeDeps, guard: RequestFingerprint): Promise<CreateResult> {
  const until = d.now() + MAX_WAIT_MS;
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
    const earlier = await d.exchanges.find(guard.keyHash);
    if (earlier && earlier.bodyHash !== guard.bodyHash) {
      throw new AppError(
        'IDEMPOTENCY_KEY_REUSED',
        'This Idempotency-Key was already used with a different request.',
      );
    }
    if (earlier?.state === 'done') return { outcome: 'created', answer: earlier.answer, replayed: true };
    if (earlier?.state === 'unknown') return { outcome: 'unknown', replayed: true };
    if (earlier && earlier.createdAt + ABANDONED_MS < d.now()) {
      await d.exchanges.markUnknown(guard.keyHash, 'abandoned', d.now());
      return { outcome: 'unknown', replayed: true };
    }
    if (!earlier || d.now() + pause > until) {
      throw new AppError(
        'IDEMPOTENCY_IN_PROGRESS',
        earlier
          ? 'The first request with this Idempotency-Key is still running.'
          : 'The first request with this Idempotency-Key was just refused, which freed the key.',
        { retryAfterSeconds: earlier ? 5 : 1 },
      );
    }
    await d.sleep(pause);
  }
}

export const ExchangeAnswer = component('Exchange', {
  id: z.string().describe('The provider’s id; poll it at /api/exchange/status/{id}'),
  payinAddress: z.string().describe('Address to which `payinAmount` must be paid'),
  payinExtraId: z
    .string()
    .nullable()
    .describe('Memo or tag that the payment must carry; without it the payment is lost'),
  payinAmount: z.number().openapi({ example: 0.1 }),
  payinAmountExact: z.string().openapi({ example: '0.1', description: 'payinAmount with all digits' }),
  payinCurrency: z.string().openapi({ example: 'sol' }),
  payinNetwork: z.string().openapi({ example: 'sol' }),
  payoutCurrency: z.string(),
  payoutAddress: z.string(),
  expectedAmount: z.number().nullable().describe('Expected payout; the rate is not locked'),
  expectedAmountExact: z.string().nullable(),
  refundAddress: z.string().nullable(),
  status: z.literal('waiting'),
  statusUrl: z.url().describe('The provider’s own tracker page'),
  message: z.string(),
});

export type ExchangeAnswer = z.infer<typeof ExchangeAnswer>;

/** The provider's public page about an exchange. */
export const trackerUrl = (id: string): string =>
  `https://changenow.io/exchange/txs/${encodeURIComponent(id)}`;

/** The first member of a create's response that differs from the order. */
export function mismatch(order: ExchangeOrder, created: CreatedExchange): string | undefined {
  const same: [string, boolean][] = [
    ['payout_address', isSameAddress(order.payoutAddress, created.payoutAddress)],
    ['amount', asDouble(created.fromAmount) === asDouble(order.amount)],
    ['from', created.fromCurrency === order.from.ticker && created.fromNetwork === order.from.network],
    ['to', created.toCurrency === order.to.ticker && created.toNetwork === order.to.network],
  ];
  return same.find(([, equal]) => !equal)?.[0];
}

/** Hex after an optional chain prefix. The case of its letters is at most a checksum. */
const HEX_ADDRESS = /^[a-z0-9]{0,4}?[0-9a-f]{40,}$/i;
const isOneCase = (text: string): boolean => text === text.toLowerCase() || text === text.toUpperCase();

/**
 * Whether two texts are the same address. Hex ignores case. Bech32 and similar formats ignore it if each text has
 * only one case. In all others, such as base58, a different case is a different address, possibly one without
 * an owner.
 */
function isSameAddress(a: string, b: string): boolean {
  if (a === b) return true;
  const mayDiffer = (HEX_ADDRESS.test(a) && HEX_ADDRESS.test(b)) || (isOneCase(a) && isOneCase(b));
  return mayDiffer && a.toLowerCase() === b.toLowerCase();
}

/** The provider computes with doubles, so it may return only 17 of an amount's 18 digits. */
const asDouble = (amount: AttoCoins): number => toNumber(amount, COIN_DECIMALS);

/** @param order with the caller's spelling of the currency codes */
export function exchangeBody(
  order: ExchangeOrder & { readonly fromCode: string; readonly toCode: string },
  created: CreatedExchange,
): ExchangeAnswer {
  const payin = formatAmount(order.amount, COIN_DECIMALS);
  const expected = created.toAmount;
  return {
    id: created.id,
    payinAddress: created.payinAddress,
    payinExtraId: created.payinExtraId,
    payinAmount: Number(payin),
    payinAmountExact: payin,
    payinCurrency: order.fromCode,
    payinNetwork: order.from.network,
    payoutCurrency: order.toCode,
    payoutAddress: order.payoutAddress,
    expectedAmount: expected === null ? null : asDouble(expected),
    expectedAmountExact: expected === null ? null : formatAmount(expected, COIN_DECIMALS),
    refundAddress: order.refundAddress ?? null,
    status: 'waiting',
    statusUrl: trackerUrl(created.id),
    message: [
      `Send exactly ${payin} ${order.fromCode} to payinAddress`,
      created.payinExtraId === null ? '' : ` with the memo ${created.payinExtraId}, else the payment is lost`,
      ', from a wallet of your own. The rate is not locked. ChangeNOW runs the exchange, not this service. It may hold ',
      'a payment until it has checked your identity or the source of the funds (status pending, hold true). It ',
      order.refundAddress
        ? 'sends refunds to refundAddress.'
        : 'asks you for an address before a refund, since no refundAddress was given.',
    ].join(''),
  };
}
