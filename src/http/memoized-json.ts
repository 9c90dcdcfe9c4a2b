/**
 * Answers that many ask for and few change: their JSON and its entity tag are made once for what they are made of.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context, TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';

/** Bytes of a body and their entity tag, so that no answer has to encode or hash them. */
export type Tagged = { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string };

/** Hexadecimal digits of a SHA-256 that make an entity tag. */
const TAG_LENGTH = 40;

/** @param digest SHA-256 of the body */
export const asEntityTag = (digest: Uint8Array): string => `"${bytesToHex(digest).slice(0, TAG_LENGTH)}"`;

export function tagged(text: string): Tagged {
  const bytes = new Uint8Array(utf8ToBytes(text));
  return { bytes, etag: asEntityTag(sha256(bytes)) };
}

/** The answer 200 with a body that was made before. */
export const keptBody = (c: Context, { bytes, etag }: Tagged, contentType: string): Response =>
  c.body(bytes, 200, { ETag: etag, 'Content-Type': contentType });

/**
 * An answer whose text is kept until one of its parts is another object or value. What it is made of stands in its
 * parameters and nowhere else: define it where no request can be seen.
 */
export function memoizedJson<Parts extends readonly unknown[], T>(make: (...parts: Parts) => T) {
  let last: { readonly parts: Parts; readonly body: Tagged } | undefined;
  return (c: Context, ...parts: Parts): Response & TypedResponse<JSONParsed<T>, 200, 'json'> => {
    if (!last?.parts.every((part, index) => Object.is(part, parts[index])))
      last = { parts, body: tagged(JSON.stringify(make(...parts))) };
    // The type is that of `c.json(make(...parts), 200)`, whose text this is; nothing of it exists at run time.
    return keptBody(c, last.body, 'application/json') as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
  };
}
