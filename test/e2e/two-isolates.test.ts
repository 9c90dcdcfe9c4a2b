/**
 * The effect of each own act in every read, on two isolates over one D1 and one KV. No cron runs after the first reads,
 * and each isolate repeats what KV showed it for 60 s, so KV never shows an effect.
 * @module-tag deep
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createApi } from '../../src/mcp/api-client.ts';
import { callTool } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const SATS = 1_234_567n;
/** Longest time between the public status of an act and the first read that must show it. */
const SHOWN_MS = 2_000;
const LOOK_MS = 100;
const GIVEN_UP_MS = 20_000;

const world = useWorld({
  ...{ cron: false, blockMs: 0, settleDelayMs: 200 },
  ...{ reserveSats: SATS, hasSecondIsolate: true },
});
const swaps = lazy(() => createSwapCaller(world));
const tokens = lazy(() => createTokenCaller(world));
const stage = lazy(() => createAsryStage(world));

/** A path, or a tool with its arguments, and the text that shows the act. */
type Read = readonly [read: string, shows: unknown];

let asked = 0;
/** Each request comes from a network of its own, since reads of one are limited. */
const headersOf = () => ({ 'cf-connecting-ip': `10.${++asked % 250}.${Math.floor(asked / 250) % 250}.7` });

/** The answer of one isolate, without the breaks in long numbers. */
async function textOf(isolate: string, read: string): Promise<string> {
  const ask = (path: string, init?: RequestInit) =>
    fetch(new URL(path, isolate), { ...init, headers: { ...init?.headers, ...headersOf() } });
  const text = async () => {
    if (read.startsWith('/')) return (await ask(read)).text();
    const [name, given = '{}'] = read.split(/ (?=\{)/);
    const tool = TOOLS.find((each) => each.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const through = (input: string | URL | Request, init?: RequestInit) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return ask(pathname + search, init);
    };
    const api = createApi({ origin: isolate, unreachableRepair: '', fetch: through });
    const recent = { find: () => undefined, keep: () => undefined };
    return JSON.stringify(
      await callTool(tool, JSON.parse(given), { api, recent, verifyProof: async () => ({}) }),
    );
  };
  return (await text()).replace(/(\d),(?=\d)/g, '$1');
}

/** The mark of an older value: in JSON, on a page and on the badge. */
const MARKED = /"stale":true|class="mark warn"|\(as of/;

const isolates = () => [world.worker.url(), world.worker.secondUrl()].map(String);

/** Seconds until each read shows the act in both isolates, and the reads that were wrong after the allowed time. */
async function watch(act: string, reads: readonly Read[]) {
  const ended = Date.now();
  const wrong = new Set<string>();
  const rows = await Promise.all(
    reads.map(async ([read, shows]) => {
      const seconds = isolates().map(async (isolate, at) => {
        for (;;) {
          const asked = Date.now() - ended;
          const text = await textOf(isolate, read);
          if (text.includes(String(shows))) return (Date.now() - ended) / 1_000;
          // An older value that says so is right: a slow machine may read its sources late.
          if (asked >= SHOWN_MS && !MARKED.test(text)) wrong.add(`${read} of isolate ${at + 1}`);
          if (asked > GIVEN_UP_MS) return null;
          await sleep(LOOK_MS);
        }
      });
      return [read, ...(await Promise.all(seconds))];
    }),
  );
  console.log([`${act}: seconds in each isolate`, ...rows.map((row) => row.join(' | '))].join('\n'));
  return [...wrong];
}

/** Each isolate holds a value of each read before the act. */
async function know(reads: readonly string[], shows?: unknown): Promise<void> {
  for (const isolate of isolates())
    for (const read of reads) {
      const text = await textOf(isolate, read);
      if (shows !== undefined) expect([read, text.includes(String(shows))]).toEqual([read, false]);
    }
}

const rowsOf = (sql: string) => world.worker.query(sql) as Promise<readonly unknown[]>;
const FIGURES = ['/api/arbitrage/summary', '/api/badge/reserve.svg', '/', '/reserves'];

it('a mint shows in every read of both isolates', async () => {
  await world.control.sendBitcoin(world.reserve.bitcoin, 50_000n);
  await world.control.mine(2);
  const absr = world.mints.absr;
  const reads = [
    ...FIGURES,
    ...['/api/arbitrage/transactions', `/api/tokens/${absr}`, `/token/${absr}`, `token_get {"id":"${absr}"}`],
  ];
  await know(reads, SATS);
  await world.control.cron('5 0 * * *');
  const mint = "SELECT 1 FROM operations WHERE kind = 'absr' AND status = 'finished'";
  await until('the mint', async () => (await rowsOf(mint)).length > 0 || undefined);
  expect(
    await watch(
      'mint',
      reads.map((read): Read => [read, SATS]),
    ),
  ).toEqual([]);
});

it('a swap shows in every read of both isolates', async () => {
  const figures = [...FIGURES, '/api/reserves', 'get_reserves'];
  const others = [
    '/api/transactions/bitcoin',
    '/api/transactions/solana',
    '/api/swap/min',
    'swap_min',
    '/api/status',
    '/status',
    'service_status',
  ];
  await know([...figures, ...others, '/api/exchanges/transactions']);
  const { body } = await swaps.create(0.5);
  const id = String(body.id);
  const miner = setInterval(() => void world.control.mine(1), 100);
  const end = await swaps.settled(id);
  clearInterval(miner);
  const room = (await swaps.lamports()).toString();
  const shown: Read[] = [
    ...figures.map((read): Read => [read, swaps.sats()]),
    ['/api/reserves', room],
    ['/api/transactions/bitcoin', end.txId],
    ['/api/transactions/solana', id],
    ['/api/swap/min', room],
    ['swap_min', room],
    ['/api/exchanges/transactions', end.txId],
    ...['/api/status', '/status', 'service_status'].map((read): Read => [read, id]),
    [`/api/swap/status/${id}`, end.txId],
    [`swap_status {"id":"${id}"}`, end.txId],
  ];
  expect(await watch('swap', shown)).toEqual([]);
});

it('a payment and its token show in every read of both isolates', async () => {
  const lists = ['/api/tokens', '/api/listings/search?q=MCAT', 'token_search {"query":"MCAT"}', '/tokens'];
  await know([...lists, '/api/reserves', '/api/swap/min']);
  const invoice = await tokens.invoice();
  const order = `/api/invoices/${invoice.invoice_id}`;
  await know([order]);
  await tokens.pay(invoice);
  const read = () => tokens.read(invoice.invoice_id);
  const { body } = await tokens.until(read, (answer) => answer.body.status === 'completed');
  const mint = String(body.mint_address);
  const lamports = (await swaps.lamports()).toString();
  const shown: Read[] = [
    ...[...lists, order, `/api/tokens/${mint}`, `/token/${mint}`].map((each): Read => [each, mint]),
    [`token_get {"id":"${mint}"}`, mint],
    [`token_invoice_status {"invoice_id":"${invoice.invoice_id}"}`, mint],
    ['/api/reserves', lamports],
    ['/api/swap/min', lamports],
  ];
  expect(await watch('payment and token', shown)).toEqual([]);
});

it('a claimed deposit shows in every read of both isolates', async () => {
  const user = await stage.user();
  await know(['/api/asry/epoch', '/asry', 'asry_epoch', '/api/reserves']);
  const signature = await stage.deposit(user, 100n);
  const claimed = await stage.claim(signature);
  const reward = claimed.body.reward.asryAtomic;
  await stage.paid(signature);
  const payout = stage.payoutsOf(signature)[0]?.signature;
  const shown: Read[] = [
    ['/api/asry/epoch', `"paidAtomic":"${reward}"`],
    ['asry_epoch', reward],
    [`/api/asry/claims/${signature}`, payout],
    [`asry_claim_status {"depositTxSignature":"${signature}"}`, payout],
    ['/api/transactions/solana', payout],
    ['/api/reserves', (await swaps.lamports()).toString()],
  ];
  expect(await watch('deposit', shown)).toEqual([]);
});

it('a page view shows in every read of both isolates', async () => {
  const stats = '/api/analytics/stats';
  await know([stats]);
  const path = '/viewed-page';
  const view = { method: 'POST', headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' } };
  await world.fetch('/api/analytics/pageview', { ...view, body: JSON.stringify({ path }) });
  expect(await watch('page view', [[stats, path]])).toEqual([]);
});
