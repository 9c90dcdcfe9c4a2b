/**
 * The two feeds: comments on a topic by all authors, and all comments of one author.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { COMMENT_KIND } from '../../chain/nostr/event-tags.ts';
import type { FeedScope } from './read-feed.ts';

export const DEFAULT_TOPICS: readonly string[] = ['ai', 'blockchain', 'defi'];

/** The labels sent to relays. Relays compare values exactly, so the lower-case form is sent too. */
const relayLabels = (topics: readonly string[]): string[] => [
  ...new Set(topics.flatMap((topic) => [topic, topic.toLowerCase()])),
];

/** The largest page of this feed. */
export const MAX_FEED_LIMIT = 100;
const MAX_CHARS = 256 * 1024;

/** Comments of all authors. @param topics a note must have one of these labels, in any namespace; null for all notes */
export function topicScope(topics: readonly string[] | null): FeedScope {
  return {
    key: topics === null ? 'all' : `topics:${fingerprint(topics)}`,
    filter: { kinds: [COMMENT_KIND], ...(topics ? { '#l': relayLabels(topics) } : {}) },
    maxChars: MAX_CHARS,
  };
}

/** A short hash for cache keys, without characters from a caller's label. */
const fingerprint = (topics: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify([...new Set(topics)].sort())))).slice(0, 32);

/** The largest page of this feed. */
export const MAX_POSTS_LIMIT = 500;
const POSTS_MAX_CHARS = 1024 * 1024;

/** Comments of one author, with any labels. */
export const authorScope = (pubkey: string): FeedScope => ({
  key: `author:${pubkey}`,
  filter: { kinds: [COMMENT_KIND], authors: [pubkey] },
  maxChars: POSTS_MAX_CHARS,
});
