import { afterEach, expect, it } from 'vitest';
import { readCode } from '../site/read-code.ts';
import {
  control,
  expectAccessible,
  expectNothingWrong,
  orderWithoutPicture,
  picture,
  settled,
  shownAddress,
  useBrowser,
  type Visit,
  visit,
} from './visit.ts';

useBrowser();

let visited: Visit;
afterEach(() => visited?.close());

import type { Info } from './wallet.ts';

it('a visitor quotes and starts a swap, and sees both transactions when it is finished', async () => {
  visited = await visit('/swap');
  const { page } = visited;
  await page.getByLabel('SOL of the reserve to swap').fill('0.4');
  await page.getByRole('button', { name: 'Get quote' }).click();
  await page.getByText('Guaranteed by the bridge').waitFor();
  expect(await page.getByLabel('Quote').innerText()).toMatch(/0\.4 SOL[\s\S]*sats/);
  const start = page.getByRole('button', { name: 'Start swap' });
  expect(await start.isDisabled()).toBe(true);
  await page.getByLabel('This moves the reserve').check();
  await start.click();
  await page.locator('[data-swap-status]').waitFor();
  expect((await shownAddress(page)).searchParams.get('swap')).toMatch(/^\w{64,88}$/);
  // The address of the page is enough to find it again.
  await page.reload();
  await page.locator('[data-swap-status="finished"]').waitFor();
  await picture(page, 'swap-finished');
  const progress = page.getByRole('list', { name: 'Progress of the swap' });
  expect(await progress.locator('a code').allInnerTexts()).toEqual([
    expect.stringMatching(/^\w{6}…\w{6}$/),
    expect.stringMatching(/^[0-9a-f]{6}…[0-9a-f]{6}$/),
  ]);
  // Explorers have nothing of a simulated chain.
  expect(await progress.getByRole('link').count()).toBe(0);
  await expectAccessible(page);
  await page.reload();
  await page
    .getByRole('region', { name: 'Swaps that landed, newest first' })
    .getByText('finished')
    .first()
    .waitFor();
  expectNothingWrong(visited);
});

it('a creator fills in a form, pays with the QR code and gets a listed token without pasting anything', async () => {
  const { users } = await control<Info>('GET /info');
  visited = await visit('/tokens/new');
  const { page } = visited;
  const name = `River Otter ${Date.now() % 100_000}`;
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Symbol').fill('OTTER');
  await page.getByLabel('Supply').fill('2500.5');
  await page.getByText('Advanced: decimals').click();
  await page.getByLabel('Decimals').fill('3');
  const preview = page.getByRole('region', { name: 'Preview' });
  expect(await preview.innerText()).toMatch(/OTTER.*2,500\.5/s);
  await page.getByText('What the price pays for').click();
  await page.getByRole('region', { name: 'Price' }).getByText('Rent of the mint').waitFor();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByText(/^A Solana address of 32 to 44/).waitFor();
  await page.getByLabel('Your wallet').fill(users[0]?.address ?? '');
  await orderWithoutPicture(page);
  await page.locator('[data-invoice="awaiting_payment"]').waitFor();
  await expectAccessible(page);
  await picture(page, 'invoice');

  const code = page.locator('svg.qr');
  const read = readCode(
    (await code.getAttribute('viewBox')) ?? '',
    (await code.locator('path').last().getAttribute('d')) ?? '',
  );
  expect(read).toBe(await page.getByRole('link', { name: 'Another wallet' }).getAttribute('href'));
  const url = new URL(read);
  expect(url.protocol).toBe('solana:');
  await control('POST /transfer', {
    to: url.pathname,
    amount: url.searchParams.get('amount'),
    references: [url.searchParams.get('reference')],
  });
  await page.getByText('Your token is created and listed.').waitFor();
  const card = page.getByRole('figure', { name: 'The link in a chat' });
  await card.waitFor();
  const inChat = await card.locator('figcaption bdi').allInnerTexts();
  await page.getByRole('link', { name: 'Open its page' }).click();
  const head = page.locator('.token-head');
  await head.getByRole('heading', { name }).waitFor();
  await head.getByText('supply fixed', { exact: true }).waitFor();
  expect(await page.locator('main').innerText()).toContain('2,500.5');
  const [title, description] = await Promise.all(
    ['title', 'description'].map((name) => page.getAttribute(`meta[property="og:${name}"]`, 'content')),
  );
  expect(inChat).toEqual([title, description]);
  await settled(page);
  await expectAccessible(page);
  await picture(page, 'token');

  await page.goto(new URL('/tokens', page.url()).href);
  await page.getByLabel('Search by name, symbol or address').fill(name.toLowerCase());
  await page.getByText('found, best matches first').waitFor();
  expect(await page.locator('.token-tile a').allInnerTexts()).toEqual([name]);
  await expectAccessible(page);
  expectNothingWrong(visited);
});

/** Notes in the page what it announces, because it takes some announcements back after a moment. */
const NOTE_STATUSES = `window.statuses = [];
new MutationObserver(() => {
  for (const { textContent } of document.querySelectorAll('[role="status"]')) window.statuses.push(textContent);
}).observe(document, { childList: true, characterData: true, subtree: true });`;

it('an agent developer copies a configuration for this site and tries a tool', async () => {
  visited = await visit('/agents', { permissions: ['clipboard-read', 'clipboard-write'] }, (page) =>
    page.addInitScript(NOTE_STATUSES),
  );
  const { page } = visited;
  const { origin } = new URL(page.url());
  // The page's script puts the origin in place of a prerendered one.
  await page.getByRole('region', { name: 'the MCP address' }).getByText(`${origin}/mcp`).waitFor();
  await page.getByRole('button', { name: 'Copy the MCP address' }).click();
  await page.waitForFunction(() => Reflect.get(window, 'statuses').includes('the MCP address: Copied'));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${origin}/mcp`);
  // The arrow keys move along the tabs; each client gets its own text for this origin.
  await page.getByRole('tab', { name: 'Claude Code', exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  const next = page.locator('[role="tab"][aria-selected="true"]').first();
  const client = await next.innerText();
  expect(client).not.toBe('Claude Code');
  const shown = await page.getByRole('region', { name: `the configuration for ${client}` }).innerText();
  expect(shown).toContain(`${origin}/mcp`);
  await page.getByRole('button', { name: 'get_reserves' }).click();
  const answer = page.getByRole('region', { name: 'the response of get_reserves' });
  await answer.waitFor();
  expect(JSON.parse(await answer.innerText())).toMatchObject({ stale: false });
  await page.getByRole('link', { name: 'API reference' }).first().click();
  await page.waitForURL('**/docs');
});

it('a reader pages back in the feed and selects other labels', async () => {
  visited = await visit('/nostr');
  const { page } = visited;
  const posts = page.locator('[data-island="feed"] .post');
  await posts.nth(9).waitFor();
  await page.locator('[data-island="feed"]').getByRole('button', { name: 'Older posts' }).click();
  await posts.nth(19).waitFor();
  const links = await page.locator('[data-island="feed"] a[href*="njump.me"]').all();
  const events = await Promise.all(links.map((link) => link.getAttribute('href')));
  expect(new Set(events).size).toBe(events.length);
  await page.getByLabel('Labels').fill('no-such-label');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('No post matches.').waitFor();
  expectNothingWrong(visited);
});
