/**
 * Labels: an `l` tag is a value inside a namespace; an `L` tag declares a namespace. On a note they describe
 * the note.
 *
 * The namespace of an `l` tag is its third element. Without one, a label belongs to the only namespace that
 * the event declares. It belongs to `ugc` when the event declares none, as the NIP specifies, and to none
 * when the event declares several.
 * @see https://github.com/nostr-protocol/nips/blob/master/32.md
 * @module
 */
import type { NostrEvent } from './nip01.ts';

export type Label = {
  readonly value: string;
  /** Null when the event does not specify it. */
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
