/**
 * The largest group of items whose figures differ by at most `spread`; of equally large groups, the first. Honest
 * sources lag by a known amount, so a source with an absurd figure is never in their group.
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
