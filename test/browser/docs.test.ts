/** The API reference in the browser. */
import { expect, it } from 'vitest';
import { useBrowser, visit } from './visit.ts';

useBrowser();

it('/docs opens the interactive reference under its content policy, from this origin only', async () => {
  const { page, complaints, strangers, close } = await visit('/docs');
  await page.getByRole('button', { name: /interactive reference/ }).click();
  await page.locator('.scalar-app').getByText('Process health').first().waitFor();
  expect(await page.locator('#reference').count()).toBe(0);
  expect(complaints).toEqual([]);
  expect(strangers).toEqual([]);
  await close();
});
