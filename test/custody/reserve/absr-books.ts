/**
 * Is every token covered, and if not, whose doing is it? The service's, unless the operator spent from the reserve or
 * the Bitcoin chain took back more than the rule allows for.
 */
export function createBooks(p: {
  readonly now: () => number;
  /** Atoms of the supply beyond the reserve, below zero when there is more in it. */
  readonly gap: () => bigint;
  /** The same without incomes that may still be taken back. */
  readonly settledGap: () => bigint;
}) {
  const { now, gap } = p;
  const uncoveredMs = { service: 0, others: 0 };
  /** Atoms that others have uncovered. */
  let excused = 0n;
  let since = now();

  /** Books the time until now under its cause. */
  function account(): void {
    const open = gap();
    const spent = now() - since;
    // An instant counts as well: a mint that is covered again before the clock moves was wrong.
    if (open > excused && open > 0n) uncoveredMs.service += Math.max(spent, 1);
    else if (open > 0n) uncoveredMs.others += spent;
    since = now();
    repay();
  }

  /** What others have uncovered is made good only by incomes that last. */
  function repay(): void {
    if (excused === 0n) return;
    const open = p.settledGap();
    if (open < excused) excused = open > 0n ? open : 0n;
  }

  return {
    uncoveredMs,
    account,
    isCovered: () => gap() <= 0n,

    /** Runs what is not the service's doing. */
    byOthers(change: () => void): void {
      account();
      const before = gap();
      change();
      const after = gap();
      // Where the service had opened a gap before, nobody else excuses it.
      if (after > 0n && after > before && before <= excused) excused = after;
      repay();
    },

    /** A spend of up to so many atoms was made while a mint was on its way: the gap of the landing is the spender's. */
    excuseLanding(spent: bigint): void {
      if (gap() > excused && gap() <= excused + spent) excused = gap();
    },
  };
}
