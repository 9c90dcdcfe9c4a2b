/**
 * The reserve and its supply as a picture for other sites. Pure.
 * @module
 */

export type BadgeState = {
  /** Confirmed sats of the reserve; null when unknown. */
  readonly sats: bigint | null;
  /** Existing ABSR, with a fraction counted as a whole; null when unknown or without a token. */
  readonly absr: bigint | null;
  /** When the oldest figure was read, if no newer one is available; ISO 8601. */
  readonly staleSince: string | null;
};

const LABEL = 'reserve';
const COLORS = { covered: '#0b6b50', uncovered: '#b3261e', unsure: '#5f6368' } as const;
/** Pixels per character in Verdana of 11 px; `textLength` fits the text to its box. */
const CHARACTER = 6.6;
const PADDING = 6;
const HEIGHT = 20;

/** Formats 1061975n as `1,061,975`. */
const grouped = (amount: bigint): string => amount.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** The badge's text, and whether the figures are complete enough for a color. */
export function badgeText({ sats, absr, staleSince }: BadgeState): {
  readonly text: string;
  readonly color: string;
} {
  if (sats === null) return { text: 'unknown', color: COLORS.unsure };
  const age = staleSince === null ? '' : ` (as of ${staleSince.slice(0, 16).replace('T', ' ')} UTC)`;
  if (absr === null) return { text: `${grouped(sats)} sats${age}`, color: COLORS.unsure };
  const isCovered = sats >= absr;
  const text = `${grouped(sats)} sats ${isCovered ? '≥' : '<'} ${grouped(absr)} ABSR${age}`;
  if (!isCovered) return { text, color: COLORS.uncovered };
  return { text, color: staleSince === null ? COLORS.covered : COLORS.unsure };
}

/** An SVG without scripts, styles or references, so that every image host accepts it. */
export function badgeSvg(state: BadgeState): string {
  const { text, color } = badgeText(state);
  const shown = text.replaceAll('<', '&lt;');
  const widths = [LABEL, text].map((part) => Math.round(part.length * CHARACTER)) as [number, number];
  const [label, value] = widths.map((width) => width + 2 * PADDING) as [number, number];
  const title = `${LABEL}: ${shown}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${label + value}" height="${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${label + value}" height="${HEIGHT}" rx="3" fill="${color}"/>
<path d="M3 0h${label - 3}v${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3c4043"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="${PADDING}" y="14" textLength="${widths[0]}">${LABEL}</text>
<text x="${label + PADDING}" y="14" textLength="${widths[1]}">${shown}</text>
</g>
</svg>
`;
}
