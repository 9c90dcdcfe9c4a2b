import { HOUR_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { CacheReader } from '../../http/cached.ts';
import type { RelaySession } from '../../providers/nostr-relays.ts';
import {
  displayUrl,
  formatPosition,
  type MergedPage,
  mergeReadings,
  newestSecond,
  type Position,
  statusOf,
} from './feed-page.ts';
import { type FeedFilter, readRelay } from './read-relay.ts';

export type FeedScope = {
  /** The scope's name in cache keys. */
  readonly key: string;
  readonly filter: FeedFilter;
  /** Limit on the JSON of a page's posts, in UTF-16 units. */
  readonly maxChars: number;
};

export type FeedReader = ReturnType<typeof createFeedReader>;

export type FeedPage = MergedPage & {
  /** Unix milliseconds. */
  readonly asOf: number;
  readonly stale: boolean;
};

type Options = {
  relays: { readonly urls: readonly string[]; open(url: string): RelaySession };
  memory: CacheReader;
  now: () => number;
};

const TOP_POLICY = { freshMs: 15_000, revalidateMs: 45_000, staleMs: 6 * HOUR_MS };
/** Older parts of a feed change only if a note arrives late or is deleted. */
const PAST_POLICY = { freshMs: 300_000, revalidateMs: 600_000, staleMs: 6 * HOUR_MS };
/** Maximum time by which a note's date may be ahead of our clock. A later date would keep the note at the top. */
const CLOCK_TOLERANCE_SECONDS = 600;

export function createFeedReader({ relays, memory, now }: Options) {
  async function load(
    { filter, maxChars }: FeedScope,
    start: Position | undefined,
    limit: number,
  ): Promise<MergedPage> {
    const newest = Math.floor(now() / 1000) + CLOCK_TOLERANCE_SECONDS;
    const upper = start ? Math.min(newest, newestSecond(start)) : newest;
    // Relays treat an `until` of 0 as absent.
    if (upper <= 0) return { posts: [], next: null, relays: [] };
    const readings = await Promise.all(
      relays.urls.map((url) => readRelay(relays, url, filter, upper, limit)),
    );
    const page = mergeReadings(readings, start, { limit, maxChars });
    const failed = readings.filter(({ completeFrom }) => completeFrom === undefined).length;
    if (page.posts.length > 0 || failed === 0) return page;
    const details = { relay_status: readings.map(statusOf) };
    throw failed === readings.length
      ? new AppError('RELAYS_FAILED', 'No relay responded.', { details })
      : new AppError('RELAYS_FAILED', 'A relay failed, and the others returned no posts.', { details });
  }

  return {
    /** The relays in use, without possible secrets in their URLs. */
    shownUrls: relays.urls.map(displayUrl),

    /**
     * One page after `start`, or the top of the feed.
     * @throws AppError RELAYS_FAILED if a relay fails, no post was received, and the page is not cached
     */
    async page(scope: FeedScope, start: Position | undefined, limit: number): Promise<FeedPage> {
      const key = `nostr:${scope.key}:${start ? formatPosition(start) : 'top'}:${limit}`;
      const policy = start === undefined ? TOP_POLICY : PAST_POLICY;
      const { value, asOf, stale } = await memory.read(key, policy, () => load(scope, start, limit));
      return { ...value, asOf, stale };
    },
  };
}
