import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import { documentOf } from '../../scripts/documents/write-documents.ts';
import { ALLOWED_LICENCES } from '../../scripts/licences-page.ts';
import { buildSite, SITE_FOLDER, SOURCES } from '../../site/build/build-site.ts';
import { changesFeed, changesOf } from '../../site/build/changelog.ts';
import { contentPolicy, hostFiles, PUBLIC_SOURCES } from '../../site/build/host-files.ts';
import { changesPage } from '../../site/pages/changes.tsx';
import { docsPage } from '../../site/pages/docs.tsx';
import { runbookPage } from '../../site/pages/runbook.tsx';
import { curlLines } from '../../site/parts/agent-snippets.ts';
import { WALLET_SITES } from '../../site/parts/token-fields.tsx';
import { PAGES as FIXED_PAGES, pagesApp } from '../../site/prerender.tsx';
import { exampleOf } from '../kit/example.ts';

const API = documentOf('');
const PAGES = [...FIXED_PAGES, docsPage(API), changesPage([]), runbookPage('')];

// Only ends a build that hangs: a busy machine may need a long time.
beforeAll(() => buildSite(), 180_000);

const file = (path: string): string =>
  readFileSync(join(SITE_FOLDER, path === '/' ? 'index.html' : `${path}.html`), 'utf8');
const hrefs = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, href = '']) => href);
/** Paths that the Worker serves on the same origin. */
const SERVED = /^\/(api\/|llms\.txt$|status\.atom$|\.well-known\/security\.txt$)/;
/** The repository and the sites of wallets: the only other sites that pages link to before they are live. */
const { repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const SOURCE = repository.url.slice('git+'.length, -'.git'.length);
const AWAY = [SOURCE, ...WALLET_SITES];

describe.each(PAGES.map((page) => [page.path, page] as const))('%s', (path, page) => {
  it('each page states its purpose in one title and one sentence', () => {
    const html = file(path);
    expect(html.match(/<title>[^<]{8,80}<\/title>/g)).toHaveLength(1);
    expect(page.description.length).toBeGreaterThan(20);
    expect(html).toContain('<html lang="en">');
    expect(html.match(/<main /g)).toHaveLength(1);
  });

  it('a page contains no inline script, style or handler, because the security policy would refuse it', () => {
    const html = file(path);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style/);
    expect(html).not.toMatch(/\sstyle=/);
    expect(html).not.toMatch(/\son[a-z]+=/);
  });

  it('a page has no dead links', () => {
    const paths = PAGES.map((known) => known.path);
    for (const href of hrefs(file(path))) {
      if (href.startsWith('#') || AWAY.some((site) => href.startsWith(site)) || SERVED.test(href)) continue;
      const [target = '', anchor] = href.split('?')[0]?.split('#') ?? [];
      expect(target).toMatch(/^\//);
      if (paths.includes(target)) {
        if (anchor) expect(file(target)).toContain(`id="${anchor}"`);
      } else expect(existsSync(join(SITE_FOLDER, target)), href).toBe(true);
    }
  });
});

it('licenses.md lists all third-party files of the site, under licences that only require a copy of their text', () => {
  const headings = readFileSync(join(SITE_FOLDER, 'licenses.md'), 'utf8').matchAll(
    /^## (.+) - [\d.]+ \((.+)\)$/gm,
  );
  const licences = [...headings].map(([, name = '', licence = '']) => ({ name, licence }));
  expect(licences.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hono', '@noble/hashes', '@fontsource-variable/geist']),
  );
  const allowed = [...ALLOWED_LICENCES, 'OFL-1.1', '(MIT OR Apache-2.0)'];
  expect(licences.filter(({ licence }) => !allowed.includes(licence))).toEqual([]);
});

it('the conversation on the page for agents shows the figures of the recorded estimate', () => {
  const { estimatedSatoshis, minimumSatoshis } = exampleOf('getSwapEstimate');
  expect(file('/agents')).toContain(`→ ${estimatedSatoshis} sats, at least ${minimumSatoshis}, creatable`);
});

it('every script in site/islands belongs to a page', () => {
  const scripts = readdirSync(join(import.meta.dirname, '../../site/islands')).filter(
    (name) => name !== 'mount.tsx',
  );
  const used = new Set(PAGES.map(({ script }) => `${script}.tsx`));
  expect([...used].sort()).toEqual(scripts.sort());
});

it('git has the file that creates the folder of the built site in a fresh clone', () => {
  expect(readFileSync(join(SITE_FOLDER, '.assetsignore'), 'utf8')).toBe('build-stamp\n');
});

it('the built scripts do not contain a path of the build machine', () => {
  const folder = join(SITE_FOLDER, 'assets');
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(10);
  const root = join(import.meta.dirname, '../..');
  const telling = scripts.filter((name) => readFileSync(join(folder, name), 'utf8').includes(root));
  expect(telling).toEqual([]);
});

const gzipped = (path: string): number =>
  gzipSync(readFileSync(join(SITE_FOLDER, path)), { level: 9 }).length;

it('every page loads at most 8 scripts, together at most 45 KB', () => {
  for (const { path } of PAGES) {
    const scripts = [...file(path).matchAll(/(?:<script [^>]*src|rel="modulepreload" href)="([^"]+)"/g)].map(
      ([, src = '']) => src,
    );
    const size = scripts.reduce((sum, src) => sum + gzipped(src), 0);
    expect([path, scripts.length, size]).toEqual([
      path,
      Math.min(scripts.length, 8),
      Math.min(size, 45 * 1024),
    ]);
  }
});

