/**
 * A kind whose operations reserve their cost when they are sold, not when they begin: each waits until the balance and the
 * caps of its kind cover it, the oldest first.
 * @module
 */
import { upstreamFailed } from '../../core/errors.ts';
import type { BalanceReader } from './balance-reader.ts';
import type { Journal } from './journal.ts';
import type { OperationKind } from './module.ts';
import { type Budget, checkCap, reservedLamports } from './spending-limits.ts';

export function coveredKind(
  kind: OperationKind,
  p: {
    readonly journal: Pick<Journal, 'open' | 'recent' | 'releasedSlot'>;
    readonly budget: Budget;
    readonly readBalance: BalanceReader;
    readonly now: () => number;
  },
): OperationKind {
  const { journal, budget, now } = p;
  return {
    ...kind,

    /** @throws AppError UPSTREAM_FAILED `short_of_sol`, or the name of the cap that is reached: it is tried again */
    async prepare(operation) {
      const balance = await p.readBalance(journal.releasedSlot());
      const signed = reservedLamports(journal.open().filter(({ state }) => state === 'signed'));
      if (balance.lamports < signed + operation.reserved + budget.keeps())
        throw upstreamFailed('reserve', 'short_of_sol');
      const earlier = journal.recent(operation.kind, now()).filter(({ seq }) => seq < operation.seq);
      const added = { amount: operation.amount, cost: 0n };
      const reached = budget.caps.find((cap) => !checkCap(cap, operation.kind, earlier, added, now()).ok);
      if (reached) throw upstreamFailed('reserve', reached.name);
      return kind.prepare(operation);
    },
  };
}
