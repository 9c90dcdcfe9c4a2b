/** Every parser accepts every recorded production response. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failureReason } from '../../src/core/errors.ts';
import { ChangeNow } from '../../src/providers/changenow.ts';
import type { Fetch } from '../../src/providers/http.ts';
import { createNearIntents } from '../../src/providers/near-intents.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/recorded');
const recorded = (path: string): string => readFileSync(join(FOLDER, path), 'utf8');
const answering =
  (path: string, status = 200): Fetch =>
  async () =>
    new Response(recorded(path), { status });
const rpcResult =
  (path: string): Fetch =>
  async () =>
    new Response(`{"jsonrpc":"2.0","id":1,"result":${recorded(path)}}`);

const baseUrl = 'https://upstream.test';
const oneClickOf = (fetch: Fetch) => createNearIntents({ baseUrl, fetch });
const changeNowOf = (fetch: Fetch) => new ChangeNow({ baseUrl, apiKey: 'k', fetch });
const nodeOf = (fetch: Fetch) => {
  const [node] = createSolanaRpc({ urls: [baseUrl], fetch }).nodes;
  if (!node) throw new Error('no node');
  return node;
};
const PAIR = { from: { ticker: 'btc', network: 'btc' }, to: { ticker: 'xmr', network: 'xmr' } };
const ORDER = { ...PAIR, amount: 10_000_000_000_000_000n, payoutAddress: 'a' };
const REQUEST = {
  ...{ dry: true, originAsset: 'a', destinationAsset: 'b', amount: 1n, slippageBps: 50, refundTo: 'c' },
  ...{ recipient: 'd', deadline: 'e' },
};
const reasonOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'read', failureReason);

type Read = (path: string) => Promise<unknown>;
const quoted: Read = (path) => reasonOf(oneClickOf(answering(path, 201)).quote(REQUEST));
const stated: Read = (path) => reasonOf(oneClickOf(answering(path)).status('d'));
const changeNow = (read: (provider: ChangeNow) => Promise<unknown>, status?: number): Read => {
  return (path) => read(changeNowOf(answering(path, status)));
};
const invalid = expect.objectContaining({ reason: 'request_invalid' });
const failed = expect.objectContaining({ failed: true, fee: 5_003n, slot: 449_391_489n });
const forecast = { toAmount: 1_783_572_800_000_000_000n, transactionSpeedForecast: '10-60' };
const estimated = { ok: true, value: forecast };
const range = { minAmount: 120_500_000_000_000n, maxAmount: null };
const tooSmall = { ok: false, code: 'deposit_too_small' };
const [created, found] = [{ outcome: 'created' }, { ok: true }].map((part) => expect.objectContaining(part));

/** The result and the parser of each recorded body. A body without an entry fails the test below. */
const PARSED: Readonly<Record<string, readonly [expected: unknown, read: Read]>> = {
  'one-click/quote-btc-base-usdc.json': ['read', quoted],
  'one-click/quote-dry-sol-zec.json': ['read', quoted],
  'one-click/quote-usdc-sol-zec.json': ['read', quoted],
  'one-click/status-pending-btc-base-usdc.json': ['read', stated],
  'one-click/status-pending-usdc-zec.json': ['read', stated],
  'one-click/status-refunded-zec-usdc.json': ['read', stated],
  'one-click/status-success-zec-usdc.json': ['read', stated],
  'one-click/status-success-xlm-usdc.json': ['read', stated],
  'one-click/submit-processing-xlm-usdc.json': ['read', stated],
  'one-click/quote-400-invalid.json': [invalid, (path) => oneClickOf(answering(path, 400)).quote(REQUEST)],
  // Our code does not request the token list: the asset ids are pinned.
  'one-click/tokens-btc-sol.json': ['unread', async () => 'unread'],
  'changenow/range.json': [{ ok: true, value: range }, changeNow((it) => it.range(PAIR))],
  'changenow/estimated-amount.json': [estimated, changeNow((it) => it.estimate(PAIR, ORDER.amount))],
  'changenow/estimated-amount-below-min.json': [tooSmall, changeNow((it) => it.estimate(PAIR, 1n), 400)],
  'changenow/create-exchange.json': [created, changeNow((it) => it.create(ORDER))],
  'changenow/by-id.json': [found, changeNow((it) => it.status('c2036055d1f776'))],
  'solana/transaction-v1-failed.json': [
    failed,
    (path) => nodeOf(rpcResult(path)).transaction('s', 'finalized'),
  ],
  'solana/error-version-1-unsupported.json': [
    'rpc_-32015',
    (path) => reasonOf(nodeOf(answering(path)).transaction('s', 'finalized')),
  ],
};

it('every recorded body has an expected result of its parser', () => {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const bodies = names.filter((name) => name.endsWith('.json')).map((name) => name.replaceAll('\\', '/'));
  expect(bodies.sort()).toEqual(Object.keys(PARSED).sort());
});

it.each(Object.entries(PARSED))('the parsers read the recorded body %s', async (path, [expected, read]) => {
  expect(await read(path)).toEqual(expected);
});
