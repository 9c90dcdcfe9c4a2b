/** A relay's responses: newest first, ties in any order, cut at an undocumented limit. */
import { matchFilter } from 'nostr-tools/filter';
import type { NostrEvent } from 'nostr-tools/pure';
import type { RelaySession } from '../../src/providers/nostr-relays.ts';

export function modelSession(
  events: readonly NostrEvent[],
  cap: number,
  random: () => number,
): RelaySession & { queries: number } {
  const session = {
    queries: 0,
    async query(filter: Parameters<RelaySession['query']>[0]) {
      session.queries += 1;
      const found = events
        .filter((event) => matchFilter(filter, event))
        .map((event) => ({ event, tie: random() }))
        .sort((a, b) => b.event.created_at - a.event.created_at || a.tie - b.tie)
        .slice(0, Math.min(cap, filter.limit))
        .map(({ event }) => event);
      return { events: found, end: 'eose' as const, received: found.length, rejected: 0 };
    },
    close: () => undefined,
  };
  return session;
}

/** An event; only its order matters. */
export const placed = (created_at: number, id: number, tags: string[][] = []): NostrEvent => ({
  id: id.toString(16).padStart(64, '0'),
  pubkey: 'a'.repeat(64),
  created_at,
  kind: 1111,
  tags,
  content: '',
  sig: '',
});
