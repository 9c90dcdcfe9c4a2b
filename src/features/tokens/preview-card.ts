import { type Letters, Picture } from '../../http/picture.ts';

export type PreviewCard = {
  readonly name: string;
  readonly symbol: string;
  readonly supply: string;
  readonly badges: readonly string[];
  /** Whether the badges begin with a warning. */
  readonly isDoubtful: boolean;
  readonly mint: string;
};

/** Size that previews of links expect. */
const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 80;
const WATER_TOP = 570;

const GROUND = [250, 250, 247] as const;
/** By index: ink, soft ink, and the colours of SOL, BTC, ABSR and of a warning. */
const COLORS = [
  [18, 33, 31],
  [84, 97, 94],
  [104, 62, 208],
  [240, 162, 60],
  [11, 96, 103],
  [179, 38, 30],
] as const;
const INK = 0;
const SOFT = 1;
const ABSR = 4;
const WARNING = 5;

/** The picture of a token's link: name, symbol, supply and badges. */
export function drawPreviewCard(card: PreviewCard, letters: Letters): Promise<Uint8Array> {
  const picture = new Picture(WIDTH, HEIGHT, GROUND, COLORS, letters);
  const room = WIDTH - 2 * MARGIN;
  const short = `${card.mint.slice(0, 6)}…${card.mint.slice(-6)}`;
  /** Replaces the whole of a text that has an unknown letter: without that letter it could pass for another text. */
  const drawn = (text: string, instead: string): string => (Picture.canDraw(text, letters) ? text : instead);
  const fitted = (text: string, scale: 1 | 2): string => {
    let end = text.length;
    while (end > 0 && picture.widthOf(`${text.slice(0, end)}…`, scale) > room) end -= 1;
    return picture.widthOf(text, scale) <= room ? text : `${text.slice(0, end)}…`;
  };
  const name = drawn(card.name, `Token ${short}`);
  const symbol = drawn(card.symbol, 'units');
  for (const [at, color] of [2, 3, ABSR].entries()) {
    picture.box(MARGIN + at * 22, 84 - at * 8, 16, 28 + at * 8, color);
    picture.box(
      at * (WIDTH / 3),
      WATER_TOP - (2 - at) * 12,
      WIDTH / 3,
      HEIGHT - WATER_TOP + (2 - at) * 12,
      color,
    );
  }
  picture.text('Sluice', MARGIN + 80, 70, INK, 2);
  picture.text(fitted(name, 1), MARGIN, 170, INK, 1);
  picture.text(fitted(`${card.supply} ${symbol}`, 2), MARGIN, 290, SOFT, 2);
  for (const [at, badge] of card.badges.entries())
    picture.text(
      fitted(`· ${badge}`, 2),
      MARGIN,
      355 + at * 46,
      at === 0 && card.isDoubtful ? WARNING : ABSR,
      2,
    );
  picture.text(short, WIDTH - MARGIN - picture.widthOf(short, 2), 70, SOFT, 2);
  return picture.png();
}
