import { AppError } from '../../core/errors.ts';
import { HOUR_MS, MAX_WAIT_MS } from '../../core/limits.ts';
import type { RequestFingerprint } from '../../http/idempotency.ts';
import type { ChangeNow, ExchangeOrder } from '../../providers/changenow.ts';
import type { AttoCoins } from '../../providers/coin-amount.ts';
import { type ExchangeAnswer, exchangeAnswer, mismatch } from './exchange-answer.ts';
import type { ExchangeStore } from './exchange-store.ts';
import { type CurrencyDeps, getPair } from './pair.ts';
import { readRange } from './quote.ts';
import { assertInRange, refusal } from './refusal.ts';

export type CreateExchangeDeps = Pick<CurrencyDeps, 'cache'> & {
  changenow: Pick<ChangeNow, 'currencies' | 'range' | 'create'>;
  exchanges: Pick<ExchangeStore, 'find' | 'claim' | 'release' | 'finish' | 'markUnknown'>;
  now: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Lets work continue after the caller has disconnected. */
  defer: (work: Promise<unknown>) => void;
  log: (line: Readonly<Record<string, unknown>>) => void;
};

export type CreateExchange = {
  /** Currency codes in lower case. */
  readonly from: string;
  readonly to: string;
  readonly amount: AttoCoins;
  readonly payoutAddress: string;
  readonly payoutExtraId?: string | undefined;
  readonly refundAddress?: string | undefined;
  readonly refundExtraId?: string | undefined;
};

/** The client, and the Idempotency-Key's fingerprint; without a key each call is a separate request. */
export type Caller = { readonly client: string; readonly guard: RequestFingerprint | undefined };

/** `unknown`: the provider may have acted, but no trustworthy answer arrived. */
export type CreateResult =
  | { outcome: 'created'; answer: ExchangeAnswer; replayed: boolean }
  | { outcome: 'unknown'; replayed: boolean };

/** A create older than its timeouts has lost its Worker, so its outcome is unknown. */
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
  // An answer with a different payout is rejected, so that no caller pays into it.
  const wrong = result.outcome === 'created' ? mismatch(order, result.exchange) : undefined;
  if (result.outcome === 'unknown' || wrong) {
    const reason = result.outcome === 'unknown' ? result.reason : `mismatch_${wrong}`;
    await record(d, () => d.exchanges.markUnknown(keyHash, reason, d.now()));
    return { outcome: 'unknown', replayed: false };
  }
  const answer = exchangeAnswer(order, result.exchange);
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

/** The stored answer of the request that holds the key; waits while that request runs. */
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
