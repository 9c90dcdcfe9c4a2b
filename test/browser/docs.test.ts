/** The API reference in the browser. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { expectAccessible, expectNothingWrong, PHONE, siteUrl, useBrowser, visit } from './visit.ts';

useBrowser();

const TRANSFER_BYTES = 400 * 1024;

it('the docs page loads less than 400 KB in total and has the header of the other pages', async () => {
  const sizes: Promise<number>[] = [];
  let isLoading = true;
  const visited = await visit('/docs', {}, async (page) => {
    page.on('response', (response) => {
      if (isLoading && response.status() === 200)
        sizes.push(response.body().then((body) => gzipSync(body, { level: 6 }).length));
    });
  });
  const { page } = visited;
  await page.waitForLoadState('networkidle');
  isLoading = false;
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(sizes.length).toBeGreaterThan(4);
  expect(total).toBeLessThan(TRANSFER_BYTES);
  const names = await page.locator('header nav').getByRole('button').allInnerTexts();
  expect(names).toEqual(['Reserve', 'Use', 'Read', 'Build']);
  await page.getByRole('button', { name: 'Build' }).click();
  expect(await page.locator('header [aria-current="page"]:visible').innerText()).toContain('API reference');
  await page.getByRole('link', { name: 'Sluice', exact: true }).click();
  await page.waitForURL(/\/$/);
  expectNothingWrong(visited);
  await visited.close();
});

it('the docs page finds an operation by a word and sends a read', async () => {
  const visited = await visit('/docs', { viewport: PHONE });
  const { page } = visited;
  await page.getByLabel('Find an operation').fill('swap bounds');
  await page.getByText('1 operation found.').waitFor();
  await page.locator('summary').filter({ hasText: '/api/swap/min' }).click();
  await page.getByRole('tab', { name: 'MCP' }).click();
  const call = page.getByRole('region', { name: 'the tool call for /api/swap/min' });
  expect(await call.innerText()).toContain(`${siteUrl}/mcp`);
  expect(await call.innerText()).toContain('"name":"swap_min"');
  await page.getByRole('button', { name: 'Send request' }).click();
  const answer = page.getByRole('region', { name: 'the response of /api/swap/min' });
  await answer.waitFor();
  expect(JSON.parse(await answer.innerText())).toHaveProperty('minAmountLamports');
  await page.getByLabel('Find an operation').fill('nothing like this');
  await page.getByText('No operation matches.').waitFor();
  expectNothingWrong(visited);
  await visited.close();
});

it('a link to an operation opens it, and the page does not send a call that moves money', async () => {
  const visited = await visit('/docs#createSwap');
  const { page } = visited;
  const shown = page.locator('#createSwap');
  await shown.getByText('Swaps reserve SOL to BTC').waitFor();
  const command = shown.getByRole('region', { name: 'the command for /api/swap/create' });
  // The page's script puts the origin in place of a prerendered one.
  await command.getByText(`${siteUrl}/api/swap/create`).waitFor();
  expect(await command.innerText()).toContain('"idempotency-key: $KEY"');
  expect(await shown.getByRole('button', { name: 'Send request' }).count()).toBe(0);
  expectNothingWrong(visited);
  await visited.close();
});

it.each(['listings/search*', 'reserves'])('the search says that %s does not respond', async (path) => {
  const visited = await visit('/docs', {}, (page) => page.route(`**/api/${path}`, (route) => route.abort()));
  const { page } = visited;
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox').fill('river');
  await page.getByText('The API does not respond: tokens and addresses').waitFor();
  await visited.close();
});

it('the search offers no page for an address that nothing has, and finds ABSR by its mint', async () => {
  const visited = await visit('/docs');
  const { page } = visited;
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox').fill('So11111111111111111111111111111111111111112');
  await page.getByText('No token, no creator of a listed token').waitFor();
  expect(await page.getByRole('option').count()).toBe(0);
  await expectAccessible(page);
  const { absrMint } = (await (await fetch(new URL('/api/arbitrage/summary', siteUrl))).json()) as {
    absrMint: string;
  };
  await page.getByRole('combobox').fill(absrMint);
  await page.getByRole('option').first().waitFor();
  expect(
    await page.getByRole('option').evaluateAll((hits) => hits.map((hit) => hit.getAttribute('href'))),
  ).toEqual([`/token/${absrMint}`]);
  // The reads that find nothing are on the console, as 404.
  expect(visited.foreign).toEqual([]);
  await visited.close();
});
