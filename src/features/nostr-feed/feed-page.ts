/**
 * A page of a feed, merged from the relays' events. The order is newest first and, within a second, lowest id first
 * (NIP-01).
 * @module
 */
import { z } from '@hono/zod-openapi';
import { neventEncode } from 'nostr-tools/nip19';
import type { NostrEvent } from 'nostr-tools/pure';
import { commentRoot, contentWarning, labelsOf } from '../../chain/nostr/event-tags.ts';
import { component } from '../../http/router.ts';
import { RELAY_ENDS } from '../../providers/nostr-relays.ts';
import type { RelayReading } from './read-relay.ts';

/** A position in a feed. */
export type Position = {
  /** Unix seconds. */
  readonly createdAt: number;
  readonly id: string;
};

type Placed = { readonly id: string; readonly created_at: number };

/** Sorts after every event of a second, because no event has this id. */
const LAST_ID = 'f'.repeat(64);

const positionOf = ({ created_at, id }: Placed): Position => ({ createdAt: created_at, id });

export const endOfSecond = (createdAt: number): Position => ({ createdAt, id: LAST_ID });

/** Negative when `a` comes first. */
const compare = (a: Position, b: Position): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Returns the position that is further down the feed. A missing position is the top. */
export const later = (a: Position | undefined, b: Position | undefined): Position | undefined =>
  a && b ? (compare(a, b) < 0 ? b : a) : (a ?? b);

const isAfter = (event: Placed, position: Position | undefined): boolean =>
  position === undefined || compare(position, positionOf(event)) < 0;

/** The newest second that can contain events after the position; negative when there is none. */
export const newestSecond = (position: Position): number =>
  position.id === LAST_ID ? position.createdAt - 1 : position.createdAt;

export const formatPosition = ({ createdAt, id }: Position): string => `${createdAt}.${id}`;

/** Parses `<created_at>.<id>`; undefined when malformed. */
export function parsePosition(text: string): Position | undefined {
  const match = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(text);
  return match ? { createdAt: Number(match[1]), id: match[2] ?? '' } : undefined;
}

export const RelayStatus = component('RelayStatus', {
  relay: z.string(),
  ok: z.boolean().describe('The relay sent a complete response'),
  state: z.enum(RELAY_ENDS),
  events: z.int(),
  partial: z.boolean().describe('It may have posts of one busy second that it did not send'),
  rejected: z.int().describe('Rejected events: forged, malformed or not matching'),
});
export type RelayStatus = z.infer<typeof RelayStatus>;

/** JSON-compatible. */
export type MergedPage = {
  readonly posts: readonly Post[];
  /** Where the next page starts; null when there is nothing older. */
  readonly next: Position | null;
  readonly relays: readonly RelayStatus[];
};

type PageBounds = {
  readonly limit: number;
  /** Maximum of the posts as JSON, in UTF-16 units. The first post always fits: a relay's event is short. */
  readonly maxChars: number;
};

export const statusOf = (reading: RelayReading): RelayStatus => ({
  relay: displayUrl(reading.url),
  ok: reading.end === 'eose',
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
 * The page after `start` from the events of all relays, each once. It ends where the first relay with older events
 * stopped, because earlier posts of this relay would be missing.
 */
export function mergeReadings(
  readings: readonly RelayReading[],
  start: Position | undefined,
  bounds: PageBounds,
): MergedPage {
  const relaysOf = new Map<string, Set<string>>();
  const events = new Map<string, NostrEvent>();
  for (const reading of readings) {
    for (const event of reading.events) {
      events.set(event.id, event);
      relaysOf.set(event.id, (relaysOf.get(event.id) ?? new Set()).add(displayUrl(reading.url)));
    }
  }
  const floor = lastCompleteSecond(readings);
  const inOrder = [...events.values()]
    .filter((event) => event.created_at >= floor && isAfter(event, start))
    .sort((a, b) => compare(positionOf(a), positionOf(b)));
  const found = inOrder
    .slice(0, bounds.limit + 1)
    .map((event) => postOf(event, [...(relaysOf.get(event.id) ?? [])]));
  const posts = found.slice(0, pageEnd(found, bounds));
  return {
    posts,
    next: nextAfter(posts.at(-1), found[posts.length], floor),
    relays: readings.map(statusOf),
  };
}

/** The second at which the first relay with older events stopped; 0 if no relay has older events. */
function lastCompleteSecond(readings: readonly RelayReading[]): number {
  const complete = readings.flatMap(({ completeFrom }) => completeFrom ?? []);
  if (complete.length > 0) return Math.max(...complete);
  // If every relay failed, all received events are shown, because relays send the newest events first.
  const oldest = readings.flatMap(({ events }) =>
    events.length > 0 ? Math.min(...events.map(({ created_at }) => created_at)) : [],
  );
  return Math.max(0, ...oldest);
}

/**
 * Number of posts on the page. A page ends between two seconds, so `next_until` neither repeats nor skips a post. Only
 * a second with more posts than a page is divided.
 */
function pageEnd(posts: readonly Post[], { limit, maxChars }: PageBounds): number {
  let chars = 0;
  const full = posts.findIndex((post, index) => {
    chars += JSON.stringify(post).length;
    return index >= limit || (index > 0 && chars > maxChars);
  });
  const following = posts[full];
  if (!following) return posts.length;
  const second = posts.findIndex(({ created_at }) => created_at === following.created_at);
  return second === 0 ? full : second;
}

function nextAfter(last: Placed | undefined, following: Placed | undefined, floor: number): Position | null {
  if (last && following)
    return following.created_at === last.created_at ? positionOf(last) : endOfSecond(last.created_at);
  return floor > 0 ? endOfSecond(floor) : null;
}

/** An event in the form of the feeds. */
export type Post = ReturnType<typeof postOf>;

/** Maximum relay hints in a link. More hints make the link longer, but not the note easier to find. */
const MAX_HINTS = 2;

/** @param relays that have the event */
const postOf = (event: NostrEvent, relays: readonly string[]) => ({
  id: event.id,
  pubkey: event.pubkey,
  created_at: event.created_at,
  content: event.content,
  kind: event.kind,
  labels: [...new Set(labelsOf(event).map(({ value }) => value))],
  content_warning: contentWarning(event) ?? null,
  root: commentRoot(event) ?? null,
  nevent: neventEncode({
    id: event.id,
    author: event.pubkey,
    kind: event.kind,
    relays: relays.slice(0, MAX_HINTS),
  }),
});
