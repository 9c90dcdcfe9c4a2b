/**
 * Labels: an `l` tag is a value inside a namespace; an `L` tag declares a namespace. On a note they describe the note.
 *
 * The namespace of an `l` tag is its third element. A label without one belongs to the only namespace that the event
 * declares; to `ugc` when it declares none, as the NIP says; to none when it declares several.
 * @see https://github.com/nostr-protocol/nips/blob/master/32.md
 * @module
 */
import type { NostrEvent } from './nip01.ts';

export type Label = {
  readonly value: string;
  /** Null when the event leaves it open. */
  readonly namespace: string | null;
};

export function labelsOf({ tags }: NostrEvent): Label[] {
  const declared = new Set(tags.filter((tag) => tag[0] === 'L' && tag[1]).map((tag) => tag[1] ?? ''));
  const [only = 'ugc'] = declared;
  const implied = declared.size > 1 ? null : only;
  return tags.flatMap(([name, value, namespace]) =>
    name === 'l' && value ? [{ value, namespace: namespace || implied }] : [],
  );
}
