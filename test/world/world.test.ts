import { existsSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ blockMs: 0, cron: false });
});
afterEach(() => world.faults.clear());
afterAll(() => world.stop());

const control = async (call: string, body?: unknown) => {
  const [method, path] = call.split(' ');
  const response = await fetch(`${world.controlUrl}${path}`, {
    method: method ?? 'GET',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
};

test('the control endpoint changes the state of the world', async () => {
  const info = await control('GET /info');
  expect(info).toMatchObject({ url: world.url, reserve: world.reserve });
  expect(JSON.stringify(info)).not.toContain(world.bindings.SOLANA_PRIVATE_KEY);
  const [user] = world.users;
  if (user === undefined) throw new Error('no user');
  const before = world.solana.ledger.transactionsOf(world.treasury).length;
  await control('POST /transfer', { to: world.treasury, amount: '0.25', memo: 'hello' });
  expect(world.solana.ledger.transactionsOf(world.treasury)).toHaveLength(before + 1);
  expect(world.solana.ledger.transactionsOf(user.address)[0]?.memo).toBe('[5] hello');
  const height = world.bitcoin.height();
  expect(await control('POST /bitcoin/mine', { blocks: 2 })).toEqual({ height: height + 2 });
  expect(await control('POST /prices', { SOL: '123.45', venue: 'kraken' })).toEqual({
    BTC: '80000',
    SOL: '123.45',
  });
  const { clock } = world.solana.ledger;
  await control('POST /solana/finality', { held: true });
  const final = clock.slot('finalized');
  await clock.reached(clock.slot('processed') + clock.finality + 1);
  expect(clock.slot('finalized')).toBe(final);
  await control('POST /solana/finality', { held: false });
  expect(clock.slot('finalized')).toBeGreaterThan(final);
  expect(
    await control('POST /faucet', { address: user.address, asset: 'usdc', amount: '0.0000001' }),
  ).toEqual({
    error: 'amount: up to 6 decimals',
  });
});

test('two worlds run together, and a stopped one leaves nothing behind', {
  tags: ['deep'],
}, async () => {
  const other = await startWorld({ blockMs: 0, cron: false });
  expect(other.reserve.solana).not.toBe(world.reserve.solana);
  expect((await other.fetch('/api/health')).status).toBe(200);
  expect((await world.fetch('/api/health')).status).toBe(200);
  const { folder } = other;
  expect(existsSync(folder)).toBe(true);
  await other.stop();
  expect(existsSync(folder)).toBe(false);
  for (const url of [other.url, other.controlUrl, other.endpoints.rpc1, other.endpoints.oneclick])
    await expect(fetch(url)).rejects.toThrow('fetch failed');
});
