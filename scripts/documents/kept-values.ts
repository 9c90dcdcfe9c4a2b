/**
 * The form of a new example with the values of the stored one: ids and amounts then agree with the examples of other
 * operations. A value of another type replaces the stored one.
 */
export function keptValues(fresh: unknown, stored: unknown): unknown {
  if (Array.isArray(fresh))
    return fresh.map((member, at) => (Array.isArray(stored) ? keptValues(member, stored[at]) : member));
  if (typeof fresh === 'object' && fresh !== null) {
    const known = new Map(typeof stored === 'object' && stored !== null ? Object.entries(stored) : []);
    return Object.fromEntries(
      Object.entries(fresh).map(([name, member]) => [name, keptValues(member, known.get(name))]),
    );
  }
  return typeof fresh === typeof stored && stored !== null ? stored : fresh;
}
