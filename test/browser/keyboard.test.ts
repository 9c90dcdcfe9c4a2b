/** Every flow with only the keyboard: the test neither clicks nor sets the focus. */
import type { Locator, Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { control, expectNothingWrong, settled, useBrowser, type Visit, visit } from './visit.ts';
import { addWallet, foreignBut, type Info } from './wallet.ts';

useBrowser();

let visited: Visit;
afterEach(() => visited?.close());

/** More than the focusable elements of any page. */
const MOST_STOPS = 150;

/** Presses Tab until the element has the focus, as a visitor would. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the Tab key does not reach ${target}`);
}

async function write(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

async function press(page: Page, target: Locator): Promise<void> {
  await target.and(page.locator(':enabled')).waitFor();
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

async function tick(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Space');
}

const open = async (path: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> => {
  visited = await visit(path, {}, prepare);
  await settled(visited.page);
  return visited.page;
};
const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });

it('the menu opens with Enter, closes with Escape, and leads to a page', async () => {
  const page = await open('/');
  const use = button(page, 'Use');
  await press(page, use);
  const link = page.locator('#group-use').getByRole('link', { name: 'Swap' });
  await link.waitFor();
  await page.keyboard.press('Escape');
  await link.waitFor({ state: 'hidden' });
  await press(page, use);
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/swap');
});

it('a creator fills in a token, pays with a wallet that can only sign, and opens its page by keyboard', async () => {
  const page = await open('/tokens/new', (opened) => addWallet(opened, { behaviour: 'sign' }));
  await write(page, page.getByLabel('Name', { exact: true }), 'Keyboard Otter');
  await write(page, page.getByLabel('Symbol'), 'KEYS');
  await press(page, button(page, 'Fill in from my wallet'));
  await page.getByText('Otter Wallet').waitFor();
  const { users } = await control<Info>('GET /info');
  await expect.poll(() => page.getByLabel('Your wallet').inputValue()).toBe(users[0]?.address);
  await press(page, button(page, 'Continue to payment'));
  await press(page, button(page, 'Continue without'));
  await press(page, button(page, /^Pay [\d.]+ SOL$/));
  await page.getByText('Your token is created and listed.').waitFor();
  const link = page.getByRole('link', { name: 'Open its page' });
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Keyboard Otter' }).waitFor();
  expect(await foreignBut(visited.foreign)).toEqual([]);
  expect(visited.complaints).toEqual([]);
});

it('a visitor sees the warnings, estimates and creates an exchange by keyboard', async () => {
  const { users } = await control<Info>('GET /info');
  const page = await open('/exchange');
  expect(await page.getByText('Read this before you pay').isVisible()).toBe(true);
  await write(page, page.getByLabel('Amount'), '0.5');
  await page.keyboard.press('Enter');
  await write(page, page.getByLabel('Your BTC address'), 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq');
  await write(page, page.getByLabel('Your SOL address for a refund'), users[0]?.address ?? '');
  expect(await button(page, 'Create exchange').isDisabled()).toBe(true);
  await tick(page, page.getByLabel('I know that the provider may hold coins and ask for documents'));
  await press(page, button(page, 'Create exchange'));
  await page.getByText('waiting for your payment').waitFor();
  expect(await page.locator('[data-island="exchange"]').innerText()).toContain('0.5 SOL');
  // Without the id in its URL, as in a new tab after this one was closed.
  await page.goto(new URL('/exchange', page.url()).href);
  await page.getByText('waiting for your payment').waitFor();
  expectNothingWrong(visited);
});
