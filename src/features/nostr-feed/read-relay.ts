import type { Filter } from 'nostr-tools/filter';
import type { NostrEvent } from 'nostr-tools/pure';
import type { NostrRelays, RelayEnd, RelayFilter } from '../../providers/nostr-relays.ts';

/** The events of one feed. */
export type Scope = {
  /** The filter sent to relays. */
  readonly filter: Omit<Filter, 'since' | 'until' | 'limit'>;
  /** Selects events by criteria that a filter cannot express. */
  readonly accepts: (event: NostrEvent) => boolean;
  /** Desired number of posts per read; also the number requested from a relay at a time. */
  readonly target: number;
};

export type RelayReading = {
  readonly url: string;
  readonly end: RelayEnd;
  /** Accepted events, in no particular order. */
  readonly events: readonly NostrEvent[];
  /** Unix second from which nothing is missing; undefined when the relay never completed a response. */
  readonly completeFrom: number | undefined;
  /** There is nothing older. */
  readonly exhausted: boolean;
  /**
   * Something is missing: a second with more events than the relay sends at once, or an unreadable response.
   */
  readonly partial: boolean;
  readonly rejected: number;
};

/** If one second fills a whole response, it is queried alone. Relays limit that response as well. */
const SECOND_LIMIT = 1_000;
/** Every known relay sends at least this many at a time. */
const LOWEST_CAP = 20;
const MAX_QUERIES = 12;

/**
 * Events of one relay from `upper` (Unix second, inclusive) downwards, until the target is reached or nothing
 * is left.
 *
 * A relay limits its responses without stating the limit, so a short response proves nothing. The end is
 * reached when a response is empty, or shorter than an earlier one of the same relay. A second at the edge of a response
 * may be incomplete, so it is requested again.
 */
export async function readRelay(
  relays: Pick<NostrRelays, 'open'>,
  url: string,
  scope: Scope,
  upper: number,
): Promise<RelayReading> {
  const session = relays.open(url);
  const seen = new Map<string, NostrEvent>();
  let until = upper;
  let completeFrom: number | undefined;
  let longest = 0;
  let rejected = 0;
  let partial = false;
  let mayBeCut = false;
  const reading = (end: RelayEnd, exhausted = false): RelayReading => ({
    url,
    end,
    events: [...seen.values()].filter(scope.accepts),
    completeFrom,
    exhausted,
    partial,
    rejected,
  });
  const isEnough = (): boolean =>
    completeFrom !== undefined &&
    [...seen.values()].filter((event) => event.created_at >= (completeFrom ?? 0) && scope.accepts(event))
      .length >= scope.target;

  async function ask(bounds: Pick<RelayFilter, 'since' | 'until' | 'limit'>) {
    const answer = await session.query({ ...scope.filter, ...bounds });
    for (const event of answer.events) seen.set(event.id, event);
    rejected += answer.rejected;
    const { received, end } = answer;
    const isLast = received === 0 || received < Math.min(bounds.limit, longest);
    longest = Math.max(longest, received);
    return { received, isLast, end, oldest: Math.min(...answer.events.map((e) => e.created_at)) };
  }

  /** Whether the relay's own limit is above `count`, tested from `until` downwards. */
  const sendsMoreThan = async (count: number): Promise<boolean> =>
    count < SECOND_LIMIT && (await ask({ until, limit: count + 1 })).received > count;

  try {
    for (let queries = 0; queries < MAX_QUERIES && until >= 0; queries += 1) {
      const page = await ask({ until, limit: scope.target });
      if (page.end !== 'eose') return reading(page.end);
      // Older events exist, but the relay sent only that second: its limit lies inside the second.
      partial ||= mayBeCut && page.received > 0;
      mayBeCut = false;
      if (page.isLast) return reading('eose', true);
      if (page.oldest === Number.POSITIVE_INFINITY) {
        // The response had no usable event, so there is no older time to continue from.
        partial = true;
        return reading('eose', true);
      }
      if (page.oldest < until) {
        completeFrom = page.oldest + 1;
        until = page.oldest;
      } else {
        const second = await ask({ since: until, until, limit: SECOND_LIMIT });
        if (second.end !== 'eose') return reading(second.end);
        mayBeCut = second.received >= LOWEST_CAP && !(await sendsMoreThan(second.received));
        completeFrom = until;
        until -= 1;
      }
      if (isEnough()) return reading('eose');
    }
    return reading('eose', until < 0);
  } finally {
    session.close();
  }
}
