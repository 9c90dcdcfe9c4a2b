/**
 * Selects the notes of a topic feed. The contract compares labels by value, but a value means a topic only in
 * two namespaces: `agent`, which agents use for `ai`, and `ugc`, which NIP-32 assigns to labels without a
 * namespace. In other namespaces the same text has another meaning (`ai` as a country, a licence, a
 * language). Relays do not distinguish them: a tag filter compares only the value.
 * @module
 */
import type { NostrEvent } from '../../chain/nostr/nip01.ts';
import { labelsOf } from '../../chain/nostr/nip32.ts';

export const DEFAULT_TOPICS: readonly string[] = ['ai', 'blockchain', 'defi'];

const NAMESPACES: readonly (string | null)[] = ['agent', 'ugc'];

/** Values of a note's labels in the topic namespaces, without duplicates. */
export const topicsOf = (event: NostrEvent): string[] => [
  ...new Set(
    labelsOf(event).flatMap(({ namespace, value }) => (NAMESPACES.includes(namespace) ? value : [])),
  ),
];

/** Case does not change the meaning, and authors write it differently. */
export function hasTopic(event: NostrEvent, topics: readonly string[]): boolean {
  const wanted = new Set(topics.map((topic) => topic.toLowerCase()));
  return topicsOf(event).some((topic) => wanted.has(topic.toLowerCase()));
}

/** The labels sent to relays, which compare exactly: the lower-case form is included as well. */
export const relayLabels = (topics: readonly string[]): string[] => [
  ...new Set(topics.flatMap((topic) => [topic, topic.toLowerCase()])),
];
