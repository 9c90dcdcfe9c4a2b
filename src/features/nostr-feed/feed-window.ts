/**
 * A stretch of a feed without gaps, merged from what the relays sent, and the pages cut out of it.
 * @module
 */
import type { NostrEvent } from '../../chain/nostr/nip01.ts';
import {
  compare,
  endOfSecond,
  formatPosition,
  isAfter,
  isEndOfSecond,
  type Position,
  positionOf,
} from './position.ts';
import { type Post, postOf } from './post.ts';
import type { RelayReading } from './read-relay.ts';

export type RelayStatus = {
  readonly relay: string;
  /** Its posts are part of the answer without a gap. */
  readonly ok: boolean;
  readonly state: RelayReading['end'];
  readonly events: number;
  readonly partial: boolean;
  readonly rejected: number;
};

/** Survives JSON. */
export type FeedWindow = {
  /** Every post behind the window's start and up to `end`, in feed order. */
  readonly posts: readonly Post[];
  /** Where the stretch ends; null when nothing older is there. */
  readonly end: Position | null;
  readonly relays: readonly RelayStatus[];
};

export type Page = {
  readonly posts: readonly Post[];
  readonly nextCursor: string | null;
  readonly nextUntil: number | null;
  /** False when the window ends before the page is full. */
  readonly isFull: boolean;
};

/** More than the largest page, so that one busy second does not end a window. */
const MAX_POSTS = 1_000;

const hasAnswered = ({ completeFrom, exhausted }: RelayReading): boolean =>
  completeFrom !== undefined || exhausted;

/** Whether there is anything to show: every relay failed when not. */
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
 * Posts behind `start` from all relays, each once. The window ends where the first relay with older posts was left:
 * below that second its posts would be missing between those of the others.
 *
 * @param maxBytes bound on the posts' contents, in UTF-16 units; the first post always fits
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

/** The posts behind `start`, at most `limit`. */
export function cutPage({ posts, end }: FeedWindow, start: Position | undefined, limit: number): Page {
  const rest = posts.filter((post) => isAfter(post, start));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const following = rest[limit];
  const next = last && (following || (page.length === limit && end)) ? positionOf(last) : end;
  return {
    posts: page,
    nextCursor: next && formatPosition(next),
    nextUntil: next && untilAfter(next, page, following),
    isFull: page.length === limit || end === null,
  };
}

/**
 * The exclusive `until` that goes on from a position: the second is repeated when posts of it may remain. A page that
 * lies in one second would repeat for ever, so what remains of that second is given up.
 */
function untilAfter(next: Position, page: readonly Post[], following: Post | undefined): number {
  const isDone = isEndOfSecond(next) || (following && following.created_at < next.createdAt);
  return isDone || page[0]?.created_at === next.createdAt ? next.createdAt : next.createdAt + 1;
}
