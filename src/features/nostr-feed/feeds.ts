/**
 * The two feeds: comments on a topic by all authors, and all comments of one author.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { NostrEvent } from 'nostr-tools/pure';
import { COMMENT_KIND, labelsOf } from '../../chain/nostr/event-tags.ts';
import type { FeedScope } from './read-feed.ts';

export const DEFAULT_TOPICS: readonly string[] = ['ai', 'blockchain', 'defi'];

/**
 * A label's value means a topic only in two namespaces. Agents use `agent` for `ai`, and NIP-32 assigns `ugc` to
 * labels without a namespace. In other namespaces the same text has another meaning (`ai` as
 * a country, a licence, a language).
 */
const NAMESPACES: readonly (string | null)[] = ['agent', 'ugc'];

/** Values of a note's labels in the topic namespaces, without duplicates. */
export const topicsOf = (event: NostrEvent): string[] => [
  ...new Set(
    labelsOf(event).flatMap(({ namespace, value }) => (NAMESPACES.includes(namespace) ? value : [])),
  ),
];

/** Case does not change the meaning, and authors write it differently. */
function hasTopic(event: NostrEvent, topics: readonly string[]): boolean {
  const wanted = new Set(topics.map((topic) => topic.toLowerCase()));
  return topicsOf(event).some((topic) => wanted.has(topic.toLowerCase()));
}

/** The labels sent to relays. Relays compare values exactly, so the lower-case form is sent as well. */
const relayLabels = (topics: readonly string[]): string[] => [
  ...new Set(topics.flatMap((topic) => [topic, topic.toLowerCase()])),
];

/** The largest page of this feed. */
export const MAX_FEED_LIMIT = 100;
const MAX_BYTES = 256 * 1024;

/** Comments of all authors. @param topics a note must have one of these labels; null for all notes */
export function topicScope(topics: readonly string[] | null): FeedScope {
  return {
    key: topics === null ? 'all' : `topics:${fingerprint(topics)}`,
    filter: { kinds: [COMMENT_KIND], ...(topics ? { '#l': relayLabels(topics) } : {}) },
    accepts: (event) => event.kind === COMMENT_KIND && (topics === null || hasTopic(event, topics)),
    target: MAX_FEED_LIMIT,
    maxBytes: MAX_BYTES,
  };
}

/** A short text for cache keys, which contains no characters of a caller's label. */
const fingerprint = (topics: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify([...new Set(topics)].sort())))).slice(0, 32);

/** The largest page of this feed. */
export const MAX_POSTS_LIMIT = 500;
const POSTS_MAX_BYTES = 1024 * 1024;

/** Comments of one author, with any labels. */
export const authorScope = (pubkey: string): FeedScope => ({
  key: `author:${pubkey}`,
  filter: { kinds: [COMMENT_KIND], authors: [pubkey] },
  accepts: (event) => event.kind === COMMENT_KIND && event.pubkey === pubkey,
  target: MAX_POSTS_LIMIT,
  maxBytes: POSTS_MAX_BYTES,
});
