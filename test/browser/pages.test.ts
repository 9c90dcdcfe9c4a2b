import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LISTED_PAGES } from '../../site/listed-pages.ts';
import {
  control,
  DESKTOP,
  expectAccessible,
  expectNothingWrong,
  LIVE_PAGES,
  PHONE,
  picture,
  SERVICE,
  settled,
  sidewaysScroll,
  siteUrl,
  useBrowser,
  type Visit,
  violations,
  visit,
} from './visit.ts';
import type { Info } from './wallet.ts';

useBrowser();

/** Maximum layout shift of a load; up to 0.1 is called good: https://web.dev/articles/cls */
const MOST_SHIFT = 0.02;
const NOTE_PAINTS = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver((list) => {
  for (const { element, url } of list.getEntries())
    window.largest = { url, isShown: element?.closest('main, header') != null };
}).observe({ type: 'largest-contentful-paint', buffered: true });`;
/** A fixed piece of work, about 60 ms of CPU time on the machine of docs/build/benchmarks.md. */
const YARDSTICK = `let sum = 0;
for (let i = 0; i < 8_000_000; i++) sum = (sum * 31 + i) % 1_000_003;
sum;`;
/** Longest task of a load, in yardsticks: 100 ms, which a visitor can perceive. */
const LONG_TASK = 1.7;
/** Other load on the machine only lengthens a task, so the shortest of several loads counts. */
const LOADS = 4;

type Theme = 'light' | 'dark';

type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time of the thread in microseconds, which other processes do not lengthen. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

/** Milliseconds of CPU time of each task on the main threads of pages. */
function cpuTimes(trace: Buffer | undefined): number[] {
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(String(trace ?? '{"traceEvents":[]}'));
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents.flatMap(({ name, pid, tid, tdur }) =>
    name.endsWith('RunTask') && main.has(`${pid} ${tid}`) && tdur !== undefined ? [tdur / 1_000] : [],
  );
}

/** Loads a page, and returns its longest task in yardsticks. */
async function longTaskOf(page: Page, path: string): Promise<number> {
  const browser = page.context().browser();
  const longestOf = async (act: () => Promise<unknown>): Promise<number> => {
    await browser?.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
    await act();
    return Math.max(...cpuTimes(await browser?.stopTracing()));
  };
  const yardstick = await longestOf(async () => {
    await page.evaluate(YARDSTICK);
    // A task is in the trace once it has ended, which a second one proves.
    await page.evaluate('0');
  });
  const longest = await longestOf(async () => {
    await page.goto(new URL(path, siteUrl).href);
    await settled(page);
  });
  expect([yardstick > 1, longest > 1]).toEqual([true, true]);
  return longest / yardstick;
}

async function expectComplete(visited: Visit, name: string, themes: readonly Theme[]) {
  const { page } = visited;
  expect(await page.locator('h1').allInnerTexts()).toEqual([expect.stringMatching(/\S/)]);
  expect(await page.locator('.notice.bad').allInnerTexts()).toEqual([]);
  expect(await sidewaysScroll(page)).toBe(0);
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    expect({ theme, violations: await violations(page) }).toEqual({ theme, violations: [] });
  }
  expectNothingWrong(visited);
  expect(await page.evaluate('window.shifted')).toBeLessThanOrEqual(MOST_SHIFT);
  // The largest paint is text of the page: it waits for no picture. The browser reports it some time after the paint.
  await page.waitForFunction(() => 'largest' in window);
  expect(
    await page.evaluate('window.largest'),
    'the largest paint is not text of main: give the page a paragraph longer than the one in the footer',
  ).toEqual({ url: '', isShown: true });
  await picture(page, name.slice(1).replaceAll(/\W+/g, '-') || 'overview');
}

/** The page of a token, which is rendered by the Worker. */
const TOKEN_PAGE = '/token/<mint>';
const ALL_PAGES = [...LISTED_PAGES, TOKEN_PAGE];
let token: Promise<string> | undefined;

/** Pays for a token, and returns its mint. */
async function createToken(): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, siteUrl), sent);
    return (await response.json()) as Record<string, string>;
  };
  const { users } = await control<Info>('GET /info');
  const order = await post('/api/invoices', {
    ...{ name: 'Shared Otter', symbol: 'SHARED', decimals: 6, supply: '1000000' },
    creator_address: users[0]?.address,
  });
  const { signature } = await control<{ signature: string }>('POST /transfer', {
    ...{ to: order.treasury_address, amount: order.amount, references: [order.reference] },
  });
  for (;;) {
    const { mint_address: mint } = await post('/api/invoices/confirm', {
      ...{ invoice_id: order.invoice_id, tx_signature: signature },
    });
    if (mint) return mint;
  }
}

async function addressOf(path: string): Promise<string> {
  if (path !== TOKEN_PAGE) return path;
  token ??= createToken();
  return `/token/${await token}`;
}

describe.each(ALL_PAGES)('%s on a desktop', (name) => {
  let visited: Visit;
  let path: string;
  let longTask: number;
  beforeAll(async () => {
    path = await addressOf(name);
    visited = await visit('about:blank', { colorScheme: 'light' }, (page) => page.addInitScript(NOTE_PAINTS));
    longTask = await longTaskOf(visited.page, path);
  });
  afterAll(() => visited?.close());

  it('on a desktop, the page is complete, accessible and no wider than the screen, and requests nothing from another origin', () =>
    expectComplete(visited, name, ['light', 'dark']));

  it('each page can be used by keyboard, starting with the skip link', async () => {
    const { page } = visited;
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(
      'Skip to the content',
    );
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
  });

  // test/site/pages.test.ts limits their number and size, and the size of each script that is loaded later.
  it('each page loads only the scripts that its HTML names', async () => {
    const loaded = await visited.page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
    );
    const scripts = loaded.filter((script) => script.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(0);
    const html = await (await fetch(new URL(path, siteUrl))).text();
    expect(scripts.filter((script) => !html.includes(`"${script}"`))).toEqual([]);
  });

  it('pages never block the browser with a long task while they load', async () => {
    const { page } = visited;
    let shortest = longTask;
    for (let repeated = 1; repeated < LOADS && shortest >= LONG_TASK; repeated++) {
      await page.goto('about:blank');
      shortest = Math.min(shortest, await longTaskOf(page, path));
    }
    expect(shortest).toBeLessThan(LONG_TASK);
  });
});

describe.each(ALL_PAGES)('%s on a phone', (name) => {
  let visited: Visit;
  beforeAll(async () => {
    const phone = { viewport: PHONE, hasTouch: true, isMobile: true, colorScheme: 'dark' } as const;
    visited = await visit(await addressOf(name), phone, (page) => page.addInitScript(NOTE_PAINTS));
    await settled(visited.page);
  });
  afterAll(() => visited?.close());

  it('on a phone, the page is complete, accessible and no wider than the screen, and requests nothing from another origin', () =>
    expectComplete(visited, name, ['dark', 'light']));

  it('on a phone, every button and field is at least 44 pixels high', async () => {
    const small = await visited.page
      .locator(
        'button:visible, a.button:visible, input:not([type="checkbox"]):visible, select:visible, summary:visible, .bottom li a:visible',
      )
      .evaluateAll((targets) =>
        targets
          .filter((target) => target.getBoundingClientRect().height < 44)
          .map(
            (target) => `${target.tagName} ${target.textContent} ${target.getBoundingClientRect().height}`,
          ),
      );
    expect(small).toEqual([]);
  });
});

describe.each(LIVE_PAGES)('%s, sent before its figures are read', (path) => {
  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)('does not shift on a %s when the figures arrive', async (_device, viewport) => {
    const file = join('site/dist', `${path === '/' ? 'index' : path}.html`);
    const visited = await visit(path, { viewport }, async (page) => {
      await page.addInitScript(NOTE_PAINTS);
      await page.route(new URL(path, siteUrl).href, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: readFileSync(file, 'utf8') });
      });
      // Not before the text is painted: two frames later.
      await page.route(SERVICE, async (route) => {
        await page.evaluate(
          'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
        );
        await route.continue();
      });
    });
    await settled(visited.page);
    const shifted = await visited.page.evaluate('window.shifted');
    await visited.close();
    expect(shifted).toBeLessThanOrEqual(MOST_SHIFT);
  });
});

/** Each part of the header stays within its height. */
async function expectHeaderInLine(page: Page) {
  const header = await page.locator('header.top').boundingBox();
  for (const part of await page.locator('header .wide > :is(a, button):visible').all()) {
    const box = await part.boundingBox();
    if (header === null || box === null) throw new Error('a part of the header is not shown');
    expect(box.y + box.height).toBeLessThanOrEqual(header.y + header.height);
  }
}

it.each([...ALL_PAGES, '/runbook'])(
  '%s fits a phone with text at twice its size, prints without controls, and shows no animation to a visitor who declined animations',
  async (name) => {
    const phone = { viewport: PHONE, hasTouch: true, isMobile: true, reducedMotion: 'reduce' } as const;
    const visited = await visit(await addressOf(name), phone);
    const { page } = visited;
    await settled(page);
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    expect(await sidewaysScroll(page)).toBe(0);
    await expectHeaderInLine(page);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('button:visible, header:visible').count()).toBe(0);
    expect(await page.locator('h1:visible').count()).toBe(1);
    await visited.close();
  },
);

it.each([
  ['/', 'phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
  ['/reserves', 'phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
  ['/reserves', 'desktop', { viewport: DESKTOP }],
])('%s is at most 3,500 pixels tall on a %s', async (path, _device, options) => {
  const visited = await visit(path, options);
  await settled(visited.page);
  const height = await visited.page.evaluate(() => document.documentElement.scrollHeight);
  expect(height).toBeLessThanOrEqual(3_500);
  await visited.close();
});

it.each(ALL_PAGES)(
  'the layout of %s does not move when its scripts arrive after the first paint',
  async (name) => {
    const { promise: painted, resolve: beginScripts } = Promise.withResolvers<void>();
    const visited = await visit('about:blank', { viewport: PHONE, isMobile: true }, async (page) => {
      await page.addInitScript(NOTE_PAINTS);
      await page.route('**/assets/*.js', async (route) => {
        await painted;
        await route.continue();
      });
    });
    const { page } = visited;
    await page.goto(new URL(await addressOf(name), siteUrl).href, { waitUntil: 'commit' });
    await expect.poll(() => page.evaluate('window.largest !== undefined')).toBe(true);
    beginScripts();
    await settled(page);
    expect(await page.evaluate('window.shifted')).toBeLessThanOrEqual(MOST_SHIFT);
    await visited.close();
  },
);

it.each(ALL_PAGES)('%s can be read without JavaScript', async (name) => {
  const visited = await visit(await addressOf(name), { javaScriptEnabled: false });
  const { page } = visited;
  expect(await page.locator('h1').innerText()).toMatch(/\S/);
  expect(await page.locator('.waiting:visible, .skeleton:visible').count()).toBe(0);
  expect((await page.locator('main').innerText()).length).toBeGreaterThan(120);
  const json = page.locator('noscript a').first();
  if ((await json.count()) > 0) {
    const answer = await fetch(new URL((await json.getAttribute('href')) ?? '', siteUrl));
    expect(answer.status).toBe(200);
  }
  await visited.close();
});

it('each visit sends one page view', async () => {
  let sent = 0;
  const visited = await visit('/agents', {}, async (page) => {
    page.on('request', (request) => {
      if (request.url().endsWith('/api/analytics/pageview')) sent += 1;
    });
  });
  await settled(visited.page);
  await visited.close();
  expect(sent).toBe(1);
});

it('the panel of a menu opens below its button, and the header does not move', async () => {
  const visited = await visit('/swap');
  const { page } = visited;
  for (const name of ['Reserve', 'Use', 'Read', 'Build']) {
    const button = page.locator('header').getByRole('button', { name });
    const before = await button.boundingBox();
    await button.click();
    const panel = await page.locator(`#group-${name.toLowerCase()}`).boundingBox();
    const after = await button.boundingBox();
    expect(after).toEqual(before);
    if (before === null || panel === null) throw new Error(`${name} is not shown`);
    expect(panel.y).toBeGreaterThanOrEqual(before.y + before.height);
    // Its left or its right edge is that of the button.
    const distances = [panel.x - before.x, panel.x + panel.width - before.x - before.width];
    expect(Math.min(...distances.map((distance) => Math.abs(distance)))).toBeLessThan(2);
    await page.keyboard.press('Escape');
  }
  await visited.close();
});

it('the menu of a phone opens below the header, which stays in sight', async () => {
  const visited = await visit('/swap', { viewport: PHONE, hasTouch: true, isMobile: true });
  const { page } = visited;
  await page.getByRole('button', { name: 'Menu' }).click();
  const header = await page.locator('header.top').boundingBox();
  const menu = await page.locator('#menu').boundingBox();
  if (header === null || menu === null) throw new Error('the header or the menu is not shown');
  expect(Math.abs(menu.y - header.y - header.height)).toBeLessThan(1);
  expect([menu.x, menu.width]).toEqual([0, PHONE.width]);
  await visited.close();
});

it('an unknown address shows a page with a link back', async () => {
  const visited = await visit('/no-such-page');
  expect(await visited.page.locator('h1').innerText()).toBe('No page here');
  await expectAccessible(visited.page);
  await visited.close();
});
