/**
 * Draws the stored pictures: icons and social card of the site, and the README's screenshot. Needs Chromium.
 * Usage: node scripts/draw-images.ts [URL of a running world, for the screenshots]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { runnerImport } from 'vite';
import { prerenderConfig } from '../site/vite.config.ts';
import { argumentsOrUsage, httpUrl, readArguments } from './command-line.ts';

const ROOT = join(import.meta.dirname, '..');
const PUBLIC = join(ROOT, 'site/public');
const IMAGES = join(ROOT, 'docs/images');
const FONT = readFileSync(
  join(ROOT, 'node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'),
);
const FONT_URL = `url("data:font/woff2;base64,${FONT.toString('base64')}")`;

const ICON_SIZES = [32, 180, 192, 512];
const CARD = { width: 1200, height: 630 };
const SCREEN = { width: 1280, height: 1000 };

async function drawIcons(browser: Browser): Promise<void> {
  const icon = readFileSync(join(PUBLIC, 'icon.svg'), 'utf8');
  for (const size of ICON_SIZES) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    await page.setContent(`<style>body{margin:0}svg{display:block;width:100vw}</style>${icon}`);
    await page.screenshot({ path: join(PUBLIC, `icon-${size}.png`), omitBackground: true });
    await page.close();
  }
  const png = readFileSync(join(PUBLIC, 'icon-32.png'));
  writeFileSync(join(PUBLIC, 'favicon.ico'), Buffer.concat([icoHeader(32, png.length), png]));
}

/** Header of an ICO file with one PNG. */
function icoHeader(size: number, bytes: number): Buffer {
  const header = Buffer.alloc(22);
  header.set([0, 0, 1, 0, 1, 0, size, size, 0, 0, 1, 0, 32, 0]);
  header.writeUInt32LE(bytes, 14);
  header.writeUInt32LE(header.length, 18);
  return header;
}

async function drawCard(browser: Browser): Promise<void> {
  const { module } = await runnerImport<{ card(): string }>(join(ROOT, 'site/card.tsx'), prerenderConfig);
  const styles = ['base', 'frame', 'pages'].map((name) =>
    readFileSync(join(ROOT, `site/styles/${name}.css`), 'utf8').replace(/url\("[^"]*\.woff2"\)/, FONT_URL),
  );
  const page = await browser.newPage({ viewport: CARD, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setContent(`<style>${styles.join('\n')}</style>${module.card()}`);
  await page.evaluate('document.fonts.ready');
  await page.screenshot({ path: join(PUBLIC, 'card.png') });
  await page.close();
}

/** ASCII, Latin letters with accents, and the few signs that the cards of tokens need. */
const LETTERS = [
  ...Array.from({ length: 95 }, (_, at) => 32 + at),
  ...Array.from({ length: 223 }, (_, at) => 161 + at).filter((code) => code !== 173),
  ...[...'…·–≥'].map((letter) => letter.codePointAt(0) ?? 0),
];
const LETTER_HEIGHT = 96;

/** Runs in the browser. */
const DRAW_LETTERS = `async (letters, height) => {
  const font = '500 ' + height * 0.78 + 'px Geist';
  await document.fonts.load(font);
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  context.font = font;
  const texts = letters.map((code) => String.fromCodePoint(code));
  const widths = texts.map((text) => Math.ceil(context.measureText(text).width));
  const width = widths.reduce((sum, one) => sum + one, 0);
  context.canvas.width = width;
  context.canvas.height = height;
  context.font = font;
  let x = 0;
  texts.forEach((text, at) => {
    // A letter may reach beyond its width, into the next one.
    context.save();
    context.beginPath();
    context.rect(x, 0, widths[at], height);
    context.clip();
    context.fillText(text, x, height * 0.76);
    context.restore();
    x += widths[at];
  });
  const { data } = context.getImageData(0, 0, width, height);
  return { widths, pixels: Array.from({ length: width * height }, (_, at) => data[at * 4 + 3] >> 5) };
}`;

/**
 * Draws the letters of the tokens' preview pictures next to each other, eight shades each.
 * File, gzipped: height and number of letters, then code and width of each (16 bits), then the rows of pixels.
 */
async function drawLetters(browser: Browser): Promise<void> {
  const page = await browser.newPage();
  await page.setContent(`<style>@font-face{font-family:Geist;src:${FONT_URL}}</style>`);
  const { widths, pixels } = await page.evaluate<{ widths: number[]; pixels: number[] }>(
    `(${DRAW_LETTERS})(${JSON.stringify(LETTERS)}, ${LETTER_HEIGHT})`,
  );
  await page.close();
  const head = Uint16Array.of(
    LETTER_HEIGHT,
    LETTERS.length,
    ...LETTERS.flatMap((code, at) => [code, widths[at] ?? 0]),
  );
  const file = Buffer.concat([Buffer.from(head.buffer), Buffer.from(pixels)]);
  writeFileSync(join(PUBLIC, 'letters.bin'), gzipSync(file, { level: 9 }));
}

async function drawSite(browser: Browser, url: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: SCREEN, colorScheme, reducedMotion: 'reduce' });
    await page.goto(url);
    await page.locator('.coverage-text').waitFor();
    await page.screenshot({ path: join(IMAGES, `site-${colorScheme}.png`) });
    await page.close();
  }
}

const url = argumentsOrUsage('node scripts/draw-images.ts [URL]', (args) => {
  const [text] = readArguments(args, {}, 1).positionals;
  return text === undefined ? undefined : httpUrl('URL', text).href;
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  await drawIcons(browser);
  await drawCard(browser);
  await drawLetters(browser);
  if (url !== undefined) await drawSite(browser, url);
} finally {
  await browser.close();
}
