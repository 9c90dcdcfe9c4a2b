/**
 * Begins operations of every kind except swaps, which have their own caps and quotes. One critical section
 * contains the intent, the names it consumes and the reservation. The refusals at the end are shared by all kinds.
 * @module
 */
import type { Lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { Refusal } from '../api.ts';
import type { Journal } from './journal.ts';
import { type Facts, type Kind, type Operation, plannedOperation } from './operation.ts';
import type { Storage } from './ports.ts';
import type { BalanceReader } from './solana-view.ts';
import { type Balance, type Budget, checkIntent, type SpendingVerdict, solText } from './spending-limits.ts';

export type BeginPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly readBalance: BalanceReader;
  readonly budgetOf: (kind: Kind) => Budget;
  readonly now: () => number;
  /** Reason why no operation of this kind may begin now. */
  readonly stop: (kind: Kind) => Promise<string | undefined>;
};

export type Intent = {
  /** Lamports that it moves; zero when it moves only tokens. */
  readonly amount: Lamports;
  /** All lamports that may leave the reserve for it: amount, fees, rent. */
  readonly reserved: Lamports;
  readonly plan: Facts;
  /** Names that it consumes permanently: `payment:<signature>`. */
  readonly claims: readonly string[];
};

/** `declined` is a module's own outcome, not a refusal of the caller's request. */
export type Decision<Declined = never> =
  | { readonly ok: true; readonly intent: Intent }
  | { readonly ok: false; readonly refusal: Refusal }
  | { readonly ok: false; readonly declined: Declined };

export type Begun<Declined = never> =
  | { readonly type: 'begun' | 'known'; readonly operation: Operation }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'declined'; readonly declined: Declined };

/**
 * @param id     natural key, such as `absr:2026-03-01`: the same id begins once
 * @param decide runs in the critical section and may read and write the journal; a refused intent rolls its
 * writes
 * back
 */
export type Begin = <Declined = never>(
  kind: Kind,
  id: string,
  decide: () => Decision<Declined>,
) => Promise<Begun<Declined>>;

/** Rolls back the critical section of an intent that does not begin. */
class RolledBack<Declined> extends Error {
  readonly outcome: Begun<Declined> | 'outdated';
  constructor(outcome: Begun<Declined> | 'outdated') {
    super('rolled back');
    this.outcome = outcome;
  }
}

const refuse = (refusal: Refusal): Begun => ({ type: 'refused', refusal });

export function createBegin(p: BeginPorts): Begin {
  const { journal, now } = p;

  function insert<Declined>(
    kind: Kind,
    id: string,
    balance: Balance,
    decide: () => Decision<Declined>,
  ): Operation {
    const decision = decide();
    if (!decision.ok)
      throw new RolledBack<Declined>(
        'refusal' in decision ? refuse(decision.refusal) : { type: 'declined', declined: decision.declined },
      );
    const blockedBy = journal.blockedBy(id);
    if (blockedBy !== undefined) throw new RolledBack(refuse(blocked(blockedBy)));
    const { claims, ...intent } = decision.intent;
    const verdict = checkIntent({
      budget: p.budgetOf(kind),
      amount: intent.amount,
      reserved: intent.reserved,
      balance,
      operations: journal.counting(now()),
      now: now(),
    });
    if (!verdict.ok)
      throw new RolledBack(
        verdict.code === 'BALANCE_OUTDATED' ? 'outdated' : refuse(spendingRefusal(verdict, now())),
      );
    for (const name of claims) {
      if (!journal.consumeOnce(name, id, now())) throw new RolledBack(refuse(alreadyUsed(name)));
    }
    return journal.insert(plannedOperation({ id, kind, ...intent, now: now() }));
  }

  return async <Declined>(kind: Kind, id: string, decide: () => Decision<Declined>) => {
    if (!journal.get(id)) {
      const why = await p.stop(kind);
      if (why) return refuse(signingStopped(why));
    }
    for (let reads = 0; reads < 3; reads++) {
      const known = journal.get(id);
      if (known) {
        // The write of the earlier call may not be durable yet.
        await p.storage.sync();
        return { type: 'known', operation: known };
      }
      let balance: Balance;
      try {
        balance = await p.readBalance(journal.releasedSlot());
      } catch (error) {
        return refuse(upstreamRefusal(`upstream_${failureReason(error)}`));
      }
      // Another call may have begun the same id while the balance was read.
      if (journal.get(id)) continue;
      try {
        const operation = p.storage.transaction(() => insert(kind, id, balance, decide));
        await p.storage.sync();
        return { type: 'begun', operation };
      } catch (error) {
        if (!(error instanceof RolledBack)) throw error;
        const { outcome } = error as RolledBack<Declined>;
        if (outcome !== 'outdated') return outcome;
      }
    }
    return refuse(upstreamRefusal('upstream_balance_outdated'));
  };
}

const alreadyUsed = (name: string): Refusal => ({
  code: 'ALREADY_USED',
  message: 'This payment already serves another purpose.',
  details: { name },
});

/** @param by a transaction of the reserve, or an operation, that may have paid it already */
const blocked = (by: string): Refusal => ({
  code: 'HELD',
  message: `It may have been paid before the journal was lost: ${by}.`,
  details: { by },
});

/** Signing is stopped for now. */
export const signingStopped = (reason: string): Refusal => ({
  code: 'SIGNING_PAUSED',
  message: 'Signing is paused. Nothing was reserved or signed.',
  retryAfterSeconds: 300,
  details: { reason },
});

export const upstreamRefusal = (reason: string): Refusal => ({
  code: 'UPSTREAM_FAILED',
  message: 'The bridge or the chain did not answer as expected.',
  details: { reason },
});

/** The refusal for a verdict of the spending limits; it names the limit. */
export function spendingRefusal(verdict: Exclude<SpendingVerdict, { ok: true }>, now: number): Refusal {
  switch (verdict.code) {
    case 'INSUFFICIENT_BALANCE': {
      const left = verdict.available > 0n ? verdict.available : 0n;
      return {
        code: verdict.code,
        message: `The reserve can spend ${solText(left)} now, after its fee reserve and floor.`,
        details: { availableLamports: left.toString() },
      };
    }
    case 'AMOUNT_TOO_LARGE':
      return {
        code: verdict.code,
        message: `One operation may move ${solText(verdict.maximum)} at most.`,
        details: { maxAmountLamports: verdict.maximum.toString() },
      };
    case 'LIMIT_REACHED': {
      const { limit, unit, maximum, used, availableAt } = verdict;
      const seconds = Math.max(Math.ceil((availableAt - now) / 1_000), 1);
      const retryAfterSeconds = Math.min(seconds, DAY_MS / 1_000);
      const text = (atoms: bigint) => (unit === 'lamports' ? solText(atoms) : String(atoms));
      const suffix = unit === 'lamports' ? 'Lamports' : '';
      return {
        code: 'SPENDING_LIMIT_REACHED',
        message: `The ${limit.replace('_', ' per ')} limit of ${text(maximum)} would be exceeded: ${text(used)} are already used.`,
        retryAfterSeconds,
        details: {
          limit,
          [`maximum${suffix}`]: maximum.toString(),
          [`used${suffix}`]: used.toString(),
          nextAvailableAt: new Date(now + retryAfterSeconds * 1_000).toISOString(),
        },
      };
    }
    case 'BALANCE_OUTDATED':
      return {
        code: 'UPSTREAM_FAILED',
        message: 'The chain does not show the outcome of earlier operations yet.',
        retryAfterSeconds: 5,
        details: { reason: 'balance_outdated' },
      };
  }
}
