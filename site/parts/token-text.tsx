/**
 * Text chosen by untrusted authors. It is shown as plain text, isolated from the surrounding writing
 * direction, and cut to a maximum length.
 * @module
 */

const MAX_CHARS = 600;

export const Foreign = ({ text }: { text: string }) => (
  <bdi class="foreign">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
);

const TINTS = 7;

/** The class of a symbol's hue, which is the same everywhere. */
export const tintOf = (symbol: string): string =>
  `tint-${[...symbol].reduce((sum, letter) => (sum * 3 + (letter.codePointAt(0) ?? 0)) % TINTS, 0)}`;

/** The picture of a token of the reserve, which this site has itself. */
export const OfficialPicture = ({ asset }: { asset: 'ABSR' | 'ASRY' }) => (
  <span class="initial">
    <img src={`/${asset.toLowerCase()}.svg`} alt="" width="88" height="88" />
  </span>
);

/** The first letter, in place of the picture that other sites load from the creator's URL. */
export const Initial = ({ symbol }: { symbol: string }) => (
  <span class={`initial ${tintOf(symbol)}`} aria-hidden="true">
    <bdi>{[...symbol][0]?.toUpperCase() ?? '?'}</bdi>
  </span>
);
