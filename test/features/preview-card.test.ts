import { readFileSync, writeFileSync } from 'node:fs';
import { crc32, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { drawPreviewCard, type PreviewCard } from '../../src/features/tokens/preview-card.ts';
import { readLetters } from '../../src/http/picture.ts';

const letters = await readLetters(new Response(readFileSync('site/public/letters.bin')));
const CARD: PreviewCard = {
  name: 'Otter',
  symbol: 'OTT',
  supply: '1,234,567.89',
  badges: ['Listed', 'supply fixed'],
  isDoubtful: false,
  mint: 'So11111111111111111111111111111111111111112',
};
const WIDTH = 1200;

type Chunk = { readonly type: string; readonly data: Buffer };

function chunksOf(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png);
  const chunks: Chunk[] = [];
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const body = bytes.subarray(at + 4, at + 8 + length);
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(body));
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) });
    at += length + 12;
  }
  return chunks;
}

/** Indexes of the palette, row by row, without the filters. */
async function pixelsOf(card: Partial<PreviewCard>): Promise<{ rows: Buffer[]; used: Set<number> }> {
  const png = await drawPreviewCard({ ...CARD, ...card }, letters);
  if (process.env.SHOTS) writeFileSync(`${process.env.SHOTS}/card-${card.name ?? 'usual'}.png`, png);
  const chunks = chunksOf(png);
  expect(chunks.map(({ type }) => type)).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND']);
  const [header, palette, data] = chunks.map((chunk) => chunk.data);
  expect([header?.readUInt32BE(0), header?.readUInt32BE(4)]).toEqual([WIDTH, 630]);
  const raw = inflateSync(data ?? Buffer.alloc(0));
  expect(raw.length).toBe((WIDTH + 1) * 630);
  const rows = Array.from({ length: 630 }, (_, row) =>
    raw.subarray(row * (WIDTH + 1) + 1, (row + 1) * (WIDTH + 1)),
  );
  const used = new Set(rows.flatMap((row) => [...row]));
  expect(Math.max(...used)).toBeLessThan((palette?.length ?? 0) / 3);
  return { rows, used };
}

const isInked = (rows: readonly Buffer[], x: number): boolean => rows.some((row) => (row[x] ?? 0) > 0);
const NAME_ROWS = [170, 266] as const;

it('the preview picture is a PNG of 1200 by 630 pixels and shows the name', async () => {
  const { rows } = await pixelsOf({});
  const named = rows.slice(...NAME_ROWS);
  expect([isInked(named, 100), isInked(named, 1100)]).toEqual([true, false]);
});

it('the preview picture cuts a long name at its right margin', async () => {
  const { rows } = await pixelsOf({ name: 'W'.repeat(200) });
  const named = rows.slice(...NAME_ROWS);
  const beyond = Array.from({ length: 80 }, (_, at) => isInked(named, 1120 + at));
  expect(beyond).not.toContain(true);
  expect(isInked(named, 1000)).toBe(true);
});

it('the preview picture shows the mint if the font lacks the script of the name', async () => {
  const [foreign, named] = await Promise.all([
    pixelsOf({ name: '水獺' }),
    pixelsOf({ name: 'Token So1111…111112' }),
  ]);
  expect(foreign.rows).toEqual(named.rows);
});

it('the preview picture shows a warning in its own colour', async () => {
  const RED = 5 * 8 + 7;
  expect((await pixelsOf({})).used.has(RED)).toBe(false);
  const { used } = await pixelsOf({ isDoubtful: true, badges: ['Resembles a well-known token', 'Listed'] });
  expect(used.has(RED)).toBe(true);
});