it('every page loads its scripts after the style sheet and the font, which its first text needs', () => {
  for (const { path } of PAGES) {
    const tags = file(path).match(/<(?:link|script)[^>]*(?:"modulepreload"|"module")[^>]*>/g) ?? [];
    expect(tags.length).toBeGreaterThan(0);
    expect(tags.filter((tag) => !tag.includes('fetchpriority="low"'))).toEqual([]);
  }
});

it('the proof check, which is loaded on a click, has at most 48 KB', () => {
  const names = readdirSync(join(SITE_FOLDER, 'assets')).filter((name) => name.endsWith('.js'));
  expect(names.filter((name) => gzipped(`assets/${name}`) > 48 * 1024)).toEqual([]);
});

it('the security policy allows only this site and the sources of the proof check', () => {
  expect(contentPolicy(PUBLIC_SOURCES)).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; manifest-src 'self'; " +
      "connect-src 'self' https://mempool.space https://blockstream.info https://solana-rpc.publicnode.com " +
      "https://api.mainnet-beta.solana.com; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'",
  );
});

it('every redirect leads to a page', () => {
  const lines = hostFiles(PUBLIC_SOURCES).get('_redirects')?.trim().split('\n') ?? [];
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const [from = '', to, status] = line.split(' ');
    expect(from).toMatch(/^\/[\w.-]+$/);
    expect(PAGES.map(({ path }) => path)).toContain(to);
    expect(status).toBe('301');
  }
});

