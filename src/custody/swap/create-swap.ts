/**
 * Accepts swap requests: checks the client's quota and the spending limits, and stores the intent row that
 * makes a request count once.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import { networksOf } from '../../core/client-network.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, MAX_WAIT_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { Refusal, RequestKey, SwapAnswer, SwapPreview, SwapRequest, SwapRoom } from '../api.ts';
import type { Executor } from '../kernel/executor.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Operation } from '../kernel/operation.ts';
import type { Storage } from '../kernel/ports.ts';
import type { BalanceReader } from '../kernel/solana-view.ts';
import {
  type Balance,
  type Budget,
  checkIntent,
  type SpendingVerdict,
  spendable,
} from '../kernel/spending-limits.ts';
import { costDayRefusal, createAnswer, limitRefusal, refusalOf, stopped } from './answer.ts';
import { ALL, COST_DAY, createCallQuotas, isTooSmall } from './limits.ts';
import { planSwap, type QuotePorts, quoteSwap, swapDebit, swapId } from './operation.ts';

export type SwapCreationPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly readBalance: BalanceReader;
  readonly executor: Executor;
  readonly quotes: QuotePorts;
  readonly budget: Budget;
  readonly maxCreatesPerClientHour: number;
  readonly now: () => number;
  readonly randomId: () => string;
  /** Reason why no swap may begin now: frozen, paused, mirror unavailable. */
  readonly stop: () => Promise<string | undefined>;
  /** The result of `work`, or undefined after `ms` milliseconds; the work continues. */
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;
};

/**
 * For this long, an amount that was too small for the bridge is refused without a new quote, because each quote uses
 * the budget.
 */
const SMALL_KNOWN_MS = 600_000;

const IN_PROGRESS: Refusal = {
  code: 'IDEMPOTENCY_IN_PROGRESS',
  message: 'This swap is still being prepared. Repeat the call with the same Idempotency-Key.',
  retryAfterSeconds: 5,
};

/** An amount that is refused until a time in Unix milliseconds. */
type KnownRefusal = { readonly until: number; readonly amount: bigint };

/** Amounts that the bridge or the day's cost limit has recently refused. */
function createKnownRefusals(now: () => number) {
  let small: KnownRefusal | undefined;
  let costly: KnownRefusal | undefined;

  const isCurrent = (known: KnownRefusal | undefined, longest: number): known is KnownRefusal =>
    known !== undefined && !isTimeOver(known.until, longest, now());

  /** The refusal that is already known for an amount, so that no quote is spent on it. */
  function knownRefusal(amount: bigint): Refusal | undefined {
    if (isCurrent(small, SMALL_KNOWN_MS) && amount <= small.amount) return refusalOf('amount_below_cost');
    if (!isCurrent(costly, DAY_MS) || amount < costly.amount) return undefined;
    return costDayRefusal(costly.until, now());
  }

  function learn(op: Operation): void {
    const amount = BigInt(String(op.plan.askedLamports ?? op.amount));
    if (isTooSmall(op.reason)) {
      const more = isCurrent(small, SMALL_KNOWN_MS) && small.amount > amount;
      if (!more) small = { until: now() + SMALL_KNOWN_MS, amount };
    }
    if (op.reason === `limit_${COST_DAY}`) {
      const less = isCurrent(costly, DAY_MS) && costly.amount < amount;
      if (!less) costly = { until: Number(op.outcome.availableAt), amount };
    }
  }

  return { knownRefusal, learn };
}

/** Returns the check of an amount against the spending limits. */
const createCheck =
  ({ journal, budget, now }: SwapCreationPorts) =>
  (amount: Lamports, balance: Balance, operations = journal.counting(now())): SpendingVerdict =>
    checkIntent({
      budget,
      amount,
      reserved: swapDebit(amount),
      balance,
      operations,
      now: now(),
    });

