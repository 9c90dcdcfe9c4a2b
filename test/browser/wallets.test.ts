import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNothingWrong,
  holdFinality,
  PHONE,
  picture,
  settled,
  useBrowser,
  type Visit,
  visit,
} from './visit.ts';
import { addWallet, foreignBut } from './wallet.ts';

useBrowser();

let visited: Visit;
afterEach(async () => {
  await visited?.close();
  await holdFinality(false);
});

const withWallet = async (path: string): Promise<string> => {
  let address = '';
  visited = await visit(path, {}, async (page) => {
    address = await addWallet(page);
  });
  return address;
};

it('a visitor deposits USDC and claims the reward in one flow, which continues after a reload', async () => {
  await withWallet('/asry');
  const { page } = visited;
  const deposits = async (): Promise<bigint> => {
    const answer = await page.request.get(new URL('/api/asry/epoch', page.url()).href);
    return BigInt((await answer.json()).current.depositsAtomic);
  };
  const before = await deposits();
  await page.getByLabel('Amount').fill('12.5');
  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  const pay = page.getByRole('button', { name: 'Pay 12.5 USDC and claim' });
  await pay.waitFor();
  await holdFinality(true);
  await pay.click();
  await page.locator('[data-deposit]').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('claim-result');
  // The address of the page holds the deposit from the moment that it was sent.
  await page.reload();
  await page.locator('[data-deposit]').waitFor();
  await holdFinality(false);
  await page.locator('[data-claim="paid"]').waitFor();
  expect(await page.getByLabel('Payment', { exact: true }).innerText()).toContain('12.5 USDC');
  await expect.poll(async () => (await deposits()) - before).toBe(12_493_750n);
  await settled(page);
  await expectAccessible(page);
  await picture(page, 'deposit-claimed');
  expect(await foreignBut(visited.foreign)).toEqual([]);
});

it('a visitor lists an existing token and pays by wallet', async () => {
  await withWallet('/tokens');
  const { page } = visited;
  const named: string[] = [];
  for (const pool of ['pool-default', 'pool-saeth-sausd-default', 'pool-sausd-usdc-default']) {
    const { data } = await (await page.request.get(new URL(`/api/dex/${pool}`, page.url()).href)).json();
    named.push(data.tokenMintA, data.tokenMintB);
  }
  // One mint of the world's pools has a name on the chain; the others are refused with that reason.
  let mint = '';
  for (const address of named) {
    const answer = await page.request.post(new URL('/api/listings/request', page.url()).href, {
      data: { mint_address: address },
    });
    if (answer.ok()) mint = address;
  }
  expect(mint).not.toBe('');
  const field = page.getByLabel('Mint address of the token');
  const request = page.getByRole('button', { name: 'Request listing' });
  await field.fill(mint);
  await request.click();
  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  const pay = page.getByRole('button', { name: /^Pay [\d.]+ SOL$/ });
  await pay.waitFor();
  await holdFinality(true);
  await pay.click();
  await page.getByText('The payment was sent.').waitFor();
  // A reload does not offer to pay a second time.
  await page.reload();
  await page.getByText('The payment was sent.').waitFor();
  expect(await page.getByRole('button', { name: /^Pay / }).count()).toBe(0);
  await picture(page, 'listing-paid');
  await holdFinality(false);
  await page.getByText('The token is listed.').waitFor();
  await page.locator(`.token-tile a[href="/token/${mint}"]`).waitFor();
  const byId = await page.getByRole('link', { name: 'Open its page' }).getAttribute('href');
  const opened = await page.request.get(new URL(String(byId), page.url()).href);
  expect([opened.status(), new URL(opened.url()).pathname]).toEqual([200, `/token/${mint}`]);
  await expectAccessible(page);
  await picture(page, 'listed');
  // A request for the same token has nothing to pay.
  await page.getByRole('button', { name: 'Another request' }).click();
  await field.fill(mint);
  await request.click();
  await page.getByText('This token is already listed. No payment is needed.').waitFor();
  expect(await page.getByRole('link', { name: 'Open its page' }).getAttribute('href')).toBe(byId);
  expect(await page.getByRole('button', { name: 'Connect a wallet' }).count()).toBe(0);
  await expectAccessible(page);
});

it('a phone without a wallet opens the payment with its asset and amount in a wallet app', async () => {
  visited = await visit('/asry', { viewport: PHONE, hasTouch: true, isMobile: true });
  const { page } = visited;
  await page.getByLabel('Asset').selectOption('USDT');
  await page.getByLabel('Amount').fill('12.5');
  const link = page.getByRole('link', { name: 'Pay with Phantom' });
  await expect.poll(() => link.getAttribute('href')).toContain(encodeURIComponent('asset=USDT&amount=12.5'));
  const opened = decodeURIComponent(
    /browse\/([^?]*)/.exec(String(await link.getAttribute('href')))?.[1] ?? '',
  );
  const inApp = await visit(opened);
  await expect.poll(() => inApp.page.getByLabel('Amount').inputValue()).toBe('12.5');
  expect(await inApp.page.getByLabel('Asset').inputValue()).toBe('USDT');
  await inApp.close();
  await page.getByText('Pay without a wallet in this browser').click();
  await expectAccessible(page);
  await picture(page, 'asry-by-hand');
});

