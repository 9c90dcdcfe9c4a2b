/** Clients written from the contract alone, without other knowledge of the service. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { type Body, createTokenCaller } from './token-caller.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false });
});
afterAll(() => world?.stop());

const creator = (): string => String(world.users[0]?.address);

it('accepts a token order from a form that sends null for its empty fields', async () => {
  const { call } = createTokenCaller(world);
  const { status, body } = await call('/api/invoices', {
    name: 'Empty Fields',
    symbol: 'EMPTY',
    decimals: 6,
    supply: '1000000',
    creator_address: creator(),
    description: null,
    image: null,
    revoke_mint_authority: null,
    revoke_freeze_authority: null,
    revoke_update_authority: null,
  });
  expect([status, body]).toMatchObject([200, { status: 'pending', fee_sol: expect.any(Number) }]);
  expect((await call(`/api/invoices/${body.invoice_id}`)).body).toMatchObject({
    description: '',
    image: null,
    revoke_mint_authority: false,
  });
});

it('a script that pays and confirms once gets its token, and a search without a query lists it', async () => {
  const { call, land, payRequest, transfer, user } = createTokenCaller(world);
  const { body } = await call('/api/invoices', {
    name: 'Paid Once',
    symbol: 'ONCE',
    decimals: 0,
    supply: '21',
    creator_address: creator(),
  });
  const { to, lamports, references } = payRequest(body.solana_pay_url);
  const tx_signature = await land(user(), transfer(user(), to, lamports, references));
  const confirmed = await call('/api/invoices/confirm', { invoice_id: body.invoice_id, tx_signature });
  expect([confirmed.status, confirmed.body]).toMatchObject([200, { status: 'completed' }]);
  expect(confirmed.body.mint_address).toEqual(expect.any(String));

  const tab = await call('/api/listings/search');
  expect(tab.status).toBe(200);
  const [newest] = Object.values(tab.body).find((value): value is Body[] => Array.isArray(value)) ?? [];
  expect(newest).toMatchObject({ name: 'Paid Once', symbol: 'ONCE' });
});

it('a floating point sum such as 0.1 + 0.2 SOL swaps the intended amount, to the lamport', async () => {
  const { call } = createTokenCaller(world);
  const amountSol = 0.1 + 0.2;
  expect(String(amountSol)).toBe('0.30000000000000004');
  expect((await call(`/api/swap/estimate?amountSol=${amountSol}`)).status).toBe(200);
  const dry = await call('/api/swap/create', { amountSol, dry_run: true });
  expect([dry.status, dry.body]).toMatchObject([200, { dry_run: true }]);
  expect(JSON.stringify(dry.body)).toContain('300000000');
  const created = await call('/api/swap/create', { amountSol });
  expect([created.status, created.body]).toMatchObject([200, { initiated: true, status: 'waiting' }]);
  expect(JSON.stringify(created.body)).not.toContain('300000001');
});
