import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Token } from '../../packages/client/src/index.ts';
import { HOSTILE_TEXTS } from '../site/hostile-texts.ts';
import { settled, useBrowser, visit } from './visit.ts';

useBrowser();

type Json = Record<string, unknown>;

const token = (text: string, id: number): Token => ({
  id,
  name: text,
  symbol: text,
  decimals: 6,
  supply: '1',
  supply_ui: '0.000001',
  mint_address: text,
  creator_address: text,
  token_program: 'token',
  mint_authority: text,
  freeze_authority: text,
  update_authority: text,
  powers: [],
  as_of: '2026-11-20T10:00:00.000Z',
  stale: false,
  description: text,
  image: text,
  uri: text,
  created_at: '2026-11-20T10:00:00.000Z',
  listed_at: null,
  warning: null,
});
const post = (text: string, index: number): Json => ({
  id: String(index),
  pubkey: text,
  created_at: 1_795_195_475 - index,
  content: text,
  kind: 1111,
  labels: [text],
  content_warning: index % 2 === 0 ? null : text,
  root: { tag: 'I', value: text, kind: 'web', url: text },
  nevent: text,
});
const feed = {
  ok: true,
  error: null,
  relays: [],
  limit: 50,
  until: null,
  ai_only: true,
  topic_labels: null,
  posts: HOSTILE_TEXTS.map(post),
  next_until: null,
  next_cursor: null,
  relay_status: HOSTILE_TEXTS.map((relay) => ({
    relay,
    ok: false,
    state: relay,
    events: 0,
    partial: false,
    rejected: 0,
  })),
  as_of: '2026-11-20T10:00:00.000Z',
  stale: false,
};
const stats = {
  ok: true,
  totals: { pageviews: 1, last_24h: 1, last_7d: 1, visitors_24h: 1, filtered_bots: 0 },
  by_path: HOSTILE_TEXTS.map((path) => ({ path, count: 1 })),
  by_referrer: HOSTILE_TEXTS.map((host) => ({ host, count: 1 })),
  recent: HOSTILE_TEXTS.map((text) => ({
    t: '2026-11-20T10:00:00.000Z',
    path: text,
    referrer: text,
    ip: text,
  })),
  series: [],
  series_hourly: [],
  as_of: '2026-11-20T10:00:00.000Z',
};

/** Answers one operation with `json`, whether the page reads it alone or together with others. */
async function answer(page: Page, path: string, json: unknown): Promise<void> {
  await page.route(`**${path}`, (route) => route.fulfill({ json }));
  await page.route('**/read?*', async (route) => {
    const asked = new URL(route.request().url()).searchParams.getAll('of');
    const response = await route.fetch();
    const parts: Json[] = await response.json();
    const isMeant = (at: number): boolean =>
      new RegExp(`^${path.replace('**', '.*')}$`).test(asked[at] ?? '');
    await route.fulfill({
      response,
      json: parts.map((part, at) =>
        isMeant(at) ? { ...part, status: 200, body: JSON.stringify(json) } : part,
      ),
    });
  });
}

/** Runs in the page: each script, frame, handler or unsafe link that a text has created. */
const findings = (): string[] => {
  const found: string[] = [];
  if ('__pwned' in window) found.push('a script of the text ran');
  const bad =
    'main script, main iframe, main object, main embed, main img:not([src="/absr.svg"], [src="/asry.svg"]), main style, main form[action], main base, main video, main marquee, main template';
  for (const element of document.querySelectorAll(bad)) found.push(element.outerHTML.slice(0, 100));
  for (const element of document.querySelectorAll('body *'))
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on') || name === 'srcdoc') found.push(`${element.tagName} ${name}`);
      if (name === 'href' && !/^(https?:\/\/|\/|#|solana:)/.test(value)) found.push(`href ${value}`);
    }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
    found.push('it widens the page');
  return found;
};

describe.each([
  ['posts', '/nostr', '/api/nostr/**', feed, '[data-island="feed"] .post', 50],
  [
    'referrers and paths',
    '/visitors',
    '/api/analytics/stats',
    stats,
    '[data-island="visitors"] tbody tr',
    24,
  ],
  ['token names', '/tokens', '/api/tokens', { tokens: HOSTILE_TEXTS.map(token) }, '.token-tile', 50],
] as const)('%s of unknown authors', (_name, path, route, json, rows, count) => {
  it('hostile names stay text in the browser and run, load or insert nothing', async () => {
    const visited = await visit(path, { viewport: { width: 390, height: 844 } }, (page) =>
      answer(page, route, json),
    );
    const { page } = visited;
    await page
      .locator(rows)
      .nth(count - 1)
      .waitFor({ state: 'attached' });
    await settled(page);
    // A handler would run when the mouse is over its element.
    await page.evaluate(() => {
      for (const element of document.querySelectorAll('main *')) {
        element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        if (element instanceof HTMLDetailsElement) element.open = true;
      }
    });
    expect(await page.evaluate(findings)).toEqual([]);
    const shown = await page.locator('main').evaluate((main) => main.textContent ?? '');
    for (const text of HOSTILE_TEXTS.slice(0, 12)) expect(shown).toContain(text);
    expect(visited.foreign).toEqual([]);
    expect(visited.complaints).toEqual([]);
    await visited.close();
  });
});
