import { decode } from 'nostr-tools/nip19';
import { orUndefined } from '../../core/or-undefined.ts';

/** The public key (64 hex digits) of an npub or a public key in hex; undefined for anything else, such as a secret key. */
export function identityPubkey(text: string): string | undefined {
  const trimmed = text.trim();
  if (isPubkey(trimmed)) return trimmed.toLowerCase();
  const decoded = orUndefined(() => decode(trimmed));
  return decoded?.type === 'npub' && isPubkey(decoded.data) ? decoded.data : undefined;
}

const isPubkey = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);
