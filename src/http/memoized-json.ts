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

/**
 * An answer whose text is reused until one of its parts is a different object or value. All its inputs must
 * be parameters, so define it outside of any request's scope.
 */
export function memoizedJson<Parts extends readonly unknown[], T>(make: (...parts: Parts) => T) {
  let last: { readonly parts: Parts; readonly body: Tagged } | undefined;
  return (c: Context, ...parts: Parts): Response & TypedResponse<JSONParsed<T>, 200, 'json'> => {
    if (!last?.parts.every((part, index) => Object.is(part, parts[index])))
      last = { parts, body: tagged(JSON.stringify(make(...parts))) };
    // `c.json(make(...parts), 200)` has the same text and this type. Types do not exist at run time.
    return keptBody(c, last.body, 'application/json') as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
  };
}
