import type { Page, Route } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import {
  expectAccessible,
  expectNothingWrong,
  picture,
  siteUrl,
  useBrowser,
  type Visit,
  visit,
} from './visit.ts';

useBrowser();

let visited: Visit | undefined;
afterEach(() => visited?.close());

const CHECKS = ['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'minting', 'freshness'];

type Found = { readonly green: string[]; readonly red: string[]; readonly amber: string[] };

/** The lines of each colour after the check has run once. */
async function checked(
  prepare?: (page: Page) => Promise<unknown>,
  path = '/reserves',
  act: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Found> {
  visited = await visit(path, {}, prepare);
  const { page } = visited;
  await page.getByRole('button', { name: 'Check it now' }).click();
  await act(page);
  await page.locator('main [role="status"] .notice').first().waitFor();
  const named = (kind: string): Promise<string[]> =>
    page
      .locator(`.checks .${kind}`)
      .evaluateAll((lines) => lines.map((line) => line.getAttribute('data-check') ?? ''));
  return { green: await named('ok'), red: await named('red'), amber: await named('unsure') };
}

it('the heading of the overview stays in its place while the check shows its findings', async () => {
  visited = await visit('/');
  const { page } = visited;
  const heading = page.locator('h1');
  const before = await heading.boundingBox();
  await page.getByRole('button', { name: 'Check it now' }).click();
  await page
    .locator('.checks .ok')
    .nth(CHECKS.length - 1)
    .waitFor();
  expect(await heading.boundingBox()).toEqual(before);
});

type Json = Record<string, unknown>;

/** The real answer, altered on its way to the page. */
const altering =
  (alter: (answer: Json) => unknown) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch();
    await route.fulfill({ response, json: alter(await response.json()) });
  };

const short = (coverage: unknown): Json => ({ ...(coverage as Json), state: 'short' });

const otherDigit = (digit: string): string => (digit === '1' ? '2' : '1');
const proofWith = (alter: (proof: Json) => unknown) => (page: Page) =>
  page.route('**/api/proof', altering(alter));

it.each(['/', '/reserves'])(
  'all six lines on %s are green for a valid proof, and the check contacts only the named sources',
  async (path) => {
    const sources = (await (await fetch(new URL('/verify-sources.json', siteUrl))).json()) as {
      explorers: string[];
      rpcUrls: string[];
    };
    expect((await checked(undefined, path)).green).toEqual(CHECKS);
    expect(await visited?.page.locator('main').innerText()).toContain('All six checks pass.');
    if (visited) {
      await picture(visited.page, `checked${path.replace('/', '-')}`);
      await expectAccessible(visited.page);
    }
    const asked = new Set(visited?.foreign.map((url) => new URL(url).origin));
    const named = [...sources.explorers, sources.rpcUrls[0] ?? ''].map((url) => new URL(url).origin);
    expect([...asked].sort()).toEqual(named.sort());
    expect(visited?.complaints).toEqual([]);
    // Each finding leads to the page of the explorer that shows it.
    const links = await visited?.page
      .locator('.checks a')
      .evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute('href') ?? ''));
    const origins = sources.explorers.map((url) => new URL(url).origin);
    for (const origin of origins) {
      expect(links?.some((href) => href.startsWith(`${origin}/address/bc1`))).toBe(true);
      expect(links?.some((href) => href.startsWith(`${origin}/block/`))).toBe(true);
    }
  },
);

it('both signatures are red when one digit of the message was changed', async () => {
  const found = await checked(
    proofWith((proof) => ({
      ...proof,
      message: String(proof.message).replace(/(?<=Solana lamports: )\d/, otherDigit),
    })),
  );
  expect(found).toEqual({
    green: ['reserve', 'supply', 'minting', 'freshness'],
    red: ['bitcoin_signature', 'solana_signature'],
    amber: [],
  });
  expect(await visited?.page.locator('.verdict-card').innerText()).toContain(
    "Do not rely on this site's figures",
  );
});

const foreign = (url: URL): boolean => url.origin !== siteUrl;

it('no line is red on an honest proof while all explorers and nodes are blocked', async () => {
  const found = await checked((page) => page.route(foreign, (route) => route.abort()), '/');
  expect(found).toEqual({
    green: ['bitcoin_signature', 'solana_signature'],
    red: [],
    amber: ['reserve', 'supply', 'minting', 'freshness'],
  });
  const text = await visited?.page.locator('main [role="status"] .notice').innerText();
  expect(text).toContain('No source contradicts the proof.');
  expect(text).toContain('Four checks could not be made');
  if (visited) await expectAccessible(visited.page);
});

