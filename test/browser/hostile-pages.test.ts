import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { exampleOf } from '../kit/example.ts';
import { HOSTILE_TEXTS, postOf, tokenOf } from '../site/hostile-texts.ts';
import { settled, useBrowser, visit } from './visit.ts';

useBrowser();

type Json = Record<string, unknown>;

const named = (...members: readonly string[]) =>
  HOSTILE_TEXTS.map((text) => Object.fromEntries(members.map((member) => [member, text])));
const [relay] = exampleOf('getNostrFeed').relay_status;
const feed = {
  ...exampleOf('getNostrFeed'),
  posts: HOSTILE_TEXTS.map((text, id) => ({
    ...{ ...postOf(text), id: String(id) },
    content_warning: id % 2 === 0 ? null : text,
  })),
  next_cursor: null,
  relay_status: named('relay', 'state').map((texts) => ({ ...relay, ok: false, ...texts })),
};
const visits = exampleOf('getAnalyticsStats');
const stats = {
  ...visits,
  by_path: named('path').map((texts) => ({ ...texts, count: 1 })),
  by_referrer: named('host').map((texts) => ({ ...texts, count: 1 })),
  recent: named('path', 'referrer', 'ip').map((texts) => ({ ...visits.recent[0], ...texts })),
};
const tokens = HOSTILE_TEXTS.map((text, id) => ({ ...tokenOf(text), id }));

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
  ['token names', '/tokens', '/api/tokens', { tokens }, '.token-tile', 50],
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
