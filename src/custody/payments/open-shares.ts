/**
 * Limits open payment requests, in total and per network. Pure.
 * @module
 */
import { fairShare, networksOf } from '../../core/client-network.ts';
import { CALL_LIMITS } from '../../core/limits.ts';

/** Limit of one address; the wider networks of a client have a multiple of it. */
const OPEN_PER_CLIENT = CALL_LIMITS.open_requests.quota;
/** Shared by all clients. */
const OPEN_IN_ALL = 500;
/** Above it, a network without an open request may still open one, up to this total. */
const OPEN_WITH_NEWCOMERS = 2_000;

/**
 * Whether a client may open one more request. Each of its networks gets a share of what the others have left,
 * so one network cannot keep another from buying.
 * @param client key from `clientKey`
 * @param open   open requests of each client
 */
export function mayOpen(client: string, open: readonly { client: string; count: number }[]): boolean {
  const used = new Map<string, number>();
  let total = 0;
  for (const each of open) {
    total += each.count;
    for (const { network } of networksOf(each.client))
      used.set(network, (used.get(network) ?? 0) + each.count);
  }
  const levels = networksOf(client).map((level) => ({ ...level, own: used.get(level.network) ?? 0 }));
  if (total >= OPEN_IN_ALL) return total < OPEN_WITH_NEWCOMERS && levels.every(({ own }) => own === 0);
  return levels.every(
    ({ times, own }) => own < times * Math.min(OPEN_PER_CLIENT, fairShare(OPEN_IN_ALL, total, own)),
  );
}
