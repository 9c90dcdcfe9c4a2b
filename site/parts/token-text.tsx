/**
 * Text chosen by untrusted authors. It is shown as plain text, isolated from the surrounding writing
 * direction, and cut to a maximum length.
 * @module
 */

const MAX_CHARS = 600;

export const Foreign = ({ text }: { text: string }) => (
  <bdi class="foreign">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
);

/** The first letter, in place of the picture that other sites load from the creator's URL. */
export const Initial = ({ symbol }: { symbol: string }) => (
  <span class="initial" aria-hidden="true">
    <bdi>{[...symbol][0]?.toUpperCase() ?? '?'}</bdi>
  </span>
);