it('the example command that creates a swap stores its key, so that a repeat does not pay twice', () => {
  const spending = curlLines('https://reserve.example').filter(({ text }) => text.includes('/swap/create'));
  expect(spending).toHaveLength(1);
  const [making = '', ...command] = spending[0]?.text.split('\n') ?? [];
  expect(making).toMatch(/^KEY=\$\(/);
  expect(command.join('\n')).toContain('"idempotency-key: $KEY"');
  expect(command.join('\n')).not.toContain('$(');
});

it('the font is one file of this site, at most 45 KB, and every page preloads it', () => {
  const fonts = readdirSync(join(SITE_FOLDER, 'assets')).filter((name) => name.endsWith('.woff2'));
  expect(fonts).toHaveLength(1);
  const [font = ''] = fonts;
  expect(readFileSync(join(SITE_FOLDER, 'assets', font)).length).toBeLessThanOrEqual(45 * 1024);
  for (const { path } of PAGES)
    expect(file(path)).toContain(`<link rel="preload" href="/assets/${font}" as="font"`);
});

it('the icons of the manifest exist in their stated sizes, and the social card has 1200x630 pixels', () => {
  const manifest = JSON.parse(readFileSync(join(SITE_FOLDER, 'site.webmanifest'), 'utf8'));
  const png = (name: string): string => {
    const bytes = readFileSync(join(SITE_FOLDER, name));
    return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`;
  };
  for (const { src, sizes, type } of manifest.icons)
    if (type === 'image/png') expect(png(src)).toBe(sizes);
    else expect(existsSync(join(SITE_FOLDER, src))).toBe(true);
  expect(png('card.png')).toBe('1200x630');
});

it('/docs shows every operation with path, parameters and errors, and is readable without scripts', () => {
  const html = file('/docs');
  for (const { method, path, operation } of operationsOf(API)) {
    const at = html.indexOf(`id="${operation.operationId}"`);
    expect(at, operation.operationId).toBeGreaterThan(0);
    const summary = html.slice(html.lastIndexOf('<summary>', at), at);
    expect(summary).toContain(`>${method.toUpperCase()}</span><code>${path}</code>`);
    const shown = html.slice(at, html.indexOf('class="operation"', at));
    for (const parameter of operation.parameters ?? [])
      if ('name' in parameter) expect(shown).toContain(`<code>${parameter.name}</code>`);
    for (const status of Object.keys(operation.responses)) expect(shown).toContain(status);
  }
});

it('a change of any source file that a page uses rebuilds the site', () => {
  const root = join(import.meta.dirname, '../..');
  const files = readdirSync(join(root, 'site'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !name.startsWith('dist'),
  );
  const used = files.flatMap((name) =>
    [
      ...readFileSync(join(root, 'site', name), 'utf8').matchAll(/'(?:\.\.\/)+((?:src|packages)\/[^']+)'/g),
    ].map(([, path = '']) => path),
  );
  expect(used.length).toBeGreaterThan(10);
  // The API document, which is hashed as a whole, covers scripts/documents.
  expect(used.filter((path) => !SOURCES.some((source) => path.startsWith(`${source}/`)))).toEqual([]);
});

describe('the preview of a shared link', () => {
  const scripts = new Proxy({}, { get: () => ({ file: '/a.js', imports: [] }) });
  const release = { version: '1.2.3', commit: 'c0ffee', source: 'https://code.example/sluice' };
  const html = async (path: string, origin: string, isDemonstration = false): Promise<string> =>
    (
      await pagesApp(
        { origin, release, style: '/a.css', font: '/a.woff2', isDemonstration, scripts },
        API,
      ).request(path)
    ).text();

  it('only the pages of the offline world say that chains and coins are simulated', async () => {
    expect(await html('/reserves', '', true)).toMatch(
      /simulated.*only the last day has a proof for each hour/s,
    );
    expect(await html('/reserves', '')).not.toMatch(/simulated|only the last day/);
  });

  it('the preview of a shared link has absolute addresses if the build has an origin', async () => {
    const text = await html('/reserves', 'https://sluice.example');
    expect(text).toContain('<meta property="og:image" content="https://sluice.example/card.png"/>');
    expect(text).toContain('<meta property="og:url" content="https://sluice.example/reserves"/>');
    expect(text).toContain('<link rel="canonical" href="https://sluice.example/reserves"/>');
  });

  it('the preview of a token does not show the reserve, which does not back the token', async () => {
    const text = await html('/token', 'https://sluice.example');
    expect(text.match(/property="og:image" content="[^"]*"/g)).toEqual([
      'property="og:image" content="https://sluice.example/icon-512.png"',
    ]);
    expect(text).toContain('<meta name="twitter:card" content="summary"/>');
  });

  it('the preview of a shared link names no origin if the build has none', async () => {
    const text = await html('/reserves', '');
    expect(text).toContain('<meta property="og:image" content="/card.png"/>');
    expect(text).not.toContain('canonical');
  });
});

it('the list of changes folds the entries for operators, and names the version that the site was built from', async () => {
  const changes = changesOf(
    '# Changelog\n\n## [Unreleased]\n\n- One\n- Operators: two\n- Three\n- Operators: four\n',
    SOURCE,
  );
  expect(changes[0]?.html).toMatch(
    /^<ul>\n<li>One<\/li>\n<li>Three<\/li>\n<\/ul>\n<details class="more">\n<summary>For operators: 2 entries<\/summary>\n<ul>\n.*two.*four/s,
  );
  const release = { version: '1.1.0', commit: 'c0ffee'.repeat(6), source: SOURCE };
  const assets = { origin: '', release, style: '', font: '', isDemonstration: false, scripts: {} };
  const shown = (list: typeof changes): string => String(changesPage(list).Content({ assets }));
  expect(shown(changes)).toMatch(
    /built from version 1\.1\.0, commit <code>c0ffeec0ff<.*1\.1\.0, not dated yet/s,
  );
  const dated = [...changes, { version: '1.1.0', date: '2026-11-24', html: '' }];
  expect(shown(dated)).toContain('After 1.1.0, not dated yet');
});

it('the feed of releases omits unreleased changes, and links to files in the repository', () => {
  const changes = changesOf(
    '# Changelog\n\n## [Unreleased]\n\n- Next\n\n## [1.1.0] - 2026-11-24\n\n- See [a & b](docs/a.md#b) for `<x>`\n',
    SOURCE,
  );
  expect(changes.map(({ version, date }) => [version, date])).toEqual([
    ['Unreleased', null],
    ['1.1.0', '2026-11-24'],
  ]);
  expect(changes[1]?.html).toContain(
    `<a href="${SOURCE}/blob/main/docs/a.md#b">a &amp; b</a> for <code>&lt;x&gt;</code>`,
  );
  const release = { version: '1.1.0', commit: null, source: SOURCE };
  const assets = {
    origin: 'https://example.com',
    release,
    style: '',
    font: '',
    isDemonstration: false,
    scripts: {},
  };
  const feed = changesFeed(changes, assets);
  expect(feed.match(/<entry>/g)).toHaveLength(1);
  expect(feed).toContain('<updated>2026-11-24T00:00:00Z</updated>');
  expect(feed).toContain('<link href="https://example.com/changes#v1.1.0"/>');
  expect(feed).toContain('&lt;a href=&quot;');
  expect(feed).not.toContain('Next');
  expect(() => changesOf('## Unnamed\n', SOURCE)).toThrow('without a version');
  expect(changesOf('# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-11-24\n\n- First\n', SOURCE)).toEqual(
    [expect.objectContaining({ version: '1.1.0' })],
  );
});
