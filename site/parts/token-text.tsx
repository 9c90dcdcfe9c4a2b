/**
 * Text chosen by untrusted authors. It is shown as plain text, isolated from the surrounding writing
 * direction, and cut to a maximum length.
 * @module
 */
import { Away } from './explorer-links.tsx';
import { shortened } from './format.ts';

const MAX_CHARS = 600;

export const Foreign = ({ text }: { text: string }) => (
  <bdi class="foreign">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
);

/** Longest text that stands above what holders must know. */
const SHORT_CHARS = 180;
const LINK = /https:\/\/[^\s<>"'()[\]{}]+[^\s<>"'()[\]{}.,;:!?]/;

/** The first https address in a creator's text; null without one, and for one with a user name, which reads as a host. */
export function linkIn(text: string): URL | null {
  const found = LINK.exec(text)?.[0] ?? '';
  const url = URL.canParse(found) ? new URL(found) : null;
  return url === null || url.username !== '' || url.password !== '' ? null : url;
}

/** What the creator says of a token, and the link in it. A long text is folded, so that it hides no warning. */
export function Description({ text }: { text: string }) {
  const link = linkIn(text);
  return (
    <>
      {text.length <= SHORT_CHARS && !text.includes('\n') ? (
        <p class="prose">
          <Foreign text={text} />
        </p>
      ) : (
        <details class="said">
          <summary>
            <Foreign text={`${text.slice(0, SHORT_CHARS).replaceAll('\n', ' ')}…`} />
          </summary>
          <p class="prose">
            <Foreign text={text} />
          </p>
        </details>
      )}
      {link === null ? null : (
        <p>
          <Away href={link.href}>
            <Foreign text={`${link.host}${link.pathname === '/' ? '' : shortened(link.pathname, 12)}`} />
          </Away>{' '}
          <span class="fine">link from the creator; not checked</span>
        </p>
      )}
    </>
  );
}

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

const VIEW = 48;

/** FNV-1a of a text, 32 bits. @see https://datatracker.ietf.org/doc/html/rfc9923 */
const hashOf = (text: string): number =>
  [...text].reduce(
    (hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619),
    2_166_136_261,
  );

/** Places of the shapes on a tile: each takes six bits. */
const placesOf = (seed: string): number[] =>
  [0, 6, 12, 18].map((shift) => ((hashOf(seed) >>> shift) & 63) % VIEW);

type TileProps = {
  readonly symbol: string;
  /** The mint address: a copy of the name has other shapes. A token that does not exist yet has its symbol. */
  readonly seed: string;
};

/** The first letter, in place of the picture that other sites load from the creator's URL. */
export function Initial({ symbol, seed }: TileProps) {
  const [x = 0, y = 0, left = 0, top = 0] = placesOf(seed);
  return (
    <span class={`initial ${tintOf(symbol)}`} aria-hidden="true">
      <svg viewBox={`0 0 ${VIEW} ${VIEW}`} aria-hidden="true">
        <circle cx={x} cy={y} r="17" fill="#fff" opacity="0.16" />
        <circle cx={left} cy={top} r="13" fill="#000" opacity="0.2" />
        <path d={`M${top} 0L${VIEW} ${left}V${VIEW}H${x}z`} fill="#fff" opacity="0.1" />
      </svg>
      <bdi>{[...symbol][0]?.toUpperCase() ?? '?'}</bdi>
    </span>
  );
}
