import type { Filter } from 'nostr-tools/filter';
import type { NostrEvent } from 'nostr-tools/pure';
import type { RelayEnd, RelaySession } from '../../providers/nostr-relays.ts';

/** Selects the events of a feed, at any time. */
export type FeedFilter = Omit<Filter, 'since' | 'until' | 'limit'>;

export type RelayReading = {
  readonly url: string;
  readonly end: RelayEnd;
  /** Events of the feed, in no particular order. */
  readonly events: readonly NostrEvent[];
  /**
   * The Unix second from which all events are present; 0 if the relay has none older. Undefined if the relay failed.
   */
  readonly completeFrom: number | undefined;
  /** True if one second has more events than the relay may have sent. */
  readonly partial: boolean;
  readonly rejected: number;
};

/** The limit of each query. Relays cut off larger responses, and some refuse a larger limit. */
const RELAY_LIMIT = 500;
/**
 * A relay limits its responses without stating the limit, and every known relay sends at least this many events. So no
 * events follow a shorter response.
 */
const LOWEST_CAP = 20;

/** The newest `limit` events of one relay from `upper` (Unix second, inclusive) downwards. */
export async function readRelay(
  relays: { open(url: string): RelaySession },
  url: string,
  filter: FeedFilter,
  upper: number,
  limit: number,
): Promise<RelayReading> {
  const session = relays.open(url);
  try {
    // Requests one more than a page. The relay may have cut off events of the oldest second, so that second is dropped.
    const asked = Math.min(limit + 1, RELAY_LIMIT);
    const page = await session.query({ ...filter, until: upper, limit: asked });
    const { events, rejected } = page;
    const reading = { url, end: page.end, events, completeFrom: undefined, partial: false, rejected };
    // Relays send the newest events first, so a response that became too large is a full page.
    if (page.end !== 'eose' && page.end !== 'too_large') return reading;
    if (page.end === 'eose' && page.received < Math.min(asked, LOWEST_CAP))
      return { ...reading, completeFrom: 0 };
    if (events.length === 0) return { ...reading, end: page.end === 'eose' ? 'forged' : page.end };
    const oldest = Math.min(...events.map(({ created_at }) => created_at));
    if (events.some(({ created_at }) => created_at > oldest)) return { ...reading, completeFrom: oldest + 1 };
    // One second fills the page. A relay may return any events of that second, so all of them are requested.
    const second = await session.query({ ...filter, since: oldest, until: oldest, limit: RELAY_LIMIT });
    return {
      ...reading,
      end: second.end,
      events: [...events, ...second.events],
      completeFrom: oldest,
      partial: second.end !== 'eose' || second.received >= LOWEST_CAP,
      rejected: rejected + second.rejected,
    };
  } finally {
    session.close();
  }
}