const isService = ({ origin, pathname }: URL): boolean =>
  origin === siteUrl && /^\/(api\/|read$)/.test(pathname);

it('the check compares the proof that the page has while the service does not respond', async () => {
  visited = await visit('/');
  const { page } = visited;
  await page.getByText('Bitcoin key and Solana key').waitFor();
  await page.route(isService, (route) => route.abort());
  await page.getByRole('button', { name: 'Check it now' }).click();
  await page.locator('main [role="status"]').getByText('All six checks pass.').waitFor();
});

it('a check that cannot be loaded says that the chains do not depend on the service', async () => {
  visited = await visit('/');
  const { page } = visited;
  await page.getByText('Bitcoin key and Solana key').waitFor();
  await page.route(
    ({ origin }) => origin === siteUrl,
    (route) => route.abort(),
  );
  await page.getByRole('button', { name: 'Check it now' }).click();
  await page.getByText('This service does not respond, so its check cannot be loaded.').waitFor();
  await expectAccessible(page);
});

/** Shortens the patience with other sites, so that it passes at once. */
const HASTE = `const { timeout } = AbortSignal;
window.patience = [];
AbortSignal.timeout = (ms) => { window.patience.push(ms); return timeout.call(AbortSignal, ms > 8000 ? ms : 300); };`;

it('the proof check ends after 8 seconds when its sources never respond', async () => {
  const found = await checked(async (page) => {
    await page.addInitScript(HASTE);
    await page.route(foreign, () => undefined);
  });
  expect(found.amber).toEqual(['reserve', 'supply', 'minting', 'freshness']);
  const waits: number[] = (await visited?.page.evaluate('window.patience')) as number[];
  const [explorers, nodes] = [waits.filter((ms) => ms === 8_000), waits.filter((ms) => ms === 4_000)];
  // Supply and mint keys are read at each node.
  expect([explorers.length, nodes.length]).toEqual([2, 4]);
});

/** A new service signs its first proof at the first request for it; the archive has it a moment later. */
async function firstProof(): Promise<void> {
  const read = async (path: string): Promise<Json> =>
    (await (await fetch(new URL(path, siteUrl))).json()) as Json;
  await read('/api/proof');
  for (;;) {
    const { proofs } = await read('/api/proof/history?limit=1');
    if (Array.isArray(proofs) && proofs.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

it('a link to the signed message unfolds its text, which is folded by default', async () => {
  await firstProof();
  visited = await visit('/reserves');
  const { page } = visited;
  const text = page.getByText('The exact message.');
  expect(await text.isVisible()).toBe(false);
  await page.getByRole('link', { name: 'signed', exact: true }).click();
  await text.waitFor();
});

it('the page checks the chain of all proofs, and any single archived proof', async () => {
  await firstProof();
  visited = await visit('/reserves');
  const { page } = visited;
  await page.getByText('Archive of proofs').click();
  await page.getByRole('button', { name: 'Check the chain of all proofs' }).click();
  await page.getByText(/The only proof is intact|proofs form one chain/).waitFor();
  await page.getByRole('button', { name: 'Keep a copy' }).waitFor();
  await page
    .getByRole('button', { name: /^Check the proof of/ })
    .first()
    .click();
  await page.getByText('Bitcoin and Solana keys signed it').waitFor();
  await expectAccessible(page);
  expectNothingWrong(visited);
});

it.each(['/', '/docs'])(
  'a red bar on top of %s shows by how many sats the supply exceeds the reserve',
  async (path) => {
    const alter = (summary: Json): Json => ({
      ...summary,
      coverage: {
        ...short(summary.coverage),
        ...{ reserveSatoshis: '4999', supplySatoshis: '5000', gapSatoshis: '-1' },
      },
    });
    visited = await visit(path, {}, async (page) => {
      await page.route('**/api/arbitrage/summary', altering(alter));
      // Pages with first figures read the next ones together with others.
      await page.route('**/read?**', async (route) => {
        const response = await route.fetch();
        const parts = (await response.json()) as { readonly body: string }[];
        const altered = parts.map((part) =>
          part.body.includes('"coverage"')
            ? { ...part, body: JSON.stringify(alter(JSON.parse(part.body) as Json)) }
            : part,
        );
        await route.fulfill({ response, json: altered });
      });
    });
    await visited.page.locator('.shortfall').waitFor();
    expect(await visited.page.locator('.shortfall').innerText()).toContain(
      'The ABSR supply exceeds the reserve by 1 sat.',
    );
    // The bar is the same on every page, and pages.test.ts looks at each page itself.
    if (path === '/') await expectAccessible(visited.page);
  },
);
