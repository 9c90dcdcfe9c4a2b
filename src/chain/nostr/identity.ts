import { decode } from 'nostr-tools/nip19';

/** The public key (64 hex digits) of an npub or a public key in hex; undefined for anything else, such as a secret key. */
export function identityPubkey(text: string): string | undefined {
  const trimmed = text.trim();
  if (isPubkey(trimmed)) return trimmed.toLowerCase();
  try {
    const { type, data } = decode(trimmed);
    return type === 'npub' && isPubkey(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

const isPubkey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);
