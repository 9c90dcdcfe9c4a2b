/**
 * Keeps the results of creations for ten minutes, because a model may repeat a call whose response was late. Each
 * instance of this server has its own results. A call that spends money is also protected by its idempotency key.
 * @module
 */
import { keepNewest } from '../core/keep-newest.ts';

type Result = Readonly<Record<string, unknown>>;
type Recent = { readonly at: number; readonly result: Result };

export type RecentResults = ReturnType<typeof createRecentResults>;

const WINDOW_MS = 10 * 60_000;
/** Maximum stored results; each takes a few kilobytes. */
const MAX_RESULTS = 500;

export function createRecentResults(now: () => number) {
  /** The oldest first. */
  const results = new Map<string, Recent>();
  return {
    /** The result of an equal call and its age. */
    find(call: string): { readonly result: Result; readonly ageSeconds: number } | undefined {
      const recent = results.get(call);
      const ageMs = recent ? now() - recent.at : WINDOW_MS;
      return recent && Math.abs(ageMs) < WINDOW_MS
        ? { result: recent.result, ageSeconds: Math.round(ageMs / 1_000) }
        : undefined;
    },
    keep(call: string, result: Result): void {
      keepNewest(results, call, { at: now(), result }, MAX_RESULTS);
    },
  };
}

/** The results of one client in a store that several clients share. */
export const resultsOf = (client: string, recent: RecentResults): RecentResults => ({
  find: (call) => recent.find(`${client}\n${call}`),
  keep: (call, result) => recent.keep(`${client}\n${call}`, result),
});
