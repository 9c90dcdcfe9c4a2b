/**
 * The Idempotency-Key header: its form and its stored fingerprint. The key itself is never stored or logged,
 * because it gives access to the protected response.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context } from 'hono';
import { AppError } from '../core/errors.ts';
import { ExactNumber, stringifyJson } from '../core/json.ts';

/** Visible ASCII, and too long for two callers to choose the same key by chance. */
const KEY = /^[\x21-\x7e]{16,128}$/;

/** The header in the document; `requestKey` checks it. */
export const idempotencyHeaders = z.object({
  'idempotency-key': z.string().optional().openapi({
    pattern: KEY.source,
    description: 'Visible ASCII characters; a repeat with the same key and body returns the first response',
    example: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  }),
});

/**
 * The fingerprint of this request, or undefined when it has no key.
 * @throws AppError INVALID_IDEMPOTENCY_KEY
 */
export function requestKey(c: Context, route: string, body: unknown): RequestFingerprint | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  if (KEY.test(key)) return requestFingerprint(route, key, body);
  throw new AppError(
    'INVALID_IDEMPOTENCY_KEY',
    'Idempotency-Key must be 16 to 128 visible ASCII characters.',
  );
}

/** Each member is a SHA-256 in lower-case hex. */
export type RequestFingerprint = { readonly keyHash: string; readonly bodyHash: string };

/**
 * The stored fingerprint of a request with a key.
 *
 * @param route a constant such as `exchange/create`: the same key on two routes is treated as two keys
 * @param key   in the form of the header
 * @param body the validated body; the order of its members does not matter, bigint is treated as its decimal string
 */
export const requestFingerprint = (route: string, key: string, body: unknown): RequestFingerprint => ({
  keyHash: hash(`${route}\n${key}`),
  bodyHash: hash(stringifyJson(ordered(body))),
});

const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

function ordered(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.source;
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  // Entries, not an object: a member named __proto__ or 1 keeps its position.
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)]);
}
