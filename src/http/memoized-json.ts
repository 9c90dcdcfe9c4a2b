/**
 * Caches the JSON and entity tag of answers that many callers request and that rarely change.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context, TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';

/** Bytes of a body and their entity tag, so that a response needs no encoding or hashing. */
export type Tagged = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string };

/** Hexadecimal digits of a SHA-256 that make an entity tag. */
const TAG_LENGTH = 40;

/** @param digest SHA-256 of the body */
export const asEntityTag = (digest: Uint8Array): string => `"${bytesToHex(digest).slice(0, TAG_LENGTH)}"`;

export function tagged(text: string): Tagged {
  const bytes = new Uint8Array(utf8ToBytes(text));
  return { bytes, etag: asEntityTag(sha256(bytes)) };
}

/** The 200 response with a prepared body. */
export const keptBody = (c: Context, { bytes, etag }: Tagged, contentType: string): Response =>
  c.body(bytes, 200, { ETag: etag, 'Content-Type': contentType });

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((part, index) => Object.is(part, b[index]));

/**
 * An answer whose text is reused until one of its parts is a different object or value. All its inputs must
 * be parameters, so define it outside of any request's scope.
 */
export function memoizedJson<Parts extends readonly unknown[], T>(make: (...parts: Parts) => T) {
  let last: { readonly parts: Parts; readonly body: Tagged } | undefined;
  return (c: Context, ...parts: Parts): Response & TypedResponse<JSONParsed<T>, 200, 'json'> => {
    if (!last || !isSame(last.parts, parts)) last = { parts, body: tagged(JSON.stringify(make(...parts))) };
    // `c.json(make(...parts), 200)` has the same text and this type. Types do not exist at run time.
    return keptBody(c, last.body, 'application/json') as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
  };
}

/**
 * An answer about a list, whose text is kept as long as the list's object and reused until another part is
 * different. It has no entity tag, because callers do not store it. All its inputs must be parameters, so
 * define it outside of any request's scope.
 */
export function memoizedList<List extends object, Parts extends readonly unknown[], T>(
  make: (list: List, ...parts: Parts) => T,
) {
  const kept = new WeakMap<List, { readonly parts: Parts; readonly bytes: Uint8Array<ArrayBuffer> }>();
  return (c: Context, list: List, ...parts: Parts): Response & TypedResponse<JSONParsed<T>, 200, 'json'> => {
    let last = kept.get(list);
    if (!last || !isSame(last.parts, parts)) {
      last = { parts, bytes: new Uint8Array(utf8ToBytes(JSON.stringify(make(list, ...parts)))) };
      kept.set(list, last);
    }
    const response: Response = c.body(last.bytes, 200, { 'Content-Type': 'application/json' });
    // The type is that of `c.json(make(list, ...parts), 200)`, which has the same text.
    return response as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
  };
}
