/** A browser that records errors of a page and its requests to other origins. */
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { LISTED_PAGES } from '../../site/listed-pages.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** No wait is decided by time: this only ends one that hangs, before its test does (vitest.config.ts). */
export const WAIT_MS = 150_000;

/** Files that run at the same time have different ids, from 1. */
const world = inject('worlds')[Number(process.env.VITEST_POOL_ID) - 1];
if (world === undefined) throw new Error('each worker needs a world');
export const { siteUrl, controlUrl } = world;
/** Pages that read nothing from the API before a visitor acts. */
const QUIET_PAGES = ['/exchange', '/tokens/new', '/agents', '/docs', '/changes'];
/** Pages that show figures of the API when they are opened. */
export const LIVE_PAGES = LISTED_PAGES.filter((path) => !QUIET_PAGES.includes(path));
export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

export type Visit = {
  readonly page: Page;
  /** Errors on the console, thrown errors, refused policies. */
  readonly complaints: readonly string[];
  /** Requests to any other origin. */
  readonly foreign: readonly string[];
  close(): Promise<void>;
};

let browser: Browser;

/** Requests of a page to the service, for one read or for several. */
export const SERVICE = /\/(api\/|read\?)/;
/** Requests that wait for a payment: the service limits how many one address has open. */
const OPENS_REQUEST = /\/api\/(invoices|listings\/request)$/;
/** Tests in one world are different visitors, so that their unpaid requests do not add up. */
const ownAddress = (): string => `203.${randomInt(256)}.${randomInt(256)}.7`;

/** Call once per file. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!existsSync(CHROMIUM)) throw new Error(`no browser at ${CHROMIUM}: apt-get install -y chromium`);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());
}

/** @param prepare runs before the page is loaded: routes, scripts */
export async function visit(
  path: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  context.setDefaultTimeout(WAIT_MS);
  const client = ownAddress();
  await context.route(OPENS_REQUEST, async (route) =>
    route.continue({ headers: { ...(await route.request().allHeaders()), 'x-world-client-ip': client } }),
  );
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== siteUrl && protocol !== 'data:') foreign.push(request.url());
  });
  await prepare(page);
  await page.goto(new URL(path, siteUrl).href);
  return {
    page,
    complaints,
    foreign,
    async close() {
      // A handler that still reads a response would fail once the browser discards it, which would fail the whole run.
      for (const routed of [context, ...context.pages()])
        await routed.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}

/** Whether what was sent stays unfinal: a state that a page shows until then cannot pass before it is seen. */
export const holdFinality = (held: boolean): Promise<unknown> => control('POST /solana/finality', { held });

/** The address of the page as its scripts have set it: the browser reports it to this process a moment later. */
export const shownAddress = async (page: Page): Promise<URL> => new URL(await page.evaluate('location.href'));

/** Orders the token of the form, which has no picture and locks its name: the page asks about that first. */
export async function orderWithoutPicture(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByRole('button', { name: 'Continue without' }).click();
}

/** Waits until the page shows no waiting text. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  // A function, because a text is evaluated at each look, which the policy of the pages forbids after the first one.
  await page.waitForFunction(() => document.querySelector('main .waiting') === null);
}

/** Stores pictures in both themes if SHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS;
  if (folder === undefined) return;
  const width = page.viewportSize()?.width ?? 0;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
}

const source = readFileSync(AXE, 'utf8');

/** The findings of axe, one per line. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.flatMap((violation) =>
       violation.nodes.map((node) => violation.id + ': ' + node.html.slice(0, 160) + ' ' + node.failureSummary.split('\\n')[1])))`,
  );
  return found as string[];
}

/**
 * Asserts that axe finds no problem and no content overflows the screen, on desktop and phone, in light and
 * dark.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize();
  for (const viewport of [DESKTOP, PHONE])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      const found = {
        viewport,
        colorScheme,
        violations: await violations(page),
        beyond: await sidewaysScroll(page),
      };
      expect(found).toEqual({ viewport, colorScheme, violations: [], beyond: 0 });
    }
  if (before) await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
}

export async function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** The page logged no error and contacted no other origin. */
export function expectNothingWrong({ complaints, foreign }: Visit): void {
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
}

/** A call to the world's own endpoint. */
export async function control<T>(call: string, body?: unknown): Promise<T> {
  const [method = 'GET', path = '/'] = call.split(' ');
  const response = await fetch(new URL(path, controlUrl), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${call}: ${await response.text()}`);
  return (await response.json()) as T;
}
