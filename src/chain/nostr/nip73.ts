/**
 * Subjects outside Nostr as the root of a comment. A URL is its own identifier, normalized and without a
 * fragment.
 * @see https://github.com/nostr-protocol/nips/blob/master/73.md
 * @module
 */

/** An http(s) URL without fragment and credentials, or undefined. Untrusted text becomes a link here. */
export function webUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password)
    return undefined;
  url.hash = '';
  return url.href;
}
