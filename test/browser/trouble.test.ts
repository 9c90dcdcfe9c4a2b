import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, expect, it } from 'vitest';
import {
  control,
  expectAccessible,
  LIVE_PAGES,
  SERVICE,
  settled,
  useBrowser,
  type Visit,
  visit,
} from './visit.ts';

useBrowser();

let visited: Visit;
afterEach(() => visited?.close());
afterAll(() => control('DELETE /faults'));

it.each(LIVE_PAGES)('%s shows once that the service is unavailable, and the next step', async (path) => {
  visited = await visit(path, {}, (page) => page.route(SERVICE, (route) => route.abort()));
  const { page } = visited;
  const notice = page.locator('.notice.bad').first();
  await notice.waitFor();
  expect(await notice.innerText()).toContain('The service cannot be reached.');
  expect(await notice.innerText()).toContain('try again');
  expect(await page.locator('main').innerText()).not.toContain('undefined');
  await page.waitForLoadState('networkidle');
  expect(await page.locator('.notice.bad').count()).toBe(1);
  await expectAccessible(page);
});

const FAILED = {
  ...{ error_code: 'UPSTREAM_FAILED', error: 'The upstream service solana-sale-1 failed.' },
  ...{ action: 'retry_later', retryable: true, request_id: 'r-9', details: { upstream: 'solana-sale-1' } },
};

it('a source that fails is named where its figures are missing, and not above the headline', async () => {
  const isPrice = (path: string): boolean => path.startsWith('/api/tokens/quote');
  visited = await visit('/', {}, async (page) => {
    await page.route('**/api/tokens/quote**', (route) => route.fulfill({ status: 503, json: FAILED }));
    await page.route('**/read?**', async (route) => {
      const paths = new URL(route.request().url()).searchParams.getAll('of');
      const response = await route.fetch();
      const parts: object[] = await response.json();
      const json = parts.map((part, index) =>
        isPrice(paths[index] ?? '') ? { ...part, status: 503, body: JSON.stringify(FAILED) } : part,
      );
      await route.fulfill({ response, json });
    });
  });
  const { page } = visited;
  await page.locator('[data-island="price"]').getByText('A source of this service failed.').waitFor();
  expect(await page.locator('.notice.bad').count()).toBe(0);
  expect(await page.locator('main').innerText()).not.toContain('Nothing was lost');
  await expectAccessible(page);
});

it.each([
  [
    '/',
    /Where the sats came from: not shown without JavaScript/,
    /which see your IP address|Create a token,/,
  ],
  ['/reserves', /Where the sats came from: not shown without JavaScript/, /which see your IP address/],
  ['/tokens', /not a recommendation/, /Search by name/],
  [
    '/asry',
    /Not shown without JavaScript.*This form needs JavaScript|This form needs JavaScript.*Not shown without/s,
    /not known at the moment/i,
  ],
])(
  'without scripts, %s says what it does not show, and has no control that does nothing',
  async (path, text, dead) => {
    visited = await visit(path, { javaScriptEnabled: false });
    const { page } = visited;
    const shown = await page.locator('body').innerText();
    expect(shown).toMatch(text);
    expect(shown).not.toMatch(dead);
    expect(await page.locator('.search-button:visible, input:visible').count()).toBe(0);
  },
);

/** The page as a Worker serves it that could not read the first figures. */
const withoutFirstAnswers = (page: Page) =>
  page.route('**/reserves', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<script [^>]*id="first-answers">.*?<\/script>/s, '');
    await route.fulfill({ response, body });
  });

const id = '5fFK6dZeVLSmuXCgLUbXRWsKPZBj7jUaicdZfyVMdY7NJeZTtUfbCwkgZwGh35zr6t7bs4GaMCCdhrqgNfz8obY1';
const swap = {
  ...{ id, status: 'waiting', detail: 'settling', reason: null, txId: null, nextPollSeconds: 5 },
  ...{ amountSol: 0.5, amountLamports: '500000000', expectedSatoshis: '61975' },
  ...{ btcSats: null, btcSatoshis: null },
};

it('the page does not request the status of a swap again once the swap is finished', async () => {
  let isFinal = false;
  let finals = 0;
  visited = await visit(`/swap?swap=${id}`, {}, async (page) => {
    await page.clock.install();
    await page.route('**/api/swap/status/**', (route) => {
      if (!isFinal) return route.fulfill({ json: swap });
      finals += 1;
      return route.fulfill({ json: { ...swap, status: 'finished', detail: 'done', btcSatoshis: '61975' } });
    });
  });
  const { page } = visited;
  await page.getByText('You may close this page').waitFor();
  // The page's clock also runs by itself: the swap ends only after its wait was seen.
  isFinal = true;
  await page.clock.runFor(3_000);
  await page.getByText('61,975 sats arrived.').waitFor();
  for (let second = 0; second < 10; second += 1) await page.clock.runFor(1_000);
  // The last request: the server has counted all earlier ones when it answers this one.
  await page.evaluate("fetch('/api/health').then((answer) => answer.text())");
  expect(finals).toBe(1);
});

const withFields = (fields: object) => async (route: Route) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: { ...(await response.json()), ...fields } });
};

it('the page marks a stale value and shows its time', async () => {
  visited = await visit('/reserves', {}, async (page) => {
    await withoutFirstAnswers(page);
    await page.route('**/api/reserves', withFields({ stale: true, as_of: '2026-11-20T10:00:00.000Z' }));
  });
  const wallets = visited.page.locator('[data-island="wallets"]');
  await wallets.getByText('stale', { exact: true }).waitFor();
  expect(await wallets.getByTitle('2026-11-20 10:00 UTC').count()).toBe(1);
  expect(await wallets.innerText()).toContain('this is the last good value');
  await expectAccessible(visited.page);
});

it('the page shows an unknown value as unknown, never as zero', async () => {
  const isRead = ({ pathname }: URL) => ['/', '/read', '/api/reserves'].includes(pathname);
  visited = await visit('/', {}, (page) =>
    page.route(isRead, async (route) => {
      const response = await route.fetch();
      // Also in the first figures of the page, and in the text of a part of a common read.
      const body = (await response.text()).replaceAll(/(\\?"balanceSatoshis\\?":)\\?"\d+\\?"/g, '$1null');
      await route.fulfill({ response, body });
    }),
  );
  const value = visited.page.locator('.figure.btc .value').first();
  await expect.poll(() => value.innerText()).toBe('unknown');
});

it('the page keeps its figures while the Worker is down, and later shows which upstream is down', async () => {
  const { promise: pressed, resolve: press } = Promise.withResolvers<void>();
  visited = await visit('/status');
  const { page } = visited;
  await settled(page);
  await control('POST /worker/kill');
  // A Worker that has just started has no older result of its checks.
  try {
    await page.getByText('The service does not respond (status 502).').waitFor();
    expect(await page.getByRole('heading', { name: 'Sources' }).isVisible()).toBe(true);
    await control('POST /faults', { upstream: 'kraken', kind: '500' });
    // The page's own repetitions would take the button away before it is pressed.
    await page.route(SERVICE, async (route) => {
      await pressed;
      await route.continue();
    });
  } finally {
    await control('POST /worker/start');
  }
  await page.getByRole('button', { name: 'Try again' }).click();
  press();
  await page.locator('.notice.bad').waitFor({ state: 'detached' });
  const row = page.getByRole('row', { name: /Kraken/ });
  await row.getByText('down', { exact: true }).waitFor();
  await control('DELETE /faults');
  await control('POST /worker/kill');
  await control('POST /worker/start');
  await row.getByText('ok', { exact: true }).waitFor();
});
