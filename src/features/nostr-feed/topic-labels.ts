/**
 * Which notes a topic feed keeps. Labels are compared by value as the contract says, but only in the namespaces where
 * such a value means a topic: `agent`, which agents use for `ai`, and `ugc`, which NIP-32 gives to labels without a
 * namespace. The same word in any other namespace means something else (`ai` as a country, a licence, a language), and
 * relays do not tell them apart: a tag filter looks at the value only.
 * @module
 */
import type { NostrEvent } from '../../chain/nostr/nip01.ts';
import { labelsOf } from '../../chain/nostr/nip32.ts';

export const DEFAULT_TOPICS: readonly string[] = ['ai', 'blockchain', 'defi'];

const NAMESPACES: readonly (string | null)[] = ['agent', 'ugc'];

/** Values of a note's labels in the namespaces of topics, each once. */
export const topicsOf = (event: NostrEvent): string[] => [
  ...new Set(
    labelsOf(event).flatMap(({ namespace, value }) => (NAMESPACES.includes(namespace) ? value : [])),
  ),
];

/** Case is no difference in meaning, and authors differ in it. */
export function hasTopic(event: NostrEvent, topics: readonly string[]): boolean {
  const wanted = new Set(topics.map((topic) => topic.toLowerCase()));
  return topicsOf(event).some((topic) => wanted.has(topic.toLowerCase()));
}

/** What relays are asked for: they compare exactly, so the lower-case form is asked for as well. */
export const relayLabels = (topics: readonly string[]): string[] => [
  ...new Set(topics.flatMap((topic) => [topic, topic.toLowerCase()])),
];
