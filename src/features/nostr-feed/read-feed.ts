import { HOUR_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import type { NostrRelays } from '../../providers/nostr-relays.ts';
import {
  compare,
  cutPage,
  displayUrl,
  type FeedWindow,
  formatPosition,
  isUsable,
  mergeReadings,
  newestSecond,
  type Position,
  statusOf,
} from './feed-window.ts';
import { readRelay, type Scope } from './read-relay.ts';

export type FeedScope = Scope & {
  /** The scope's name in cache keys. */
  readonly key: string;
  /** Limit on a window's contents, in UTF-16 units. */
  readonly maxBytes: number;
};

export type FeedReader = ReturnType<typeof createFeedReader>;
export type FeedPage = Awaited<ReturnType<FeedReader['page']>>;

type Options = {
  relays: Pick<NostrRelays, 'urls' | 'open'>;
  memory: Pick<Cache, 'read'>;
  now: () => number;
};

const TOP_POLICY = { freshMs: 15_000, revalidateMs: 45_000, staleMs: 6 * HOUR_MS };
/** The past of a feed rarely changes: only when a note arrives late or is deleted. */
const PAST_POLICY = { freshMs: 300_000, revalidateMs: 600_000, staleMs: 6 * HOUR_MS };
/** A note may be dated ahead of our clock by this much; a later date would pin it to the top. */
const CLOCK_TOLERANCE_SECONDS = 600;

/** Maximum windows whose ranges are remembered, in all feeds together. */
const MAX_SPANS = 200;
/** Maximum remembered windows that are tried for a page before a new window is read from the relays. */
const MAX_TRIED = 2;

type Span = {
  readonly key: string;
  readonly scope: string;
  readonly start: Position | undefined;
  readonly end: Position | null;
};

/**
 * Reads feeds in windows of many pages. Walking down a feed reads the relays once per window, regardless of
 * the page size.
 */
export function createFeedReader({ relays, memory, now }: Options) {
  const spans = new Map<string, Span>();

  const cut = ({ value, asOf, stale }: Cached<FeedWindow>, start: Position | undefined, limit: number) => ({
    ...cutPage(value, start, limit),
    relays: value.relays,
    asOf,
    stale,
  });

  async function load(scope: FeedScope, start: Position | undefined): Promise<FeedWindow> {
    const upper = start ? newestSecond(start) : Math.floor(now() / 1000) + CLOCK_TOLERANCE_SECONDS;
    const readings = await Promise.all(relays.urls.map((url) => readRelay(relays, url, scope, upper)));
    if (!isUsable(readings)) {
      const details = { relay_status: readings.map(statusOf) };
      throw new AppError('RELAYS_FAILED', 'No relay responded.', { details });
    }
    return mergeReadings(readings, start, scope.maxBytes);
  }

  async function readWindow(scope: FeedScope, start: Position | undefined) {
    const key = `nostr:${scope.key}:${start ? formatPosition(start) : 'top'}`;
    const isTop = start === undefined;
    const read = await memory.read(key, isTop ? TOP_POLICY : PAST_POLICY, () => load(scope, start));
    spans.delete(key);
    spans.set(key, { key, scope: scope.key, start, end: read.value.end });
    const oldest = spans.keys().next().value;
    if (spans.size > MAX_SPANS && oldest !== undefined) spans.delete(oldest);
    return read;
  }

  /** Starts of remembered windows that contain a position, the most recently read first. */
  const startsOver = (scope: FeedScope, position: Position): (Position | undefined)[] =>
    [...spans.values()]
      .filter(({ scope: key, start, end }) => {
        const begins = start === undefined || compare(start, position) <= 0;
        return key === scope.key && begins && (end === null || compare(position, end) < 0);
      })
      .reverse()
      .slice(0, MAX_TRIED)
      .map(({ start }) => start);

  return {
    /** The relays in use, without possible secrets in their URLs. */
    shownUrls: relays.urls.map(displayUrl),

    /**
     * One page after `start`, or the top of the feed.
     * @throws AppError RELAYS_FAILED when no relay responds and no window is stored
     */
    async page(scope: FeedScope, start: Position | undefined, limit: number) {
      const known = start ? startsOver(scope, start) : [];
      for (const from of known) {
        const page = cut(await readWindow(scope, from), start, limit);
        // The window may have been read again and may now end earlier.
        if (page.isFull) return page;
      }
      return cut(await readWindow(scope, start), start, limit);
    },
  };
}
