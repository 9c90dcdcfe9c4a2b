/** A creator on a phone pays an order once, whatever happens to the tab, the wallet or the network. */
import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  control,
  expectAccessible,
  holdFinality,
  orderWithoutPicture,
  PHONE,
  picture,
  shownAddress,
  siteUrl,
  useBrowser,
  type Visit,
  visit,
} from './visit.ts';
import { addWallet, type Info, type WalletOptions } from './wallet.ts';

useBrowser();

const open: Visit[] = [];
afterEach(async () => {
  for (const visited of open.splice(0)) await visited.close();
  await holdFinality(false);
});

/** Notes in the page whether it has ever offered to pay, even for one frame. */
const NOTE_OFFERS = `window.hasOffered = false;
new MutationObserver(() => {
  window.hasOffered ||= document.querySelector('main .payment') !== null;
}).observe(document, { childList: true, subtree: true });`;

/** Another page of the same browser. */
async function newTab(of: Page, path: string, wallet: WalletOptions): Promise<Page> {
  const page = await of.context().newPage();
  await addWallet(page, wallet);
  await page.addInitScript(NOTE_OFFERS);
  await page.goto(new URL(path, siteUrl).href);
  return page;
}

const payButton = (page: Page) => page.getByRole('button', { name: /^Pay [\d.]+ SOL$/ });
const enabled = (target: Locator) => target.and(target.page().locator(':enabled'));

type Order = { readonly page: Page; readonly id: string; sent(): number };

