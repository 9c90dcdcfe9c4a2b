/**
 * Text chosen by untrusted authors. It is shown as plain text, isolated from the surrounding writing
 * direction, and cut to a maximum length.
 * @module
 */

const MAX_CHARS = 600;

export const Foreign = ({ text }: { text: string }) => (
  <bdi class="foreign">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
);

const TINTS = 6;

/** The same symbol has the same tint everywhere. */
const tintOf = (symbol: string): number =>
  [...symbol].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % TINTS;

/** The first letter, in place of the picture that other sites load from the creator's URL. */
export const Initial = ({ symbol }: { symbol: string }) => (
  <span class={`initial tint-${tintOf(symbol)}`} aria-hidden="true">
    <bdi>{[...symbol][0]?.toUpperCase() ?? '?'}</bdi>
  </span>
);
