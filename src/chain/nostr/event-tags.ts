/**
 * The tags of a note: the subject that it comments on (NIP-22), its labels (NIP-32), its content warning (NIP-36).
 * @see https://github.com/nostr-protocol/nips
 * @module
 */
import type { NostrEvent } from 'nostr-tools/pure';

export const COMMENT_KIND = 1111;

/** Upper-case tags name the root of the whole thread, lower-case tags the parent of the note. */
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
 * In order of preference. An addressable root may also have the id of its event. Only the address stays the same in a
 * new version of the event.
 */
const ROOT_TAGS = ['I', 'A', 'E'] as const;

export function commentRoot({ tags }: NostrEvent): CommentRoot | undefined {
  const first = (name: string) => tags.find((tag) => tag[0] === name)?.[1];
  const tag = ROOT_TAGS.find((name) => first(name));
  const value = tag && first(tag);
  if (!tag || !value) return undefined;
  return { tag, value, kind: first('K') ?? null, url: (tag === 'I' && webUrl(value)) || null };
}

/**
 * The http(s) URL in a NIP-73 id, without its fragment, for use as a link. Undefined if there is none or it has
 * credentials.
 */
export function webUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password)
    return undefined;
  url.hash = '';
  return url.href;
}

export type Label = {
  readonly value: string;
  /** Null when the event does not specify it. */
  readonly namespace: string | null;
};

/**
 * The namespace of an `l` tag is its third element. A label without a namespace belongs to the only one that an `L` tag
 * declares. If none is declared, the label belongs to `ugc`; if several are, it has no namespace.
 */
export function labelsOf({ tags }: NostrEvent): Label[] {
  const declared = new Set(tags.filter((tag) => tag[0] === 'L' && tag[1]).map((tag) => tag[1] ?? ''));
  const [only = 'ugc'] = declared;
  const implied = declared.size > 1 ? null : only;
  return tags.flatMap(([name, value, namespace]) =>
    name === 'l' && value ? [{ value, namespace: namespace || implied }] : [],
  );
}

const CONTENT_WARNING = 'content-warning';
/** The reason shown for a warning tag without a reason. */
const NO_REASON = 'sensitive content';

/** The author's reason, never empty; undefined when the note has no warning. */
export function contentWarning(event: NostrEvent): string | undefined {
  const tag = event.tags.find(([name]) => name === CONTENT_WARNING);
  const label = labelsOf(event).find(({ namespace }) => namespace === CONTENT_WARNING);
  const declared = event.tags.some(([name, value]) => name === 'L' && value === CONTENT_WARNING);
  if (!tag && !label && !declared) return undefined;
  return tag?.[1]?.trim() || label?.value.trim() || NO_REASON;
}
