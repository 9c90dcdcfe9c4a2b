import type { Filter, NostrEvent } from '../../chain/nostr/nip01.ts';
import type { NostrRelays, RelayEnd } from '../../providers/nostr-relays.ts';

/** What one feed is made of. */
export type Scope = {
  /** What relays are asked for. */
  readonly filter: Pick<Filter, 'kinds' | 'authors' | '#l'>;
  /** What is kept of their answers, which filters cannot say. */
  readonly accepts: (event: NostrEvent) => boolean;
  /** Posts that one read should bring; also what a relay is asked for at a time. */
  readonly target: number;
};

export type RelayReading = {
  readonly url: string;
  readonly end: RelayEnd;
  /** Kept events, in no order. */
  readonly events: readonly NostrEvent[];
  /** Unix second from which on nothing is missing; undefined when the relay never finished an answer. */
  readonly completeFrom: number | undefined;
  /** Nothing older is there. */
  readonly exhausted: boolean;
  /** Something is missing: a second with more events than the relay sends at once, or an unreadable answer. */
  readonly partial: boolean;
  readonly rejected: number;
};

/** A second is read by itself when it fills an answer; relays cut such a question at a bound of their own. */
const SECOND_LIMIT = 1_000;
/** No relay is known to send fewer at a time. */
const LOWEST_CAP = 20;
const MAX_QUERIES = 12;

/**
 * Events of one relay from `upper` (Unix second, inclusive) downwards, until the target is met or nothing is left.
 *
 * A relay cuts its answers at a bound that it does not say, so a short answer proves nothing by itself. The end is
 * believed when an answer is empty, or shorter than one that this relay has given before. A second at the edge of an
 * answer may be cut in the middle: it counts only once it has been asked for again.
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

  async function ask(bounds: Pick<Filter, 'since' | 'until' | 'limit'>) {
    const answer = await session.query({ ...scope.filter, ...bounds });
    for (const event of answer.events) seen.set(event.id, event);
    rejected += answer.rejected;
    const { received, end } = answer;
    const isLast = received === 0 || received < Math.min(bounds.limit, longest);
    longest = Math.max(longest, received);
    return { received, isLast, end, oldest: Math.min(...answer.events.map((e) => e.created_at)) };
  }

  /** Whether the relay's own bound is above `count`, asked from `until` downwards. */
  const sendsMoreThan = async (count: number): Promise<boolean> =>
    count < SECOND_LIMIT && (await ask({ until, limit: count + 1 })).received > count;

  try {
    for (let queries = 0; queries < MAX_QUERIES && until >= 0; queries += 1) {
      const page = await ask({ until, limit: scope.target });
      if (page.end !== 'eose') return reading(page.end);
      // Older events are there and yet the relay sent no more than that second: its bound lies inside the second.
      partial ||= mayBeCut && page.received > 0;
      mayBeCut = false;
      if (page.isLast) return reading('eose', true);
      if (page.oldest === Number.POSITIVE_INFINITY) {
        // Nothing of the answer could be used, so there is no older time to go on from.
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
