/**
 * docs/use/api-guide.md, followed command by command in one shell on the world. A step of the reader between two
 * commands, such as a payment, runs when its result is assigned to a variable.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { blocksOf, commandsOf } from '../docs/markdown.ts';
import { useFolder } from '../kit/use-folder.ts';
import { useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createTokenCaller } from './token-caller.ts';

const run = promisify(execFile);
type Json = Record<string, unknown>;

const world = useWorld({ cron: false });
const folder = useFolder('sluice-guide-');

/** Commands of a section, in order. */
const commandsUnder = (heading: string): string[] => {
  const page = readFileSync('docs/use/api-guide.md', 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith(heading));
  return blocksOf(heading, section ?? '')
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => commandsOf(text));
};

/**
 * Runs a section. Every command must end with status 0, and every `curl` must return a response without an
 * error code.
 * @param placeholders by variable, the function that creates the reader's value for `the-…`
 */
async function follow(heading: string, placeholders: Record<string, () => Promise<string>> = {}) {
  const answers: { readonly command: string; readonly text: string }[] = [];
  for (const command of commandsUnder(heading)) {
    const [, variable] = /^(\w+)=the-/.exec(command) ?? [];
    const value = variable === undefined ? undefined : await placeholders[variable]?.();
    const line = variable === undefined ? command : `${variable}=${value}`;
    const file = / -o ([\w.]+)/.exec(command)?.[1];
    const { stdout } = await run(
      'bash',
      ['-ec', `set -a; [ ! -f state ] || . ./state; ${line}\nexport -p > state`],
      { cwd: folder, env: { ...process.env, API: world.url } },
    );
    if (!command.startsWith('curl')) continue;
    const text = file ? readFileSync(join(folder, file), 'utf8') : stdout;
    expect([command, text]).toEqual([command, expect.not.stringContaining('error_code')]);
    answers.push({ command, text });
  }
  return (part: string): Json => {
    const found = answers.find(({ command }) => command.includes(part));
    return JSON.parse(found?.text ?? 'null') as Json;
  };
}

const saved = (file: string): Json => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json;

it("the guide's caller creates a token that is paid by its Solana Pay URL", async () => {
  const caller = createTokenCaller(world);
  // The wait of the guide ends when the payment is seen, so the wallet pays while the command waits.
  const paid = caller
    .until(
      async () => {
        try {
          return saved('invoice.json');
        } catch {
          return undefined;
        }
      },
      (invoice) => invoice?.solana_pay_url !== undefined,
    )
    .then((invoice) => caller.pay(invoice ?? {}));
  const answer = await follow('Create a token', { SIGNATURE: () => paid });
  expect(answer('Prefer')).toMatchObject({ name: 'Moon Cat', invoice_id: saved('invoice.json').invoice_id });
  expect(answer('invoices/confirm')).toMatchObject({ ok: true, status: 'completed' });
  expect(answer('api/tokens/')).toMatchObject({ id: saved('token.json').token_id, symbol: 'MCAT' });
});

it("the guide's caller lists a token made elsewhere", async () => {
  const caller = createTokenCaller(world);
  const answer = await follow('List a token', {
    MINT: () => caller.foreignMint('token-2022', 'Foreign Coin', 'FRGN'),
    SIGNATURE: () => caller.pay(saved('listing.json')),
    NAME: async () => 'Foreign',
  });
  expect(answer('listings/confirm')).toMatchObject({ ok: true, listing: { status: 'confirmed' } });
  expect(answer('listings/search')).toMatchObject({ tokens: [{ symbol: 'FRGN' }], next_cursor: null });
});

it("the guide's caller claims ASRY for a payment", async () => {
  const stage = createAsryStage(world);
  const user = await stage.user();
  const answer = await follow('Claim ASRY', { PAYMENT: () => stage.deposit(user, 10n) });
  expect(answer('explorer/treasury')).toEqual({ treasury_address: world.treasury });
  expect(answer('skipReward')).toMatchObject({ reward: { status: 'skipped' } });
  expect(answer('asry/claims')).toMatchObject({ senderPubkey: user.address, payouts: [{ part: 1 }] });
});

it("the guide's caller opens an exchange and reads its state", async () => {
  const answer = await follow('Exchange currencies');
  expect(answer('exchange/estimate')).toMatchObject({ amount: 0.8 });
  expect(answer('exchange/create')).toMatchObject({ payinCurrency: 'sol', status: 'waiting' });
  expect(answer('exchange/status')).toMatchObject({ id: saved('exchange.json').id });
});

it("the guide's caller counts a page view", async () => {
  const answer = await follow('Count a page view');
  expect(answer('pageview')).toBe(204);
  expect(answer('stats')).toMatchObject({ totals: { pageviews: 1 } });
});
