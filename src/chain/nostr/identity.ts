import { decode } from 'nostr-tools/nip19';
import { getPublicKey } from 'nostr-tools/pure';

/**
 * The public key (64 hex digits) of an npub, an nsec or a public key in hex; undefined for anything else.
 * Only the public key of an nsec is returned.
 */
export function identityPubkey(text: string): string | undefined {
  const trimmed = text.trim();
  if (isPubkey(trimmed)) return trimmed.toLowerCase();
  try {
    const { type, data } = decode(trimmed);
    if (type === 'nsec') return getPublicKey(data);
    return type === 'npub' && isPubkey(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

const isPubkey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);
