/**
 * Things outside Nostr as the root of a comment. A URL stands for itself, normalized and without fragment.
 * @see https://github.com/nostr-protocol/nips/blob/master/73.md
 * @module
 */

/** An http(s) URL without fragment and credentials, or undefined: what strangers write becomes a link. */
export function webUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password)
    return undefined;
  url.hash = '';
  return url.href;
}
