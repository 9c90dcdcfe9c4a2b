/**
 * Keys and events as bech32 text.
 * @see https://github.com/nostr-protocol/nips/blob/master/19.md
 * @module
 */
import { decode, neventEncode, npubEncode } from 'nostr-tools/nip19';
import { getPublicKey } from 'nostr-tools/pure';
import type { NostrEvent } from './nip01.ts';

/**
 * The public key (64 hex digits) of an npub, an nsec or a public key in hex; undefined for anything else.
 * Only the public key of an nsec is returned.
 */
export function identityPubkey(text: string): string | undefined {
  const trimmed = text.trim();
  if (isPubkey(trimmed)) return trimmed.toLowerCase();
  try {
    const decoded = decode(trimmed);
    // The library accepts an npub of any length.
    if (decoded.type === 'npub') return isPubkey(decoded.data) ? decoded.data : undefined;
    return decoded.type === 'nsec' ? getPublicKey(decoded.data) : undefined;
  } catch {
    return undefined;
  }
}

const isPubkey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

export const npubOf = (pubkey: string): string => npubEncode(pubkey);

/** @param relays on which the event can be found */
export const neventOf = ({ id, pubkey, kind }: NostrEvent, relays: readonly string[]): string =>
  neventEncode({ id, author: pubkey, kind, relays: [...relays] });
