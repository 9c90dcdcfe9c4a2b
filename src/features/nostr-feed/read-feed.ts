import { AppError } from '../../core/errors.ts';
import { HOUR_MS } from '../../core/limits.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import type { NostrRelays } from '../../providers/nostr-relays.ts';
import {
  cutPage,
  displayUrl,
  type FeedWindow,
  isUsable,
  mergeReadings,
  type Page,
  type RelayStatus,
  statusOf,
} from './feed-window.ts';
import { compare, formatPosition, newestSecond, type Position } from './position.ts';
import { readRelay, type Scope } from './read-relay.ts';

export type FeedScope = Scope & {
  /** Names the scope in cache keys. */
  readonly key: string;
  /** Asked for by everybody, so worth a place in the shared cache; a caller's own choice is kept in memory only. */
  readonly isCommon: boolean;
  /** Bound on a window's contents, in UTF-16 units. */
  readonly maxBytes: number;
};

export type FeedPage = Page & {
  readonly relays: readonly RelayStatus[];
  /** Unix milliseconds. */
  readonly asOf: number;
  readonly stale: boolean;
};

export type FeedReader = ReturnType<typeof createFeedReader>;

type Options = {
  relays: Pick<NostrRelays, 'urls' | 'open'>;
  /** Shared between isolates. */
  cache: Pick<Cache, 'read'>;
  memory: Pick<Cache, 'read'>;
  now: () => number;
};

const TOP_POLICY = { freshMs: 15_000, revalidateMs: 45_000, staleMs: 6 * HOUR_MS };
/** Old notes hardly change: only a late or deleted one would. */
const PAST_POLICY = { freshMs: 300_000, revalidateMs: 600_000, staleMs: 6 * HOUR_MS };
/** A note may be dated ahead of our clock by so much; more would pin it to the top. */
const CLOCK_TOLERANCE_SECONDS = 600;

/** Windows that are remembered by where they reach, over all feeds. */
const MAX_SPANS = 200;
/** Windows tried before relays are asked. */
const MAX_TRIED = 2;

type Span = {
  readonly key: string;
  readonly scope: string;
  readonly start: Position | undefined;
  readonly end: Position | null;
};

/**
 * Reads feeds in windows that hold many pages, so that walking down a feed asks the relays once a window, whatever the
 * page size.
 */
export function createFeedReader({ relays, cache, memory, now }: Options) {
  const spans = new Map<string, Span>();
  /** The page that was last cut out of a window: the same object for all who ask for it. */
  const cuts = new WeakMap<Cached<FeedWindow>, { readonly name: string; readonly page: FeedPage }>();

  function cut(read: Cached<FeedWindow>, start: Position | undefined, limit: number): FeedPage {
    const name = `${start ? formatPosition(start) : 'top'}:${limit}`;
    const known = cuts.get(read);
    if (known?.name === name) return known.page;
    const { value, asOf, stale } = read;
    const page = { ...cutPage(value, start, limit), relays: value.relays, asOf, stale };
    cuts.set(read, { name, page });
    return page;
  }

  async function load(scope: FeedScope, start: Position | undefined): Promise<FeedWindow> {
    const upper = start ? newestSecond(start) : Math.floor(now() / 1000) + CLOCK_TOLERANCE_SECONDS;
    const readings = await Promise.all(relays.urls.map((url) => readRelay(relays, url, scope, upper)));
    if (!isUsable(readings)) {
      const details = { relay_status: readings.map(statusOf) };
      throw new AppError('RELAYS_FAILED', 'No relay answered.', { details });
    }
    return mergeReadings(readings, start, scope.maxBytes);
  }

  async function readWindow(scope: FeedScope, start: Position | undefined) {
    const key = `nostr:v1:${scope.key}:${start ? formatPosition(start) : 'top'}`;
    const isTop = start === undefined;
    const shelf = isTop && scope.isCommon ? cache : memory;
    const read = await shelf.read(key, isTop ? TOP_POLICY : PAST_POLICY, () => load(scope, start));
    spans.delete(key);
    spans.set(key, { key, scope: scope.key, start, end: read.value.end });
    const oldest = spans.keys().next().value;
    if (spans.size > MAX_SPANS && oldest !== undefined) spans.delete(oldest);
    return read;
  }

  /** Starts of known windows that reach over a position, the latest first. */
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
    /** The relays that are asked, without what a URL may hold of secrets. */
    shownUrls: relays.urls.map(displayUrl),

    /**
     * One page behind `start`, or the top of the feed.
     * @throws AppError RELAYS_FAILED when no relay answers and nothing is kept
     */
    async page(scope: FeedScope, start: Position | undefined, limit: number): Promise<FeedPage> {
      const known = start ? startsOver(scope, start) : [];
      for (const from of known) {
        const page = cut(await readWindow(scope, from), start, limit);
        // The window may have been read anew and end earlier than it did.
        if (page.isFull) return page;
      }
      return cut(await readWindow(scope, start), start, limit);
    },
  };
}
