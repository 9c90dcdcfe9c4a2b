/**
 * A stretch of a feed without gaps, merged from the relays' events, and the pages cut from it. The order is
 * newest first and, within a second, lowest id first (NIP-01).
 * @module
 */
import { z } from '@hono/zod-openapi';
import { neventEncode } from 'nostr-tools/nip19';
import type { NostrEvent } from 'nostr-tools/pure';
import { commentRoot, contentWarning } from '../../chain/nostr/event-tags.ts';
import { component } from '../../http/router.ts';
import { RELAY_ENDS } from '../../providers/nostr-relays.ts';
import { topicsOf } from './feeds.ts';
import type { RelayReading } from './read-relay.ts';

/** A position in a feed. */
export type Position = {
  /** Unix seconds. */
  readonly createdAt: number;
  readonly id: string;
};

type Placed = { readonly id: string; readonly created_at: number };

/** No event has this id: its position is after every event of the second. */
const LAST_ID = 'f'.repeat(64);

export const positionOf = ({ created_at, id }: Placed): Position => ({ createdAt: created_at, id });

export const endOfSecond = (createdAt: number): Position => ({ createdAt, id: LAST_ID });

export const isEndOfSecond = ({ id }: Position): boolean => id === LAST_ID;

/** Negative when `a` comes first. */
export const compare = (a: Position, b: Position): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** The position further down the feed; a missing one is the top. */
export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a && b ? (compare(a, b) < 0 ? b : a) : (a ?? b);

export const isAfter = (event: Placed, position: Position | undefined): boolean =>
  position === undefined || compare(position, positionOf(event)) < 0;

/** The newest second that can contain events after the position; negative when there is none. */
export const newestSecond = (position: Position): number =>
  isEndOfSecond(position) ? position.createdAt - 1 : position.createdAt;

export const formatPosition = ({ createdAt, id }: Position): string => `${createdAt}.${id}`;

/** Parses `<created_at>.<id>`; undefined when malformed. */
export function parsePosition(text: string): Position | undefined {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(text);
  return match ? { createdAt: Number(match[1]), id: match[2] ?? '' } : undefined;
}

export const RelayStatus = component('RelayStatus', {
  relay: z.string(),
  ok: z.boolean().describe('The response contains its posts without a gap'),
  state: z.enum(RELAY_ENDS),
  events: z.int(),
  partial: z.boolean().describe('It has posts that it did not send'),
  rejected: z.int().describe('Rejected events: forged, malformed or not matching'),
});
export type RelayStatus = z.infer<typeof RelayStatus>;

/** JSON-compatible. */
export type FeedWindow = {
  /** All posts between the window's start and `end`, in feed order. */
  readonly posts: readonly Post[];
  /** End of the stretch; null when there is nothing older. */
  readonly end: Position | null;
  readonly relays: readonly RelayStatus[];
};

/** Larger than the largest page, so that one busy second does not end a window. */
const MAX_POSTS = 1_000;

const hasAnswered = ({ completeFrom, exhausted }: RelayReading): boolean =>
  completeFrom !== undefined || exhausted;

/** Whether there is anything to show; false when every relay failed. */
export const isUsable = (readings: readonly RelayReading[]): boolean =>
  readings.some((reading) => hasAnswered(reading) || reading.events.length > 0);

export const statusOf = (reading: RelayReading): RelayStatus => ({
  relay: displayUrl(reading.url),
  ok: hasAnswered(reading),
  state: reading.end,
  events: reading.events.length,
  partial: reading.partial,
  rejected: reading.rejected,
});

/** A relay's URL without credentials and query. */
export function displayUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/**
 * Posts after `start` from all relays, each once. The window ends where the first relay with older posts
 * stopped: below that second, its posts would be missing between those of the others.
 *
 * @param maxBytes limit on the posts' contents, in UTF-16 units; the first post always fits
 */
export function mergeReadings(
  readings: readonly RelayReading[],
  start: Position | undefined,
  maxBytes: number,
): FeedWindow {
  const relaysOf = new Map<string, string[]>();
  const events = new Map<string, NostrEvent>();
  for (const reading of readings) {
    for (const event of reading.events) {
      events.set(event.id, event);
      relaysOf.set(event.id, [...(relaysOf.get(event.id) ?? []), displayUrl(reading.url)]);
    }
  }
  const answered = readings.filter(hasAnswered);
  const unfinished = answered.filter(({ exhausted }) => !exhausted);
  const floor = Math.max(0, ...unfinished.map(({ completeFrom }) => completeFrom ?? 0));
  const inOrder = [...events.values()]
    .filter((event) => event.created_at >= floor && isAfter(event, start))
    .sort((a, b) => compare(positionOf(a), positionOf(b)));

  let bytes = 0;
  const fits = inOrder.findIndex((event, index) => {
    bytes += event.content.length;
    return index > 0 && (index >= MAX_POSTS || bytes > maxBytes);
  });
  const shown = fits === -1 ? inOrder : inOrder.slice(0, fits);
  const last = shown.at(-1);
  const isWhole = shown.length === inOrder.length;
  const goesOn = unfinished.length > 0 ? endOfSecond(floor) : null;
  const end = isWhole && answered.length > 0 ? goesOn : last ? positionOf(last) : null;
  return {
    posts: shown.map((event) => postOf(event, relaysOf.get(event.id) ?? [])),
    end,
    relays: readings.map(statusOf),
  };
}

/** The posts after `start`, at most `limit`. */
export function cutPage({ posts, end }: FeedWindow, start: Position | undefined, limit: number) {
  const rest = posts.filter((post) => isAfter(post, start));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const following = rest[limit];
  const next = last && (following || (page.length === limit && end)) ? positionOf(last) : end;
  return {
    posts: page,
    nextCursor: next && formatPosition(next),
    nextUntil: next && untilAfter(next, page, following),
    /** False when the window ends before the page is full. */
    isFull: page.length === limit || end === null,
  };
}

/**
 * The exclusive `until` for the next page. The second is repeated when more of its posts may remain. A page
 * within a single second would repeat forever, so the rest of that second is skipped.
 */
function untilAfter(next: Position, page: readonly Post[], following: Post | undefined): number {
  const isDone = isEndOfSecond(next) || (following && following.created_at < next.createdAt);
  return isDone || page[0]?.created_at === next.createdAt ? next.createdAt : next.createdAt + 1;
}

/** An event in the form of the feeds. */
export type Post = ReturnType<typeof postOf>;

/** More hints make the link longer without making the note easier to find. */
const MAX_HINTS = 2;

/** @param relays that have the event */
export const postOf = (event: NostrEvent, relays: readonly string[]) => ({
  id: event.id,
  pubkey: event.pubkey,
  created_at: event.created_at,
  content: event.content,
  kind: event.kind,
  labels: topicsOf(event),
  content_warning: contentWarning(event) ?? null,
  root: commentRoot(event) ?? null,
  nevent: neventEncode({
    id: event.id,
    author: event.pubkey,
    kind: event.kind,
    relays: relays.slice(0, MAX_HINTS),
  }),
});
