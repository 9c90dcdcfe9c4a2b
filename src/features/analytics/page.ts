/**
 * What of a page view may be stored and shown: no control characters, no query strings, nothing that a browser would
 * follow to another site.
 * @module
 */
export const MAX_PATH = 1_024;
export const MAX_REFERRER = 4_096;
/** A longer address of a referring page is cut to its origin. */
const MAX_REFERRER_STORED = 512;

/** Control characters, line separators and marks that reorder text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

export const isSafeText = (text: string): boolean => text.isWellFormed() && !UNSAFE.test(text);

/** `//host` and `/\host` lead a browser to another site when they are used as a link. */
export const isPath = (text: string): boolean => /^\/(?![/\\])/.test(text) && isSafeText(text);

/** A path without query and fragment: they may hold what is nobody's business, and would make each view a path. */
export const pathOf = (path: string): string => path.replace(/[?#].*$/, '');

export type Referrer = { readonly url: string; readonly host: string };

/** The referring page without credentials, query and fragment; undefined unless it is a web page. */
export function referrerOf(text: string): Referrer | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.host.length > 253) return undefined;
  const page = `${url.origin}${url.pathname}`;
  return { url: page.length > MAX_REFERRER_STORED ? `${url.origin}/` : page, host: url.host };
}
