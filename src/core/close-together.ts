/**
 * Of what several sources say, the largest group whose figures differ by at most `spread`; the first of equally large
 * ones. Honest sources lag by a known amount, so one that shows an absurd figure is in no group with them.
 */
export function closeTogether<T>(
  items: readonly T[],
  figureOf: (item: T) => bigint,
  spread: bigint,
): readonly T[] {
  const groups = items.map((least) =>
    items.filter((item) => figureOf(item) >= figureOf(least) && figureOf(item) <= figureOf(least) + spread),
  );
  return groups.reduce((largest, group) => (group.length > largest.length ? group : largest), []);
}
