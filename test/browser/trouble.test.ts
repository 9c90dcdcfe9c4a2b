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

it.each(LIVE_PAGES)('%s says once that the service is unavailable, and shows the next step', async (path) => {
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

/** The page as a Worker serves it that could not read the first figures. */
const withoutFirstAnswers = (page: Page) =>
  page.route('**/reserves', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<script [^>]*id="first-answers">.*?<\/script>/s, '');
    await route.fulfill({ response, body });
  });

it('the page shows the figures after a click when the service is available again', async () => {
  let down = true;
  visited = await visit('/reserves', {}, async (page) => {
    await withoutFirstAnswers(page);
    await page.route('**/api/reserves', (route) =>
      down
        ? route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })
        : route.continue(),
    );
  });
  const { page } = visited;
  const wallets = page.locator('[data-island="wallets"]');
  const alerts = page.getByRole('region', { name: 'Alerts' });
  await alerts.getByText('The service returned an unexpected response (status 502).').waitFor();
  await wallets.getByText('Not available right now.').waitFor();
  down = false;
  await alerts.getByRole('button', { name: 'Try again' }).click();
  await wallets.getByRole('heading', { name: 'Bitcoin reserve' }).waitFor();
  expect(await page.locator('.notice.bad').count()).toBe(0);
});

it('the page shows an error with its next step, its code and the request id for the operator', async () => {
  visited = await visit('/swap');
  const { page } = visited;
  await page.getByLabel('SOL of the reserve to swap').fill('0.001');
  await page.getByRole('button', { name: 'Get quote' }).click();
  const notice = page.locator('[data-island="swap"] .notice.bad');
  await notice.waitFor();
  const text = await notice.innerText();
  expect(text).toContain('AMOUNT_TOO_SMALL');
  expect(text).toContain('Change what the message names');
  expect(text).toMatch(/request [0-9a-f-]{36}/);
});

it('the page refuses a malformed amount without a request', async () => {
  visited = await visit('/swap');
  const { page } = visited;
  const input = page.getByLabel('SOL of the reserve to swap');
  await input.fill('1.2.3');
  await page.getByText('Digits and one point').waitFor();
  expect(await input.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByRole('button', { name: 'Get quote' }).isDisabled()).toBe(true);
  await input.fill('');
  await page.getByText('Digits and one point').waitFor({ state: 'hidden' });
});

it('the page says within 10 seconds that the service hangs', async () => {
  visited = await visit('/', {}, async (page) => {
    // The limit passes at once.
    await page.addInitScript(`const { timeout } = AbortSignal;
      window.limits = [];
      AbortSignal.timeout = (ms) => { window.limits.push(ms); return timeout.call(AbortSignal, 300); };`);
    await page.route(SERVICE, () => undefined);
  });
  await visited.page.locator('.notice.bad').getByText('The service did not respond in time.').waitFor();
  const limits = (await visited.page.evaluate('window.limits')) as number[];
  // The page needs a part of the ten seconds itself.
  expect(Math.max(...limits)).toBeLessThan(10_000);
});

it('the page announces a wait of more than a second', async () => {
  const { promise: held, resolve: answer } = Promise.withResolvers<void>();
  // A page without first figures of the Worker.
  visited = await visit('/visitors', {}, (page) =>
    page.route('**/api/analytics/stats*', async (route) => {
      await held;
      await route.continue();
    }),
  );
  const { page } = visited;
  const wait = page.getByText('This takes longer than usual.').first();
  await wait.waitFor();
  answer();
  await wait.waitFor({ state: 'detached' });
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

it('the page does not announce a delay for a wait that usually takes hours', async () => {
  visited = await visit(`/swap?swap=${id}`, {}, async (page) => {
    await page.clock.install();
    await page.route('**/api/swap/status/**', (route) => route.fulfill({ json: swap }));
  });
  const island = visited.page.locator('[data-island="swap"]');
  await island.getByText('You may close this page').waitFor();
  await visited.page.clock.runFor(60_000);
  expect(await island.innerText()).not.toContain('longer than usual');
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
    await page.getByText('The service returned an unexpected response (status 502).').waitFor();
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
  const row = page.getByRole('row', { name: /kraken/ });
  await row.getByText('down', { exact: true }).waitFor();
  await control('DELETE /faults');
  await control('POST /worker/kill');
  await control('POST /worker/start');
  await row.getByText('well', { exact: true }).waitFor();
});
