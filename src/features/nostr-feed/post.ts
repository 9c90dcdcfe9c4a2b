import type { NostrEvent } from '../../chain/nostr/nip01.ts';
import { neventOf } from '../../chain/nostr/nip19.ts';
import { commentRoot } from '../../chain/nostr/nip22.ts';
import { contentWarning } from '../../chain/nostr/nip36.ts';
import { topicsOf } from './topic-labels.ts';

/** An event in the form of the feeds. */
export type Post = ReturnType<typeof postOf>;

/** More hints make the link longer without making the note easier to find. */
const MAX_HINTS = 2;

/** @param relays that have the event */
export const postOf = (event: NostrEvent, relays: readonly string[]) => ({
  id: event.id,
  pubkey: event.pubkey,
  created_at: event.created_at,
  content: event.content,
  kind: event.kind,
  labels: topicsOf(event),
  content_warning: contentWarning(event) ?? null,
  root: commentRoot(event) ?? null,
  nevent: neventOf(event, relays.slice(0, MAX_HINTS)),
});
