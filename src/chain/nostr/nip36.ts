/**
 * Content warnings: clients hide the note until the reader chooses to see it.
 * @see https://github.com/nostr-protocol/nips/blob/master/36.md
 * @module
 */
import type { NostrEvent } from './nip01.ts';
import { labelsOf } from './nip32.ts';

const NAME = 'content-warning';
/** A tag without a reason still warns. */
const NO_REASON = 'sensitive content';

/** The author's reason, never empty; undefined when the note has no warning. */
export function contentWarning(event: NostrEvent): string | undefined {
  const tag = event.tags.find(([name]) => name === NAME);
  const label = labelsOf(event).find(({ namespace }) => namespace === NAME);
  const declared = event.tags.some(([name, value]) => name === 'L' && value === NAME);
  if (!tag && !label && !declared) return undefined;
  return tag?.[1]?.trim() || label?.value.trim() || NO_REASON;
}
