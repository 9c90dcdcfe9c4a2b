/**
 * Comments: plain-text notes about a subject. Upper-case tags name the root of the whole thread, lower-case
 * tags the parent of the note.
 * @see https://github.com/nostr-protocol/nips/blob/master/22.md
 * @module
 */
import type { NostrEvent } from './nip01.ts';

export const COMMENT_KIND = 1111;

export type CommentRoot = {
  /** I: a subject outside Nostr (NIP-73). E: an event. A: an addressable event. */
  readonly tag: 'I' | 'E' | 'A';
  /** URL or other external id, event id, or `<kind>:<pubkey>:<identifier>`. */
  readonly value: string;
  /** From the K tag: `web`, another NIP-73 kind, or an event kind in digits; null if missing. */
  readonly kind: string | null;
  /** The root as an http(s) link; null if it is not one. */
  readonly url: string | null;
};

/**
 * An addressable root may also have the id of its event. The address outlives the event, so it is preferred.
 */
const ROOT_TAGS = ['I', 'A', 'E'] as const;

export function commentRoot({ tags }: NostrEvent): CommentRoot | undefined {
  const first = (name: string) => tags.find((tag) => tag[0] === name)?.[1];
  const tag = ROOT_TAGS.find((name) => first(name));
  const value = tag && first(tag);
  if (!tag || !value) return undefined;
  return { tag, value, kind: first('K') ?? null, url: (tag === 'I' && webUrl(value)) || null };
}

/** NIP-73: a URL is its own identifier. An http(s) URL without fragment and credentials, or undefined. Untrusted text becomes a link here. */
export function webUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password)
    return undefined;
  url.hash = '';
  return url.href;
}
