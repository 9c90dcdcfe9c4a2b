/**
 * Events, filters and the messages between client and relay. Relays are not trusted: every field of a message
 * is validated, and an event counts only with a valid id and signature.
 * @see https://github.com/nostr-protocol/nips/blob/master/01.md
 * @module
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export type NostrEvent = {
  /** sha256 of the canonical serialization, 64 hex digits. */
  readonly id: string;
  /** x-only public key, 64 hex digits. */
  readonly pubkey: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly kind: number;
  readonly tags: readonly (readonly string[])[];
  readonly content: string;
  /** BIP-340 signature over the id, 128 hex digits. */
  readonly sig: string;
};

/** Conditions are combined by AND, values inside a list by OR. Both times are inclusive Unix seconds. */
export type Filter = {
  readonly kinds: readonly number[];
  readonly authors?: readonly string[];
  readonly '#l'?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
};

const HEX_32 = /^[0-9a-f]{64}$/;
const HEX_64 = /^[0-9a-f]{128}$/;

/** An event in exactly the documented shape, without other members, or undefined. Nothing is verified. */
export function readEvent(value: unknown): NostrEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, pubkey, created_at, kind, tags, content, sig } = value as Record<string, unknown>;
  if (!isText(id, HEX_32) || !isText(pubkey, HEX_32) || !isText(sig, HEX_64)) return undefined;
  if (!isUint(created_at) || !isUint(kind) || kind > 65_535 || typeof content !== 'string') return undefined;
  if (!Array.isArray(tags) || !tags.every(isTag)) return undefined;
  return { id, pubkey, created_at, kind, tags, content, sig };
}

const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value);
const isUint = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTag = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Whether the id is the hash of the event's canonical serialization. */
export function hasTrueId({ id, pubkey, created_at, kind, tags, content }: NostrEvent): boolean {
  const serialized = JSON.stringify([0, pubkey, created_at, kind, tags, content]);
  return bytesToHex(sha256(utf8ToBytes(serialized))) === id;
}

/** Whether the id is the hash of the event and the signature is its author's. */
export const isAuthentic = (event: NostrEvent): boolean =>
  hasTrueId(event) && schnorr.verify(hexToBytes(event.sig), hexToBytes(event.id), hexToBytes(event.pubkey));

/** Whether an event matches a filter, ignoring `limit`. */
export function matches(
  { kinds, authors, '#l': labels, since, until }: Filter,
  { kind, pubkey, tags, created_at }: NostrEvent,
): boolean {
  return (
    kinds.includes(kind) &&
    (authors?.includes(pubkey) ?? true) &&
    (labels === undefined ||
      tags.some(([name, value]) => name === 'l' && value !== undefined && labels.includes(value))) &&
    created_at >= (since ?? created_at) &&
    created_at <= (until ?? created_at)
  );
}

export type RelayMessage =
  | { readonly type: 'event'; readonly subscription: string; readonly event: unknown }
  | { readonly type: 'eose'; readonly subscription: string }
  /** The relay refuses or ends a subscription; `reason` starts with a machine-readable word. */
  | { readonly type: 'closed'; readonly subscription: string; readonly reason: string };

/** A relay's message; undefined for messages without a use here (NOTICE, OK, AUTH) and for malformed ones. */
export function readRelayMessage(text: string): RelayMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [type, subscription, body] = value as unknown[];
  if (typeof subscription !== 'string') return undefined;
  switch (type) {
    case 'EVENT':
      return { type: 'event', subscription, event: body };
    case 'EOSE':
      return { type: 'eose', subscription };
    case 'CLOSED':
      return { type: 'closed', subscription, reason: typeof body === 'string' ? body : '' };
    default:
      return undefined;
  }
}

export const requestText = (subscription: string, filter: Filter): string =>
  JSON.stringify(['REQ', subscription, filter]);

export const closeText = (subscription: string): string => JSON.stringify(['CLOSE', subscription]);
