/**
 * The parts of a page view that are stored and shown: no control characters, no query strings, no path that a
 * browser would treat as another site, and no text of more than 262 bytes.
 * @module
 */
export const MAX_PATH = 1_024;
export const MAX_REFERRER = 4_096;
/** UTF-8 bytes of a stored path. A longer path is cut and ends in `…`, which takes three more bytes. */
const MAX_PATH_BYTES = 253;
const MAX_CUT_PATH_BYTES = MAX_PATH_BYTES + 3;
/** A longer referrer URL is cut to its origin, which is never longer. URLs are ASCII. */
export const MAX_REFERRER_STORED = 262;
export const MAX_HOST = 253;

/** Control characters, line separators and marks that reorder text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

export const isSafeText = (text: string): boolean => text.isWellFormed() && !UNSAFE.test(text);

/** As a link, `//host` or `/\host` takes a browser to another site. */
export const isPath = (text: string): boolean => /^\/(?![/\\])/.test(text) && isSafeText(text);

/** A path without query and fragment, which may be private and would make every view a separate path. */
export function pathOf(path: string): string {
  const plain = path.replace(/[?#].*$/, '');
  const { read } = new TextEncoder().encodeInto(plain, new Uint8Array(MAX_PATH_BYTES));
  return read === plain.length ? plain : `${plain.slice(0, read)}…`;
}

/** Whether a path may be stored: a result of `pathOf`. */
export const isStorablePath = (path: string): boolean =>
  isPath(path) && !/[?#]/.test(path) && new TextEncoder().encode(path).length <= MAX_CUT_PATH_BYTES;

export type Referrer = { readonly url: string; readonly host: string };

/** The referring page without credentials, query and fragment; undefined unless it is a web page. */
export function referrerOf(text: string): Referrer | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.host.length > MAX_HOST) return undefined;
  const page = `${url.origin}${url.pathname}`;
  return { url: page.length > MAX_REFERRER_STORED ? `${url.origin}/` : page, host: url.host };
}