describe('when a payment does not happen', () => {
  it('says that the wallet holds too little before the page opens the wallet', async () => {
    await withWallet('/asry');
    const { page } = visited;
    await page.getByLabel('Amount').fill('99999999');
    await page.getByRole('button', { name: 'Connect a wallet' }).click();
    await page.getByRole('button', { name: /and claim$/ }).click();
    await page.getByText('The wallet holds too little of this token.').waitFor();
    expect(await page.locator('[data-island="claim"]').innerText()).toContain('99999999 were entered');
  });

  it('explains what to do when the browser has no wallet', async () => {
    visited = await visit('/asry');
    const { page } = visited;
    await page.getByRole('button', { name: 'Connect a wallet' }).click();
    await page.getByText('No Solana wallet was found in this browser.').waitFor();
    await expectAccessible(page);
    expect(visited.foreign).toEqual([]);
  });
});

it('offers two wallets by their names', async () => {
  visited = await visit('/asry', {}, async (page) => {
    await addWallet(page);
    await page.addInitScript(
      `window.addEventListener('wallet-standard:app-ready', ({ detail }) => detail.register({
        version: '1.0.0', name: 'Second Wallet', icon: 'data:image/svg+xml;base64,PHN2Zy8+', chains: ['solana:mainnet'],
        accounts: [], features: { 'standard:connect': { connect: async () => ({ accounts: [] }) },
        'solana:signTransaction': {} } }))`,
    );
  });
  const { page } = visited;
  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  const list = page.getByRole('list', { name: 'Wallets in this browser' });
  await list.waitFor();
  expect((await list.getByRole('button').allInnerTexts()).sort()).toEqual(['Otter Wallet', 'Second Wallet']);
  await list.getByRole('button', { name: 'Second Wallet' }).click();
  await page.getByText('The wallet has not shared a Solana account.').waitFor();
});

it('a token draft survives a reload and its order; the order needs no picture, but refuses a wrong picture link', async () => {
  const address = await withWallet('/tokens/new');
  const { page } = visited;
  await page.getByLabel('Name', { exact: true }).fill('Half Written');
  await page.getByLabel('Description').fill('Not done yet');
  await page.reload();
  await page.getByText('Half Written').first().waitFor();
  await page.getByLabel('Symbol').fill('HALF');
  await page.getByLabel('Your wallet').fill(address);
  const order = page.getByRole('button', { name: 'Continue to payment' });
  await page.getByLabel('Link to a picture').fill('otter.png');
  await order.click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('token-image');
  await expectAccessible(page);
  await page.getByLabel('Link to a picture').fill('');
  await order.click();
  await page.getByText('No picture: it can never get one.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add one' }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('token-file');
  expect(await page.locator('[data-invoice]').count()).toBe(0);
  await order.click();
  await page.locator('[data-invoice="awaiting_payment"]').waitFor();
  await page.getByRole('button', { name: 'Back to the form' }).click();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half Written');
  expect(await page.getByLabel('Description').inputValue()).toBe('Not done yet');
  await order.click();
  await page.locator('[data-invoice="awaiting_payment"]').waitFor();
});

const PICTURE = 'https://pictures.example/otter.png';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

it.each([
  ['a picture', { contentType: 'image/png', body: PIXEL }, '1 × 1 pixels, too small for wallets.'],
  ['a page in place of a picture', { contentType: 'text/html', body: '<p>no</p>' }, 'does not load'],
])(
  'loads %s once its link is typed, and shows beside the field why wallets cannot use it',
  async (_name, answer, text) => {
    visited = await visit('/tokens/new', {}, (page) => page.route(PICTURE, (route) => route.fulfill(answer)));
    const { page } = visited;
    expect(visited.foreign).toEqual([]);
    await page.getByLabel('Link to a picture').fill(PICTURE);
    await page.locator('.picture-step').getByText(text).waitFor();
    expect(new Set(visited.foreign)).toEqual(new Set([PICTURE]));
  },
);

it('asks once for each link before it orders a token whose locked link leads to no picture', async () => {
  const links = [PICTURE, `${PICTURE}?again`];
  visited = await visit('/tokens/new', {}, (page) =>
    page.route(`${PICTURE}*`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>no</p>' })),
  );
  const { page } = visited;
  await page.getByLabel('Name', { exact: true }).fill('Lost Picture');
  await page.getByLabel('Symbol').fill('LOST');
  await page.getByLabel('Your wallet').fill('7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2');
  for (const link of links) {
    await page.getByLabel('Link to a picture').fill(link);
    await page.getByRole('button', { name: 'Continue to payment' }).click();
    await page.getByText('The picture has not loaded.').waitFor();
  }
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Change the link' }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('token-image');
  expect(await page.locator('[data-invoice]').count()).toBe(0);
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.locator('[data-invoice="awaiting_payment"]').waitFor();
});

it('shrinks a picture file for the preview and the download, and says that the token has no picture until a link is typed', async () => {
  visited = await visit('/tokens/new');
  const { page } = visited;
  await page
    .getByLabel('Choose a picture')
    .setInputFiles(join(import.meta.dirname, '../../site/public/card.png'));
  await page.getByText('512 × 512 pixels').waitFor();
  const shown = page.getByRole('region', { name: 'Preview' }).locator('img');
  await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(512);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Save the small picture' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe('token.webp');
  expect(statSync(await saved.path()).size).toBeLessThanOrEqual(100_000);
  // The file alone is not part of the order.
  await page.getByText('Until then the token has no picture.').waitFor();
  await page.getByText('Without a link, this token never gets a picture.').waitFor();
  await page.getByRole('region', { name: 'Preview' }).getByText('not in the token yet').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Choose a picture').setInputFiles(join(import.meta.dirname, '../../package.json'));
  await page.getByText('This browser cannot read the file as a picture.').waitFor();
  expect(await shown.count()).toBe(0);
  expectNothingWrong(visited);
});
