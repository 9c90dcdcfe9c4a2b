/**
 * Keys and events as bech32 text.
 * @see https://github.com/nostr-protocol/nips/blob/master/19.md
 * @module
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
import type { NostrEvent } from './nip01.ts';

/** Longest text that the specification allows. */
const MAX_LENGTH = 5_000;
const KEY_BYTES = 32;
/** Field types of an nevent. A field is its type, one byte of length, and its value. */
const FIELD = { id: 0, relay: 1, author: 2, kind: 3 } as const;

/**
 * The public key (64 hex digits) of an npub, an nsec or a public key in hex; undefined for anything else.
 * Only the public key of an nsec is returned.
 */
export function identityPubkey(text: string): string | undefined {
  const trimmed = text.trim();
  if (isPubkey(trimmed)) return trimmed.toLowerCase();
  try {
    const { prefix, bytes } = bech32.decodeToBytes(trimmed);
    if (bytes.length !== KEY_BYTES) return undefined;
    if (prefix === 'npub') return bytesToHex(bytes);
    return prefix === 'nsec' ? bytesToHex(schnorr.getPublicKey(bytes)) : undefined;
  } catch {
    return undefined;
  }
}

const isPubkey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

const encode = (prefix: string, bytes: Uint8Array): string =>
  bech32.encode(prefix, bech32.toWords(bytes), MAX_LENGTH);

export const npubOf = (pubkey: string): string => encode('npub', hexToBytes(pubkey));

const field = (type: number, value: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(type, value.length), value);

/** @param relays where the event can be found, each at most 255 bytes */
export function neventOf({ id, pubkey, kind }: NostrEvent, relays: readonly string[]): string {
  const kindBytes = new Uint8Array(4);
  new DataView(kindBytes.buffer).setUint32(0, kind);
  return encode(
    'nevent',
    concatBytes(
      field(FIELD.kind, kindBytes),
      field(FIELD.author, hexToBytes(pubkey)),
      ...relays.map((relay) => field(FIELD.relay, utf8ToBytes(relay))),
      field(FIELD.id, hexToBytes(id)),
    ),
  );
}
