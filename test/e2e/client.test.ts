import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payInvoice } from '../../docs/examples/pay-invoice.ts';
import { type Client, createClient } from '../../packages/client/src/index.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let sluice: Client;
/** Requests whose answer is dropped, as a broken connection does it. */
let lostAnswers = 0;
const keys: (string | null)[] = [];

beforeAll(async () => {
  world = await startWorld();
  sluice = createClient({
    baseUrl: world.url,
    async fetch(url, init) {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      const response = await fetch(url, init);
      if (lostAnswers === 0) return response;
      lostAnswers -= 1;
      throw new TypeError('connection reset');
    },
  });
});
afterAll(() => world.stop());

it('swaps once when the answer is lost, and waits until the swap is finished', async () => {
  const rehearsal = await sluice.call('createSwap', { amountSol: '0.3', dry_run: true });
  expect(rehearsal).toMatchObject({ ok: true, value: { initiated: false } });
  lostAnswers = 1;
  keys.length = 0;
  const lost = await sluice.call('createSwap', { amountSol: '0.3' });
  expect(lost).toMatchObject({ ok: false, failure: { kind: 'unreachable', reason: 'network' } });
  const created = await sluice.call('createSwap', { amountSol: '0.3' });
  if (!created.ok) throw new Error(JSON.stringify(created.failure));
  expect(created.replayed).toBe(true);
  expect(keys).toEqual([lost.idempotencyKey, lost.idempotencyKey]);
  const id = created.value.id ?? '';
  const ended = await sluice.until('getSwapStatus', { id }, ({ status }) => status !== 'waiting');
  expect(ended).toMatchObject({ ok: true, value: { id, status: 'finished', amountLamports: '300000000' } });
});

it('orders a token, and waits until its payment has bought it', async () => {
  const [user] = world.users;
  if (!user) throw new Error('no user');
  const order = { name: 'Client Cat', symbol: 'CCAT', decimals: 6, supply: '5000000' };
  const invoice = await sluice.call('createInvoice', { ...order, creator_address: user.address });
  if (!invoice.ok) throw new Error(JSON.stringify(invoice.failure));
  await payInvoice(invoice.value.solana_pay_url, world.endpoints.rpc1, base58.decode(user.secretKey));
  const id = invoice.value.invoice_id;
  const paid = await sluice.until('getInvoice', { id }, ({ status }) => status === 'completed');
  if (!paid.ok) throw new Error(JSON.stringify(paid.failure));
  const found = await sluice.call('searchTokens', { q: 'client cat' });
  expect(found).toMatchObject({ ok: true, value: { tokens: [{ id: paid.value.token_id, symbol: 'CCAT' }] } });
});

it('opens an exchange and reads its state', async () => {
  const order = { from: 'sol', to: 'btc', amount: '0.5', payoutAddress: world.reserve.bitcoin };
  const created = await sluice.call('createExchange', order);
  if (!created.ok) throw new Error(JSON.stringify(created.failure));
  const { id } = created.value;
  expect(await sluice.call('getExchangeStatus', { id })).toMatchObject({
    ok: true,
    value: { id, status: 'waiting' },
  });
});

it('returns refusals as values with their code', async () => {
  expect(await sluice.call('createSwap', { amountSol: 999 })).toMatchObject({
    ok: false,
    failure: { kind: 'refused', status: 400, error_code: 'AMOUNT_TOO_LARGE', action: 'fix_request' },
  });
  const unknown = '1'.repeat(64);
  const limit = { timeoutMs: 30_000 };
  expect(await sluice.until('getSwapStatus', { id: unknown }, () => true, limit)).toMatchObject({
    ok: false,
    failure: { kind: 'refused', status: 404, error_code: 'NOT_FOUND' },
  });
});

it('reads every kind of document: JSON, text, and an answer behind a redirect', async () => {
  expect(await sluice.call('getReserves', {})).toMatchObject({
    ok: true,
    value: { bitcoin: { address: world.reserve.bitcoin } },
  });
  expect(await sluice.call('getLlmsText', {})).toMatchObject({
    ok: true,
    value: expect.stringMatching(/Sluice/),
  });
  expect(await sluice.call('getDefaultPool', {})).toMatchObject({
    ok: true,
    value: { data: { price: expect.any(String) } },
  });
});
