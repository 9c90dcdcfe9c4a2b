/**
 * Records whether every token is covered and, if not, the cause. It is the service, unless the operator spent
 * from the reserve or a reorganization was deeper than the rule allows.
 */
export function createBooks(p: {
  readonly now: () => number;
  /** Atoms of the supply beyond the reserve, below zero when there is more in it. */
  readonly gap: () => bigint;
  /** The same without incomes that a reorganization may still remove. */
  readonly settledGap: () => bigint;
}) {
  const { now, gap } = p;
  const uncoveredMs = { service: 0, others: 0 };
  /** Atoms whose cover was lost for a cause outside the service. */
  let excused = 0n;
  let since = now();

  /** Adds the time until now to its cause. */
  function account(): void {
    const open = gap();
    const spent = now() - since;
    // An instant counts as well: a mint that is covered again before the clock moves was wrong.
    if (open > excused && open > 0n) uncoveredMs.service += Math.max(spent, 1);
    else if (open > 0n) uncoveredMs.others += spent;
    since = now();
    repay();
  }

  /** Cover that was lost for another cause is restored only by final incomes. */
  function repay(): void {
    if (excused === 0n) return;
    const open = p.settledGap();
    if (open < excused) excused = open > 0n ? open : 0n;
  }

  return {
    uncoveredMs,
    account,
    isCovered: () => gap() <= 0n,

    /** Runs an action that is not the service's. */
    byOthers(change: () => void): void {
      account();
      const before = gap();
      change();
      const after = gap();
      // A gap that the service opened earlier stays the service's.
      if (after > 0n && after > before && before <= excused) excused = after;
      repay();
    },

    /**
     * A spend of up to this number of atoms was made while a mint was on its way: the gap of the landing is the
     * spender's.
     */
    excuseLanding(spent: bigint): void {
      if (gap() > excused && gap() <= excused + spent) excused = gap();
    },
  };
}
