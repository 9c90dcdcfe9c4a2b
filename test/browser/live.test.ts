import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { shortened } from '../../site/parts/format.ts';
import { LIVE_PAGES, SERVICE, settled, siteUrl, useBrowser, type Visit, visit } from './visit.ts';

useBrowser();

const open: Visit[] = [];
afterEach(async () => {
  for (const visited of open.splice(0)) await visited.close();
});

/** New figures appear within this time of the page's own clock: one pause, and the time to gather its reads. */
const WITHIN_MS = 16_000;

/** Counts in the page its requests without a complete response. */
const COUNT_REQUESTS = `window.underWay = 0;
const { fetch } = window;
window.fetch = async (...request) => {
  window.underWay += 1;
  try {
    const response = await fetch(...request);
    await response.clone().arrayBuffer();
    return response;
  } finally {
    window.underWay -= 1;
  }
};`;

/**
 * A page of a second visitor. Its timers run only in `pass`, so that the machine's speed decides nothing. Afterwards its
 * clock continues without the API: it can only show what it has requested in that time.
 */
async function watch(url: string): Promise<{ page: Page; pass(): Promise<void> }> {
  const visited = await visit(url, { reducedMotion: 'reduce' }, async (page) => {
    await page.clock.install();
    await page.addInitScript(COUNT_REQUESTS);
  });
  open.push(visited);
  const { page } = visited;
  const responded = () => expect.poll(() => page.evaluate('window.underWay')).toBe(0);
  await settled(page);
  await page.clock.pauseAt(Date.now() + 60_000);
  await responded();
  return {
    page,
    async pass() {
      for (let second = 0; second < WITHIN_MS / 1000; second += 1) {
        await page.clock.runFor(1000);
        await responded();
      }
      await page.route(SERVICE, (route) => route.abort());
      await page.clock.resume();
    },
  };
}

const at = (path: string, origin = siteUrl): string => new URL(path, origin).href;

async function read<T>(path: string, origin = siteUrl): Promise<T> {
  // As a page does after a change: the service reads every value again that is older than its last operation.
  return (await (await fetch(at(path, origin))).json()) as T;
}

/** Polls the API until the answer is as expected, at most until the test's own time limit. */
async function untilApi<T>(path: string, isNew: (answer: T) => boolean, origin = siteUrl): Promise<T> {
  for (;;) {
    const answer = await read<T>(path, origin);
    if (isNew(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

const thousands = (text: string): string => Number(text).toLocaleString('en-US');

type Reserves = {
  readonly bitcoin: { readonly balanceSatoshis: string };
  readonly solana: { readonly balanceLamports: string };
};

describe('new figures appear within 16 seconds without action by the visitor', () => {
  it('shows new figures of the reserve and the history within 16 seconds after a swap', async () => {
    const before = await read<Reserves>('/api/reserves');
    const overview = await watch('/');
    const history = await watch('/swap');
    const created = await fetch(at('/api/swap/create'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `live-${Date.now()}` },
      body: JSON.stringify({ amountSol: 0.4 }),
    });
    expect(created.status).toBeLessThan(300);
    const { id } = (await created.json()) as { id: string };
    await untilApi<{ status: string }>(`/api/swap/status/${id}`, ({ status }) => status === 'finished');
    const { bitcoin } = await untilApi<Reserves>(
      '/api/reserves',
      (answer) => answer.bitcoin.balanceSatoshis !== before.bitcoin.balanceSatoshis,
    );
    await overview.pass();
    await overview.page.locator('.figure.btc .value').getByText(thousands(bitcoin.balanceSatoshis)).waitFor();
    const received = `of ${thousands(bitcoin.balanceSatoshis)} sats did not come from a swap`;
    await overview.page.getByText(received).waitFor();
    await history.pass();
    const newest = history.page.getByRole('region', { name: 'Swaps that landed, newest first' });
    const row = newest.getByRole('row').nth(1);
    await row.getByText(shortened(id)).waitFor();
    await row.getByText('finished').waitFor();
  });
});

it.each(['/', '/reserves', '/status'])(
  'an open tab on %s sends at most 30 requests in 5 minutes',
  async (path) => {
    let sent = 0;
    const visited = await visit(path, {}, async (page) => {
      await page.clock.install();
      page.on('request', (request) => {
        if (SERVICE.test(request.url())) sent += 1;
      });
    });
    open.push(visited);
    await settled(visited.page);
    for (let second = 0; second < 300; second += 5) {
      await visited.page.clock.runFor(5_000);
      await visited.page.waitForLoadState('networkidle');
    }
    expect(sent).toBeGreaterThanOrEqual(20);
    expect(sent).toBeLessThanOrEqual(30);
  },
);

it.each(LIVE_PAGES)(
  '%s does not call figures "now" when they are 8 minutes old, and writes 1 with a singular',
  async (path) => {
    const visited = await visit(path, {}, (page) => page.clock.setFixedTime(Date.now() + 8 * 60_000));
    open.push(visited);
    await settled(visited.page);
    // The name of a button says nothing about a figure.
    const text = (await visited.page.locator('main').innerText()).replaceAll('Check it now', '');
    expect(text).not.toMatch(/\bnow\b/i);
    expect(text).not.toMatch(/\b1 (?:days|hours|minutes|seconds|claims|posts|relays|decimals|operations)\b/);
  },
);