export function createSwaps(p: SwapCreationPorts) {
  const { journal, now, readBalance } = p;
  const quotas = createCallQuotas(p);
  const { clientRefusal, budgetRefusal, giveBack } = quotas;
  const { knownRefusal, learn } = createKnownRefusals(now);
  const check = createCheck(p);

  /** The only place where a swap begins. Synchronous: no other call reads or writes in between. */
  function reserve(
    request: SwapRequest,
    amount: Lamports,
    balance: Balance,
  ): string | Refusal | 'outdated' | 'known' {
    return p.storage.transaction(() => {
      const id = swapId(request.key?.keyHash ?? p.randomId());
      if (journal.get(id)) return 'known';
      const refusal = clientRefusal(request) ?? budgetRefusal();
      if (refusal) return refusal;
      const verdict = check(amount, balance);
      if (!verdict.ok) return verdict.code === 'BALANCE_OUTDATED' ? 'outdated' : limitRefusal(verdict, now());
      const operation = journal.insert(
        planSwap({
          id,
          bodyHash: request.key?.bodyHash ?? null,
          amount,
          now: now(),
        }),
      );
      for (const { network } of networksOf(request.client)) journal.recordCall('create', network, now());
      journal.recordCall('quote', ALL, now());
      if (request.key) {
        journal.recordCall('key', request.client, now());
      }
      return operation.id;
    });
  }

  /** The stored answer of a key, once it exists. */
  async function replay(key: RequestKey): Promise<SwapAnswer | undefined> {
    // The row itself stores its key, so a restored journal still has it.
    const known = journal.get(swapId(key.keyHash));
    if (!known) return undefined;
    if (known.plan.bodyHash !== key.bodyHash) {
      const message = 'This Idempotency-Key was already used with a different request.';
      return { type: 'refused', replayed: false, refusal: { code: 'IDEMPOTENCY_KEY_REUSED', message } };
    }
    return answer(known.id, true);
  }

  /** Drives the operation until its result is decided, for at most a caller's longest wait. */
  async function answer(id: string, replayed: boolean, client?: string): Promise<SwapAnswer> {
    const known = journal.get(id);
    if (known?.state === 'planned') await p.within(p.executor.drive(id), MAX_WAIT_MS);
    const op = journal.get(id);
    if (op && !replayed) learn(op);
    if (op && client !== undefined) giveBack(client, op);
    const decided = op && createAnswer(op, replayed);
    if (decided) {
      // Durable before the answer: a crash must not undo it.
      await p.storage.sync();
      return decided;
    }
    return { type: 'refused', replayed: false, refusal: IN_PROGRESS };
  }

  /** The answer of a swap that has begun, or the refusal. */
  async function begin(request: SwapRequest): Promise<SwapAnswer | Refusal> {
    const early = knownRefusal(request.amountLamports) ?? clientRefusal(request) ?? budgetRefusal();
    if (early) return early;
    const why = await p.stop();
    if (why) return stopped(why);
    const amount = lamports(request.amountLamports);
    // A balance may become outdated while it is read: another operation may be released meanwhile.
    for (let reads = 0; reads < 3; reads++) {
      let balance: Balance;
      try {
        balance = await readBalance(journal.releasedSlot());
      } catch (error) {
        return refusalOf(`upstream_${failureReason(error)}`);
      }
      const id = reserve(request, amount, balance);
      if (id === 'known') return IN_PROGRESS;
      if (id !== 'outdated') return typeof id === 'string' ? answer(id, false, request.client) : id;
    }
    return refusalOf('upstream_balance_outdated');
  }

  return {
    /** Whether a swap has begun with the key of this call. */
    knows: ({ key }: SwapRequest): boolean =>
      key !== undefined && journal.get(swapId(key.keyHash)) !== undefined,

    /** The answer of a swap that began now or earlier with the same key, or a refusal. */
    createSwap: async (request: SwapRequest): Promise<SwapAnswer | Refusal> =>
      (request.key && (await replay(request.key))) || begin(request),

    ...createSwapPreviews(p, { ...quotas, knownRefusal, check }),
  };
}

/** The result of a create, without a reservation or a signature. */
function createSwapPreviews(
  p: SwapCreationPorts,
  rules: ReturnType<typeof createCallQuotas> & {
    knownRefusal(amount: bigint): Refusal | undefined;
    readonly check: ReturnType<typeof createCheck>;
  },
) {
  const { journal, now, readBalance } = p;
  const { clientRefusal, budgetRefusal, previewRefusal, knownRefusal, check } = rules;

  return {
    async previewSwap(request: Omit<SwapRequest, 'key'>): Promise<SwapPreview> {
      const why = await p.stop();
      if (why) return { type: 'refused', refusal: stopped(why) };
      const budget =
        knownRefusal(request.amountLamports) ?? clientRefusal(request) ?? previewRefusal(request.client);
      if (budget) return { type: 'refused', refusal: budget };
      const amount = lamports(request.amountLamports);
      try {
        const verdict = check(amount, await readBalance(journal.releasedSlot()));
        if (!verdict.ok) return { type: 'refused', refusal: limitRefusal(verdict, now()) };
        // Other calls may have used the budget while the balance was read.
        const spent = previewRefusal(request.client);
        if (spent) return { type: 'refused', refusal: spent };
        for (const { network } of [{ network: ALL }, ...networksOf(request.client)])
          journal.recordCall('preview', network, now());
        const quoted = await quoteSwap(p.quotes, amount, true);
        if (!quoted.ok) return { type: 'refused', refusal: refusalOf(quoted.reason) };
        const { quote, priced } = quoted;
        const { expectedSats, minimumSats, route } = quote;
        return { type: 'possible', expectedSats, minimumSats, costLamports: priced.cost, route };
      } catch (error) {
        return { type: 'refused', refusal: refusalOf(`upstream_${failureReason(error)}`) };
      }
    },

    /** @throws AppError UPSTREAM_FAILED when the balance cannot be read */
    async swapRoom(): Promise<SwapRoom> {
      const operations = journal.counting(now());
      const balance = await readBalance(journal.releasedSlot());
      const why = await p.stop();
      const verdict = check(lamports(1n), balance, operations);
      const refusal = why
        ? stopped(why)
        : (budgetRefusal() ?? (verdict.ok ? null : limitRefusal(verdict, now())));
      const left = spendable(balance, operations, p.budget.keeps());
      const most = p.budget.maxAmount ?? left;
      const bound = left < most ? left : most;
      const maximumLamports = refusal
        ? 0n
        : largest(bound, (amount) => check(amount, balance, operations).ok);
      const afterFees = left - swapDebit(lamports(0n));
      return {
        balanceLamports: balance.lamports,
        maximumLamports,
        spendableLamports: afterFees > 0n ? afterFees : 0n,
        refusal,
      };
    },
  };
}

/** The largest amount up to `bound` that passes; the checks are monotone. */
function largest(bound: bigint, passes: (amount: Lamports) => boolean): bigint {
  let low = 0n;
  let high = bound;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (passes(lamports(middle))) low = middle;
    else high = middle - 1n;
  }
  return low;
}
