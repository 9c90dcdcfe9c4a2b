/**
 * Draws the stored pictures: icons and social card of the site, and the README's screenshots. Needs Chromium.
 * Usage: node scripts/draw-images.ts [URL of a running world, for the screenshots]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
const SCREEN = { width: 1120, height: 940 };

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
    readFileSync(join(ROOT, `site/styles/${name}.css`), 'utf8')
      .replace(/url\("[^"]*\.woff2"\)/, FONT_URL)
      .replace('font-display: optional', 'font-display: block'),
  );
  const page = await browser.newPage({ viewport: CARD, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setContent(`<style>${styles.join('\n')}</style>${module.card()}`);
  await page.evaluate('document.fonts.ready');
  await page.screenshot({ path: join(PUBLIC, 'card.png') });
  await page.close();
}

async function drawSite(browser: Browser, url: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: SCREEN, colorScheme, reducedMotion: 'reduce' });
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.locator('.verdict-line.good').waitFor();
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
  if (url !== undefined) await drawSite(browser, url);
} finally {
  await browser.close();
}
