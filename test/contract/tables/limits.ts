import { expect } from 'vitest';
import { type Body, createSwapCaller, until } from '../../e2e/swap-caller.ts';
import { expectError, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const MINIMUM = 'GET /api/swap/min';
const ESTIMATE = 'GET /api/swap/estimate';
const CREATE = 'POST /api/swap/create';
const FEED = 'GET /api/nostr/feed';
const POSTS = 'GET /api/nostr/posts';
const BITCOIN = 'GET /api/transactions/bitcoin';
const INVOICE = 'POST /api/invoices';
const CLAIM = 'POST /api/asry/claim-from-deposit';

/** The page size of a feed: its default, its ends, and what lies beyond them. */
async function expectPageSizes(
  contract: Contract,
  call: string,
  standard: number,
  most: number,
): Promise<void> {
  expect((await contract.ask(call)).body.limit).toBe(standard);
  for (const limit of [1, most]) {
    const { status, body } = await contract.ask(`${call}?limit=${limit}`);
    expect([status, body.limit]).toEqual([200, limit]);
    expect((body.posts as readonly Body[]).length).toBeLessThanOrEqual(limit);
  }
  for (const limit of [0, most + 1, -1]) expectError(await contract.ask(`${call}?limit=${limit}`), 400);
}

export const limits: Table = {
  title: 'Limits',
  key: [0, 1],
  rows: [
    row('amountSol minimum | swap estimate and swap create', async (contract) => {
      const below = '0.000999999';
      expectError(await contract.ask(`${ESTIMATE}?amountSol=${below}`), 400, 'INVALID_INPUT');
      expectError(await contract.ask(CREATE, { body: { amountSol: below } }), 400, 'INVALID_INPUT');
      const { minAmountSol } = contract.answer(MINIMUM);
      const least = await contract.ask(`${ESTIMATE}?amountSol=${minAmountSol}`, { ip: '10.4.0.1' });
      expect([least.status, least.body.creatable]).toEqual([200, true]);
      const less = { amountSol: 0.001 };
      expectError(await contract.ask(CREATE, { body: less, ip: '10.4.0.1' }), 400, 'AMOUNT_TOO_SMALL');
    }),
    row('Swap funding | swap create', async (contract) => {
      const { poor: world } = contract;
      const answer = await contract.ask(CREATE, { world, body: { amountSol: 0.15 } });
      expectError(answer, 400, 'INSUFFICIENT_BALANCE');
      // This reserve holds only its floor and the operating float.
      expect(answer.body.details).toEqual({ availableLamports: '0' });
    }),
    row('limit | nostr feed', (contract) => expectPageSizes(contract, FEED, 10, 100)),
    row('limit | nostr posts', (contract) => expectPageSizes(contract, POSTS, 100, 500)),
    row('Bitcoin transaction list | GET /api/transactions/bitcoin', async (contract) => {
      const { poor: world } = contract;
      for (let sent = 0; sent < 105; sent += 1)
        await world.control.sendBitcoin(world.reserve.bitcoin, 1_000n);
      await world.control.mine(1);
      const { body } = await contract.ask(BITCOIN, { world });
      expect(body.transactions).toHaveLength(100);
    }),
    row('decimals | token invoice', async (contract) => {
      const { name, symbol, creator_address } = contract.sent(INVOICE);
      const create = async (change: Body, ip: string) =>
        contract.ask(INVOICE, { body: { name, symbol, creator_address, ...change }, ip });
      expect((await create({}, '10.4.0.2')).body.decimals).toBe(9);
      expect((await create({ decimals: 0 }, '10.4.0.3')).body.decimals).toBe(0);
      for (const decimals of [-1, 10])
        expectError(await create({ decimals }, '10.4.0.4'), 400, 'INVALID_INPUT');
    }),
    row('supply default | token invoice', async (contract) => {
      const { name, symbol, creator_address } = contract.sent(INVOICE);
      const { body } = await contract.ask(INVOICE, {
        body: { name, symbol, creator_address },
        ip: '10.4.0.5',
      });
      expect(body.supply).toBe('0');
    }),
    row('Receive fee | ASRY claim', (contract) => {
      const { feeBps, feeAtomic, receive } = contract.answer(CLAIM);
      const credited = BigInt(String((receive as Body).creditedAtomic));
      expect(feeBps).toBe(5);
      expect(BigInt(String(feeAtomic))).toBe((credited * 5n + 9_999n) / 10_000n);
    }),
    row('Routing provider rate limit | upstream quote calls behind the swap', async (contract) => {
      const { poor: world } = contract;
      world.resetStats();
      const answers = [];
      for (let milli = 300; milli < 440; milli += 1)
        answers.push(await contract.ask(`${ESTIMATE}?amountSol=0.${milli}`, { world }));
      const asked = world.stats().oneclick?.byLabel['POST /v0/quote'] ?? 0;
      // One client gets an eighth of the quotes that the others left.
      expect(asked).toBeLessThanOrEqual(15);
      // The reserve of this world covers none of these amounts, which a caller without quotes is told as well.
      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, at) => (at < asked ? 200 : 400)));
    }),
    row('BTC settlement time | reserve swap', async ({ world }) => {
      const caller = createSwapCaller(world);
      world.faults.set('oneclick', { kind: 'settle', mode: 'never', times: 1 });
      const { body } = await caller.create(0.3, { ip: '10.4.0.6' });
      const asked = () => world.stats().oneclick?.byLabel['GET /v0/status'] ?? 0;
      const before = asked();
      await until('the bridge was asked three times', () => asked() - before >= 3 || undefined);
      const { body: status } = await caller.status(String(body.id));
      expect([status.status, status.detail, status.btcSats]).toEqual(['waiting', 'settling', null]);
      expect(status.nextPollSeconds).toBeGreaterThan(0);
    }),
  ],
};
