/**
 * Words that strangers chose. They are shown as text, kept apart from the writing direction of what is around them,
 * and cut where they would push everything else away.
 * @module
 */

const MAX_CHARS = 600;

export const Foreign = ({ text }: { text: string }) => (
  <bdi class="foreign">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
);

/** The first letter, where other sites load a picture from wherever the creator says. */
export const Initial = ({ symbol }: { symbol: string }) => (
  <span class="initial" aria-hidden="true">
    <bdi>{[...symbol][0]?.toUpperCase() ?? '?'}</bdi>
  </span>
);