/** An order that is ready to be paid with a connected wallet. */
async function order(wallet: WalletOptions, prepare?: (page: Page) => Promise<unknown>): Promise<Order> {
  let sent = 0;
  const visited = await visit(
    '/tokens/new',
    { viewport: PHONE, hasTouch: true, isMobile: true },
    async (page) => {
      await addWallet(page, { onSent: () => (sent += 1), ...wallet });
      await prepare?.(page);
    },
  );
  open.push(visited);
  const { page } = visited;
  const { users } = await control<Info>('GET /info');
  await page.getByLabel('Name', { exact: true }).fill('Paid Once');
  await page.getByLabel('Symbol').fill('ONCE');
  await page.getByLabel('Supply').fill('1,000,000');
  await page.getByLabel('Your wallet').fill(users[0]?.address ?? '');
  await orderWithoutPicture(page);
  await page.locator('[data-invoice="awaiting_payment"]').waitFor();
  expect(await page.locator('svg.qr').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Connect a wallet' }).click();
  const id = (await shownAddress(page)).searchParams.get('invoice') ?? '';
  return { page, id, sent: () => sent };
}

type Paid = {
  readonly detail: string;
  readonly received_lamports: string;
  readonly fee_lamports: number;
  readonly refunds: unknown[];
};

/** The order is completed with exactly one payment. */
async function expectPaidOnce({ page, id, sent }: Order, shown = page): Promise<void> {
  await shown.getByText('Your token is created and listed.').waitFor();
  const invoice: Paid = await (await shown.request.get(new URL(`/api/invoices/${id}`, siteUrl).href)).json();
  expect(invoice).toMatchObject({
    detail: 'completed',
    received_lamports: String(invoice.fee_lamports),
    refunds: [],
  });
  expect(sent()).toBe(1);
}

/** A second payment of a completed order names what comes back, to whom, and who sends it. */
async function expectSecondPaymentReturned({ page, id }: Order): Promise<void> {
  const { users } = await control<Info>('GET /info');
  const invoice = await (await page.request.get(new URL(`/api/invoices/${id}`, siteUrl).href)).json();
  const { signature } = await control<{ signature: string }>('POST /transfer', {
    to: invoice.treasury_address,
    amount: invoice.amount,
    references: [invoice.reference],
  });
  const confirmed = await page.request.post(new URL('/api/invoices/confirm', siteUrl).href, {
    data: { invoice_id: id, tx_signature: signature },
  });
  expect([confirmed.ok(), await confirmed.text()]).toEqual([true, expect.any(String)]);
  // A confirm may end before the payment is final; the search for payments finds it within a minute.
  const readOrder = async () => (await fetch(new URL(`/api/invoices/${id}`, siteUrl))).json();
  await expect.poll(readOrder).toMatchObject({ refunds: [expect.anything()] });
  await page.reload();
  const refunds = page.getByRole('list', { name: 'Refunds' });
  await refunds.waitFor();
  const text = await refunds.innerText();
  expect(text).toContain(`${invoice.amount} SOL come back: a second payment for the same order.`);
  expect(text).toMatch(new RegExp(`To be paid to\\s*${users[0]?.address.slice(0, 6)}`));
  expect(text).toContain('The operator starts it by hand.');
  await expectAccessible(page);
  await picture(page, 'order-double');
}

describe('a sent payment is never requested again', () => {
  it('a sent payment is not requested again, even after a reload or in another browser; a second payment is refunded', async () => {
    const paid = await order({});
    const { page, id } = paid;
    await payButton(page).waitFor();
    await holdFinality(true);
    await payButton(page).click();
    const read = async () => (await fetch(new URL(`/api/invoices/${id}`, siteUrl))).json();
    await expect.poll(read).toMatchObject({ detail: 'seen' });
    await picture(page, 'order-sent');
    await page.reload();
    await page.getByText('The payment was sent. Do not pay again').waitFor();
    expect(await payButton(page).count()).toBe(0);
    const other = await visit(`/tokens/new?invoice=${id}`);
    open.push(other);
    await other.page.getByText('Payment seen; waiting until it is final').waitFor();
    expect(await other.page.getByRole('button', { name: 'Connect a wallet' }).count()).toBe(0);
    await expectAccessible(other.page);
    await holdFinality(false);
    await expectPaidOnce(paid);
    await expectAccessible(page);
    await picture(page, 'order-completed');
    await expectSecondPaymentReturned(paid);
  });

  it('does not request a payment again if its tab was closed before the wallet responded', async () => {
    const paid = await order({ behaviour: 'send-silently' });
    await payButton(paid.page).click();
    await expect.poll(paid.sent).toBe(1);
    const page = await newTab(paid.page, '/tokens', {});
    await paid.page.close();
    await page.getByText('You have an unfinished order.').waitFor();
    await page.goto(new URL('/tokens/new', siteUrl).href);
    await page.getByText('You have an unfinished order.').waitFor();
    await expectAccessible(page);
    await picture(page, 'order-resume');
    await page.getByRole('link', { name: 'Resume your order' }).click();
    await page
      .getByText(/Your wallet was asked to pay this order|Your token is created and listed/)
      .first()
      .waitFor();
    expect(await payButton(page).count()).toBe(0);
    await expectPaidOnce(paid, page);
    await page.goto(new URL('/tokens/new', siteUrl).href);
    await page.getByLabel('Name', { exact: true }).waitFor();
    expect(await page.getByText('You have an unfinished order.').count()).toBe(0);
  });

  it('a second tab does not request the payment while the wallet in the first tab is still open', async () => {
    const waiting = await order({ behaviour: 'ignore' });
    const { page } = waiting;
    await payButton(page).click();
    await page.getByText('Approve the payment in your wallet.').waitFor();
    const second = await newTab(page, `/tokens/new?invoice=${waiting.id}`, {});
    await second.getByText('Your wallet was asked to pay this order.').waitFor();
    expect(await second.evaluate('window.hasOffered')).toBe(false);
    await expectAccessible(second);
    // The visitor knows better; the first tab still has the wallet's window.
    await second.getByRole('button', { name: 'I did not approve it' }).click();
    await second.getByRole('button', { name: 'Connect a wallet' }).click();
    await payButton(second).click();
    await second.getByText('Another tab is asking your wallet to pay this.').waitFor();
    expect(waiting.sent()).toBe(0);
  });
});

it('shows that the payment was not made if the signature never lands, and offers to pay again', async () => {
  const kept = await order({ behaviour: 'keep' }, (page) => page.clock.install());
  const { page } = kept;
  const confirmed = page.waitForResponse('**/api/invoices/confirm');
  await payButton(page).click();
  await page.getByText('The payment was sent. Do not pay again').waitFor();
  // The first confirmation ends, then the time in which a transaction can land is over.
  await confirmed;
  await page.clock.fastForward(3 * 60_000 + 10_000);
  await page.getByText('Your payment has expired and was not made.').waitFor();
  await expectAccessible(page);
  await picture(page, 'order-expired');
  await page.getByRole('button', { name: 'Pay again' }).click();
  await payButton(page).waitFor();
  expect(kept.sent()).toBe(0);
});

describe('the visitor can retry a payment that was not sent', () => {
  it('lets the visitor pay again after the wallet rejected the payment', async () => {
    const { page, sent } = await order({ behaviour: 'reject' });
    await payButton(page).click();
    await page.getByText('You declined in the wallet.').waitFor();
    await enabled(payButton(page)).waitFor();
    expect(await page.locator('[data-invoice="awaiting_payment"]').count()).toBe(1);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('button', { name: 'Connect a wallet' }).waitFor();
    expect(await page.getByText('Your wallet was asked').count()).toBe(0);
    expect(sent()).toBe(0);
  });

  it('lets the visitor pay again after the wallet was on the wrong network', async () => {
    const { page, sent } = await order({ chains: ['solana:devnet'] });
    await page.getByText('The wallet is not on Solana mainnet.').waitFor();
    expect(await page.locator('main').innerText()).toContain('Switch the network');
    expect(await payButton(page).count()).toBe(0);
    expect(sent()).toBe(0);
  });
});

it('the page of an order has a title of its own, and says in its own words that a link leads to no order', async () => {
  const visited = await visit('/tokens/new?invoice=nope');
  open.push(visited);
  const { page } = visited;
  await page.getByText('There is no order at this link.').waitFor();
  expect(await page.title()).toBe('Your order · Sluice');
  expect(await page.locator('main').innerText()).not.toMatch(/invoice|\bid\b/);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Back to the form' }).click();
  await expect.poll(() => page.title()).toBe('Create a token · Sluice');
});

it('a phone without a wallet opens the form with its entries, and then the order, in a wallet app', async () => {
  const visited = await visit('/tokens/new', { viewport: PHONE, hasTouch: true, isMobile: true });
  open.push(visited);
  const { page } = visited;
  const { users } = await control<Info>('GET /info');
  await page.getByLabel('Name', { exact: true }).fill('On a phone');
  await page.getByLabel('Symbol').fill('PHONE');
  const phantom = page.getByRole('link', { name: 'Get address from Phantom' });
  const opens = (href: string): string =>
    `https://phantom.app/ul/browse/${encodeURIComponent(href)}?ref=${encodeURIComponent(siteUrl)}`;
  await page.getByLabel('Can the token be divided?').selectOption('whole');
  await page.getByLabel('Lock its name').uncheck();
  const form = new URL('/tokens/new?name=On+a+phone&symbol=PHONE&decimals=0&keepEditing=true', siteUrl).href;
  await expect.poll(() => phantom.getAttribute('href')).toBe(opens(form));
  const inApp = await visit(form);
  open.push(inApp);
  await expect.poll(() => inApp.page.getByLabel('Symbol').inputValue()).toBe('PHONE');
  expect(await inApp.page.getByLabel('Can the token be divided?').inputValue()).toBe('whole');
  expect(await inApp.page.getByLabel('Lock its name').isChecked()).toBe(false);
  // A reload keeps what was changed since.
  await inApp.page.getByLabel('Symbol').fill('CHANGED');
  await inApp.page.reload();
  await expect.poll(() => inApp.page.getByLabel('Symbol').inputValue()).toBe('CHANGED');
  await page.getByLabel('Your wallet').fill(users[0]?.address ?? '');
  await page.getByLabel('Lock its name').check();
  await orderWithoutPicture(page);
  await page.locator('[data-invoice]').waitFor();
  const pay = page.getByRole('link', { name: 'Pay with Phantom' });
  expect(await pay.getAttribute('href')).toBe(opens((await shownAddress(page)).href));
  expect(await page.getByRole('link', { name: 'Another wallet' }).getAttribute('href')).toMatch(/^solana:/);
  await page.getByText('Pay by hand or QR code').click();
  expect(await page.locator('svg.qr').isVisible()).toBe(true);
  await expectAccessible(page);
  await picture(page, 'pay-on-phone');
  expect(visited.foreign).toEqual([]);
});
