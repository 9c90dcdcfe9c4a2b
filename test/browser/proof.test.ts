import type { Page, Route } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { expectNothingWrong, picture, siteUrl, useBrowser, type Visit, visit } from './visit.ts';

useBrowser();

let visited: Visit | undefined;
afterEach(() => visited?.close());

const CHECKS = ['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'freshness'];

/** Which lines are green after the button was pressed once. */
async function verified(prepare?: (page: Page) => Promise<unknown>): Promise<string[]> {
  visited = await visit('/reserves', {}, prepare);
  const { page } = visited;
  await page.getByRole('button', { name: 'Check with public explorers' }).click();
  await page.locator('.verify [role="status"] .notice').waitFor();
  const green: string[] = [];
  for (const name of CHECKS)
    if (await page.locator(`.checks [data-check="${name}"].ok`).count()) green.push(name);
  return green;
}

type Json = Record<string, unknown>;

/** The real answer, altered on its way to the page. */
const altering =
  (alter: (answer: Json) => unknown) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch();
    await route.fulfill({ response, json: alter(await response.json()) });
  };

const otherDigit = (digit: string): string => (digit === '1' ? '2' : '1');
/** One character of a base58 or base64 text, in its middle. */
function oneByte(text: unknown): string {
  const signature = String(text);
  const at = Math.floor(signature.length / 2);
  return signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1);
}
const proofWith = (alter: (proof: Json) => unknown) => (page: Page) =>
  page.route('**/api/proof', altering(alter));

it("all five lines are green for the service's proof, and only the named sources are contacted", async () => {
  const sources = (await (await fetch(new URL('/verify-sources.json', siteUrl))).json()) as {
    explorers: string[];
    rpcUrls: string[];
  };
  expect(await verified()).toEqual(CHECKS);
  expect(await visited?.page.locator('.verify').innerText()).toContain('All five checks pass.');
  if (visited) await picture(visited.page, 'verified');
  const asked = new Set(visited?.foreign.map((url) => new URL(url).origin));
  const named = [...sources.explorers, sources.rpcUrls[0] ?? ''].map((url) => new URL(url).origin);
  expect([...asked].sort()).toEqual(named.sort());
  expect(visited?.complaints).toEqual([]);
});

it('checks nothing, and contacts no other origin, before the button is pressed', async () => {
  visited = await visit('/reserves');
  await visited.page.waitForLoadState('networkidle');
  expect(await visited.page.locator('.checks .open').count()).toBe(CHECKS.length);
  expectNothingWrong(visited);
});

it('one digit more in the message: both signatures are red', async () => {
  const green = await verified(
    proofWith((proof) => ({
      ...proof,
      message: String(proof.message).replace(/(?<=Solana lamports: )\d/, otherDigit),
    })),
  );
  expect(green).toEqual(['reserve', 'supply', 'freshness']);
});

it('a message that is not in the form of a proof is red everywhere', async () => {
  expect(
    await verified(
      proofWith((proof) => ({ ...proof, message: String(proof.message).replace('Service', 'service') })),
    ),
  ).toEqual([]);
});

it('one byte of the Bitcoin signature altered: its line is red', async () => {
  const green = await verified(
    proofWith((proof) => {
      const bitcoin = proof.bitcoin as Json;
      return { ...proof, bitcoin: { ...bitcoin, signature: oneByte(bitcoin.signature) } };
    }),
  );
  expect(green).toEqual(CHECKS.filter((name) => name !== 'bitcoin_signature'));
});

it('one byte of the Solana signature altered: its line is red', async () => {
  const green = await verified(
    proofWith((proof) => {
      const solana = proof.solana as Json;
      return { ...proof, solana: { ...solana, signature: oneByte(solana.signature) } };
    }),
  );
  expect(green).toEqual(CHECKS.filter((name) => name !== 'solana_signature'));
});

it('one sat less at an explorer: the reserve is red', async () => {
  let altered = 0;
  const green = await verified((page) =>
    page.route(/\/api\/address\/[a-z0-9]+$/, (route) => {
      altered += 1;
      if (altered > 1) return route.continue();
      return altering((answer) => {
        const stats = answer.chain_stats as Json;
        return { ...answer, chain_stats: { ...stats, funded_txo_sum: Number(stats.funded_txo_sum) - 1 } };
      })(route);
    }),
  );
  expect(green).not.toContain('reserve');
  expect(green).toContain('bitcoin_signature');
  expect(await visited?.page.locator('[data-check="reserve"]').innerText()).toContain('shows');
});

it('a supply beyond the reserve is red, with both figures', async () => {
  const green = await verified((page) =>
    page.route(
      (url) => url.origin !== siteUrl && url.pathname === '/',
      altering((answer) => {
        const result = answer.result as Json;
        return { ...answer, result: { ...result, value: { amount: '99999999999', decimals: 0 } } };
      }),
    ),
  );
  expect(green).toEqual(CHECKS.filter((name) => name !== 'supply'));
  expect(await visited?.page.locator('[data-check="supply"]').innerText()).toContain('99999999999 atoms');
});

it('an explorer that does not answer is reported', async () => {
  let first = '';
  const green = await verified((page) =>
    page.route(
      (url) => url.origin !== siteUrl && url.pathname.startsWith('/api/'),
      (route) => {
        first ||= new URL(route.request().url()).origin;
        return route.request().url().startsWith(first) ? route.abort() : route.continue();
      },
    ),
  );
  expect(green).toEqual(['bitcoin_signature', 'solana_signature', 'supply']);
  expect(await visited?.page.locator('[data-check="reserve"]').innerText()).toContain('did not answer');
  expect(await visited?.page.locator('.verify').innerText()).toContain('try again first');
});
