/**
 * Pictures drawn in the Worker: text and boxes in a few colours, as PNG, which previews of links accept.
 * @see https://www.w3.org/TR/png-3/
 * @module
 */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** Shades between the background, which is 0, and the full colour. */
const SHADES = 8;

type Color = readonly [red: number, green: number, blue: number];
type Letter = { readonly at: number; readonly width: number };

/** Letters in one strip of pixels; scripts/draw-images.ts draws the file. */
export type Letters = {
  readonly height: number;
  readonly byCode: ReadonlyMap<number, Letter>;
  readonly stripWidth: number;
  readonly pixels: Uint8Array;
};

/** @param file as scripts/draw-images.ts writes it */
export async function readLetters(file: Response): Promise<Letters> {
  const bytes = await unzip(file.body ?? new Blob().stream());
  const head = new DataView(bytes.buffer);
  const count = head.getUint16(2, true);
  const byCode = new Map<number, Letter>();
  let at = 0;
  for (let index = 0; index < count; index++) {
    const width = head.getUint16(6 + index * 4, true);
    byCode.set(head.getUint16(4 + index * 4, true), { at, width });
    at += width;
  }
  return { height: head.getUint16(0, true), byCode, stripWidth: at, pixels: bytes.subarray(4 + count * 4) };
}

const unzip = async (body: ReadableStream): Promise<Uint8Array> =>
  new Uint8Array(await new Response(body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());

export class Picture {
  readonly #pixels: Uint8Array;
  readonly #width: number;
  readonly #colors: readonly Color[];
  readonly #ground: Color;
  readonly #letters: Letters;

  constructor(width: number, height: number, ground: Color, colors: readonly Color[], letters: Letters) {
    this.#pixels = new Uint8Array(width * height);
    this.#width = width;
    this.#ground = ground;
    this.#colors = colors;
    this.#letters = letters;
  }

  /** Whether every letter of a text can be drawn. */
  static canDraw = (text: string, { byCode }: Letters): boolean =>
    [...text].every((letter) => byCode.has(letter.codePointAt(0) ?? 0));

  box(x: number, y: number, width: number, height: number, color: number): void {
    const value = color * SHADES + SHADES - 1;
    for (let row = y; row < y + height; row++) {
      const start = row * this.#width + x;
      this.#pixels.fill(value, start, start + width);
    }
  }

  widthOf(text: string, scale: 1 | 2): number {
    return [...text].reduce((sum, letter) => sum + Math.ceil(this.#letter(letter).width / scale), 0);
  }

  /** @param scale 2 halves the size of the letters */
  text(text: string, x: number, y: number, color: number, scale: 1 | 2): void {
    let left = x;
    for (const letter of text) {
      const { at, width } = this.#letter(letter);
      const shown = Math.ceil(width / scale);
      for (let row = 0; row < this.#letters.height / scale; row++)
        for (let column = 0; column < shown; column++) {
          const shade = this.#shade(at + column * scale, row * scale, scale);
          const place = (y + row) * this.#width + left + column;
          if (shade > 0) this.#pixels[place] = color * SHADES + shade;
        }
      left += shown;
    }
  }

  #letter(letter: string): Letter {
    return this.#letters.byCode.get(letter.codePointAt(0) ?? 0) ?? { at: 0, width: 0 };
  }

  /** The mean shade of a square in the strip of letters. */
  #shade(x: number, y: number, size: number): number {
    const { pixels, stripWidth } = this.#letters;
    let sum = 0;
    for (let row = y; row < y + size; row++)
      for (let column = x; column < x + size; column++) sum += pixels[row * stripWidth + column] ?? 0;
    return Math.round(sum / (size * size));
  }

  async png(): Promise<Uint8Array> {
    const width = this.#width;
    const height = this.#pixels.length / width;
    const rows = new Uint8Array((width + 1) * height);
    // Each row begins with the number of its filter; 0 means no filter.
    for (let row = 0; row < height; row++)
      rows.set(this.#pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
    const packed = new Blob([rows]).stream().pipeThrough(new CompressionStream('deflate'));
    const header = new Uint8Array(13);
    new DataView(header.buffer).setUint32(0, width);
    new DataView(header.buffer).setUint32(4, height);
    // Eight bits for a pixel, which is an index of the palette.
    header.set([8, 3], 8);
    return concatBytes(
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
      chunk('IHDR', header),
      chunk('PLTE', this.#palette()),
      chunk('IDAT', new Uint8Array(await new Response(packed).arrayBuffer())),
      chunk('IEND', new Uint8Array()),
    );
  }

  #palette(): Uint8Array {
    return Uint8Array.from(
      this.#colors.flatMap((color) =>
        Array.from({ length: SHADES }, (_, shade) =>
          color.map((part, at) => {
            const ground = this.#ground[at] ?? 0;
            return Math.round(ground + ((part - ground) * shade) / (SHADES - 1));
          }),
        ).flat(),
      ),
    );
  }
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = concatBytes(utf8ToBytes(type), data);
  const ends = new DataView(new ArrayBuffer(8));
  ends.setUint32(0, data.length);
  ends.setUint32(4, crc32(body));
  return concatBytes(new Uint8Array(ends.buffer, 0, 4), body, new Uint8Array(ends.buffer, 4, 4));
}

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
